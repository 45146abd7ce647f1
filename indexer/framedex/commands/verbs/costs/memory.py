"""`framedex memory`: live memory on the devices, and the lines that allocated it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from framedex.commands.inputs.project_index import note_incomplete_captures
from framedex.commands.inputs.selection import CaptureSelection, capture_option, open_whole_runs, render_heading_line
from framedex.commands.launching.options import machine_size_options
from framedex.commands.output.console import exit_nothing_found, json_option, print_json, print_lines
from framedex.commands.output.documents import build_memory_document
from framedex.commands.output.render_memory import render_memory_lines

_NOTHING_FOUND = (
    "These captures have no device allocations, or their memory is not indexed yet because they are still growing."
)


@click.command()
@capture_option
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N lines; 0: all."
)
@click.option("--all-lines", is_flag=True, help="Show the lines that led to each line.")
@click.option(
    "--plan",
    "script",
    metavar="SCRIPT",
    help="Predict the memory of SCRIPT on a simulated machine; arguments follow after --. Exit status 1: too little.",
)
@machine_size_options
@click.option(
    "--plugin",
    metavar="PLUGIN",
    help="Plan with this TPU compiler, such as `libtpu`, which needs no TPU. Default: XLA's compiler for the CPU.",
)
@json_option
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_obj
def memory(
    index_path: Path | None,
    /,
    selection: CaptureSelection | None,
    limit: int,
    all_lines: bool,
    script: str | None,
    plugin: str | None,
    as_json: bool,
    arguments: tuple[str, ...],
    **machine: Any,
) -> None:
    """Show device memory by line, inside programs too, and its growth.

    The peak includes the temporaries of running programs. The program with the most of them at the peak is opened: the
    lines whose values are alive at its own peak, and changes that would lower it. On the mock TPU the bytes are those
    of its allocator, in blocks of 512. On other plug-ins they are array sizes: transfers give the sizes of copies,
    programs those of results. Buffers of unknown size are counted. The memory of a donated buffer belongs to the line
    that received it. A line whose bytes grow in every iteration of a loop is reported with that growth: a leak, or a
    cache.

    --plan predicts the memory of a program on a machine that you do not have: `framedex memory --plan train.py --device
    v5e:4x4 --hbm 16GiB`. It compiles the program's functions for that machine, but runs none of them. With `--plugin
    libtpu` the temporaries are those of the TPU's own compiler.
    """
    if script is not None:
        from framedex.commands.launching.memory_plan import print_plan

        print_plan(script, arguments, machine, plugin, selection, limit, all_lines=all_lines, as_json=as_json)
        return
    if arguments or plugin or any(machine.values()):
        raise click.UsageError("ARGUMENTS, --device, --devices, --hosts, --hbm and --plugin need --plan SCRIPT.")
    with open_whole_runs(index_path, selection, lambda index: index.captures_with_memory()) as (index, answer):
        found = index.memory(all_lines=all_lines)
    if as_json:
        print_json(build_memory_document(answer, found, limit))
    else:
        note_incomplete_captures(*answer.captures)
        shows_capture = len({device.capture for device in found}) > 1
        print_lines(
            [
                render_heading_line(answer, has_device_times=True),
                *render_memory_lines(found, limit, shows_capture=shows_capture),
            ]
        )
    if not found:
        exit_nothing_found(_NOTHING_FOUND)

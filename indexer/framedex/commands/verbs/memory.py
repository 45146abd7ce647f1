"""`framedex memory`: live memory on the devices, and the lines that allocated it."""

from __future__ import annotations

from pathlib import Path

import click

from framedex.commands.inputs.known import note_what_is_missing
from framedex.commands.inputs.scope import Chosen, capture_option, heading, index_of_whole_runs
from framedex.commands.output.console import json_option, nothing_found, print_json, print_lines
from framedex.commands.output.costs.memory import memory_lines
from framedex.commands.output.documents import memory_document

_NOTHING = "No memory of devices was asked for in these captures, or they are still being followed."


@click.command()
@capture_option
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, help="Show at most N lines; 0: all."
)
@click.option("--all-lines", is_flag=True, help="Show the lines that led to each line.")
@json_option
@click.pass_obj
def memory(index_path: Path | None, chosen: Chosen | None, limit: int, all_lines: bool, as_json: bool) -> None:
    """Show lines that hold device memory, and growth.

    On the mock TPU the bytes are those of its allocator, in blocks of 512. On other plug-ins they are array sizes:
    transfers give the sizes of copies, programs those of results. Buffers of unknown size are counted. The memory of
    a donated buffer belongs to the line that received it. A line whose bytes grow in every round of a loop is
    reported with the growth per round: a leak, or a cache.
    """
    with index_of_whole_runs(index_path, chosen, lambda index: index.captures_with_memory()) as (index, answer):
        found = index.memory(all_lines=all_lines)
    if as_json:
        print_json(memory_document(answer, found, limit))
    else:
        note_what_is_missing(*answer.captures)
        tells_capture = len({device.capture for device in found}) > 1
        print_lines([heading(answer), *memory_lines(found, limit, tells_capture=tells_capture)])
    if not found:
        nothing_found(_NOTHING)

"""`framedex live`: the threads of a process now."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path

import click

from framedex.base.errors import FramedexError
from framedex.commands.inputs.files import working_folder
from framedex.commands.output.console import json_option, print_json, print_lines
from framedex.commands.output.render_live import look_lines
from framedex.live.model import Look, ProcessState

_INTERVAL_S = 1.0
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"  # cursor to the first row, erase the screen and what has scrolled out of it


@click.command()
@click.argument("process", metavar="[PID|CAPTURE]", required=False)
@click.option("--once", is_flag=True, help="Print once and exit. Default if stdout is not a terminal.")
@click.option("--all-frames", is_flag=True, help="Show the frames of libraries, too.")
@click.option("--native", is_flag=True, help="Show C++ frames, too, once. It stops the process for about 0.1 s.")
@json_option
@click.pass_obj
def live(
    index_path: Path | None, process: str | None, once: bool, all_frames: bool, native: bool, as_json: bool
) -> None:
    """Show each thread of a process now: its Python stack, and its calls in progress.

    PID is a process, recorded or not; CAPTURE is a capture or a folder of captures. Default: the newest recording of
    this folder whose process lives, otherwise the newest one. It needs no index.

    The process may run, hang, be stopped or have ended. It is only read: nothing in it runs, and only --native
    stops it. Reading Python's frames needs the permission to trace the process. Calls in progress are read from the
    capture. In a terminal, the view is updated every second until Ctrl-C.

    With --native, each thread has its merged Python and C++ stack, as in `framedex core`. Frames of XLA and JAX get
    their source lines from the index, or from the known releases.
    """
    from framedex.live.documents import look_document
    from framedex.live.look import look_at
    from framedex.live.targets import find_target

    target = find_target(process, working_folder())
    if native:
        _show_native(index_path, look_at(target), all_frames=all_frames, as_json=as_json)
        return
    if as_json:
        print_json(look_document(look_at(target)))
        return
    if once or not sys.stdout.isatty():
        print_lines(look_lines(look_at(target), all_frames=all_frames))
        return
    with suppress(KeyboardInterrupt):
        while True:
            look = look_at(target)
            click.echo(_CLEAR, nl=False)
            print_lines(look_lines(look, all_frames=all_frames))
            time.sleep(_INTERVAL_S)


def _show_native(index_path: Path | None, look: Look, *, all_frames: bool, as_json: bool) -> None:
    from framedex.commands.inputs.native_names import name_native_frames
    from framedex.commands.output.render_native import native_look_document, native_look_lines
    from framedex.live.native.stopped import read_living_stacks

    if look.state in (ProcessState.ENDED, ProcessState.ELSEWHERE):
        raise FramedexError(
            f"Process {look.pid} {'has ended' if look.state is ProcessState.ENDED else f'is {look.state}'}: it has no"
            " native frames here.",
            "If it crashed, `framedex core FILE` shows the stacks in its core file.",
        )
    stacks = read_living_stacks(look.pid)
    names = name_native_frames(stacks, index_path)
    if as_json:
        print_json(native_look_document(look, stacks, names))
    else:
        print_lines(native_look_lines(look, stacks, names, all_frames=all_frames))

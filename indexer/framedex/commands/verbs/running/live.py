"""`framedex live`: the threads of a process now."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framedex.base.errors import FramedexError
from framedex.commands.inputs.processes import find_process
from framedex.commands.output.console import json_option, print_json, print_lines
from framedex.commands.output.render_live import render_snapshot_lines
from framedex.live.model import ProcessSnapshot, ProcessState
from framedex.live.snapshot import take_snapshot
from framedex.live.targets import find_target_of_capture

if TYPE_CHECKING:
    from framedex.commands.output.terminal import Line
    from framedex.fleet.running.states import RankState, RunningJob
    from framedex.live.targets import Target

_INTERVAL_S = 1.0
_MAX_RANKS = 16  # maximum number of ranks printed
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"  # cursor to the first row, erase the screen and what has scrolled out of it


@click.command()
@click.argument("process", metavar="[PID|CAPTURE|JOB]", required=False)
@click.option("--once", is_flag=True, help="Print once and exit. Default if stdout is not a terminal.")
@click.option("--all-frames", is_flag=True, help="Show the frames of libraries, too.")
@click.option("--native", is_flag=True, help="Show C++ frames, too, and print once. Stops the process for about 0.1 s.")
@json_option
@click.pass_obj
def live(
    index_path: Path | None, process: str | None, once: bool, all_frames: bool, native: bool, as_json: bool
) -> None:
    """Show each thread of a process now: its Python stack, and its calls in progress.

    PID is a process, recorded or not; CAPTURE is a capture or a folder of captures. Default: this folder's newest
    recording of a running process, otherwise its newest recording. If that is a rank of a job, the default is the job.
    `live` needs no index. JOB is a folder with captures of several ranks: each rank has its main thread, and its
    threads with calls in progress.

    The process may be running, hung, stopped or ended. `live` only reads it: no code runs in it, and only --native
    stops it. Reading Python's frames needs permission to trace the process. Calls in progress are read from the
    capture. In a terminal, the view is updated every second until the process ends or Ctrl-C. Only Ctrl-C
    ends the view of a job.

    With --native, each thread has its merged Python and C++ stack, as in `framedex core`. Frames of XLA and JAX get
    their source lines from the index, or from the known releases.
    """
    target, job = find_process(process)
    if native:
        if job is not None:
            raise FramedexError(
                "--native shows one process.",
                "Name the process id or the capture of a rank; `framedex ranks` lists them.",
            )
        _show_native(index_path, take_snapshot(target), all_frames=all_frames, as_json=as_json)
        return
    if as_json:
        print_json(_build_live_document(target, job))
        return
    if once or not sys.stdout.isatty():
        print_lines(_render_live_lines(target, job, all_frames=all_frames))
        return
    with suppress(KeyboardInterrupt):
        if job is None:
            _watch_process(target, all_frames=all_frames)
        while job is not None:
            _show_view(_render_rank_lines(job, all_frames=all_frames))
            time.sleep(_INTERVAL_S)


def _watch_process(target: Target, *, all_frames: bool) -> None:
    """Update the view of a process until it ends. The last view remains, with the end below it."""
    snapshot = take_snapshot(target)
    while snapshot.state is not ProcessState.ENDED:
        _show_view(render_snapshot_lines(snapshot, all_frames=all_frames))
        time.sleep(_INTERVAL_S)
        command = snapshot.command
        snapshot = take_snapshot(target)
        snapshot = replace(snapshot, command=snapshot.command or command)
    print_lines(render_snapshot_lines(snapshot, all_frames=all_frames))


def _show_view(lines: Iterable[Line]) -> None:
    """Replace the terminal's content by the first lines, as many as it has rows."""
    shown = tuple(lines)
    click.echo(_CLEAR, nl=False)
    rows = max(shutil.get_terminal_size().lines - 1, 1)
    print_lines(shown, rows, ". All of them: `framedex live --once`")


def _render_live_lines(target: Target, job: RunningJob | None, *, all_frames: bool) -> Iterator[Line]:
    if job is None:
        return render_snapshot_lines(take_snapshot(target), all_frames=all_frames)
    return _render_rank_lines(job, all_frames=all_frames)


def _render_rank_lines(job: RunningJob, *, all_frames: bool) -> Iterator[Line]:
    from framedex.commands.output.render_ranks import rank_snapshot_lines

    return rank_snapshot_lines(_take_rank_snapshots(job.ranks[:_MAX_RANKS]), len(job.ranks), all_frames=all_frames)


def _build_live_document(target: Target, job: RunningJob | None) -> dict[str, Any]:
    from framedex.live.documents import build_snapshot_document

    if job is None:
        return build_snapshot_document(take_snapshot(target))
    snapshots = _take_rank_snapshots(job.ranks)
    return {
        "job": job.name,
        "ranks": [{"rank": rank, "look": build_snapshot_document(snapshot)} for rank, snapshot in snapshots.items()],
    }


def _take_rank_snapshots(ranks: Iterable[RankState]) -> dict[int, ProcessSnapshot]:
    return {each.rank: take_snapshot(find_target_of_capture(each.capture)) for each in ranks}


def _show_native(index_path: Path | None, snapshot: ProcessSnapshot, *, all_frames: bool, as_json: bool) -> None:
    from framedex.commands.inputs.native_names import name_native_frames
    from framedex.commands.output.render_native import build_native_snapshot_document, render_native_snapshot_lines
    from framedex.live.native.stopped import read_living_stacks

    if snapshot.state in (ProcessState.ENDED, ProcessState.ELSEWHERE):
        state = "has ended" if snapshot.state is ProcessState.ENDED else f"is {snapshot.state}"
        raise FramedexError(
            f"Process {snapshot.pid} {state}: it has no native frames here.",
            "If it crashed, `framedex core FILE` shows the stacks in its core file.",
        )
    stacks = read_living_stacks(snapshot.pid)
    names = name_native_frames(stacks, index_path)
    if as_json:
        print_json(build_native_snapshot_document(snapshot, stacks, names))
    else:
        print_lines(render_native_snapshot_lines(snapshot, stacks, names, all_frames=all_frames))

"""`framedex reduce`: reduce a recording to a small one that still shows a fault."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.regularfile import open_regular
from framedex.commands.launching.replayed import (
    OpenRecording,
    find_reference,
    find_targets,
    open_recording,
    plugin_options,
    recording_path,
    save_recording,
)
from framedex.commands.output.atomic_files import format_total_size, write_atomic
from framedex.commands.output.console import print_error, print_lines
from framedex.commands.output.terminal import Line, render_text_line

if TYPE_CHECKING:
    from framedex.plugins.replay.plan import OptionValue
    from framedex.plugins.replay.reduction import Reduction, Trial

_FAILURE = 2  # exit status: the recording does not show the fault
_LABEL = 11


@click.command()
@click.argument("capture", type=click.Path(path_type=Path), required=False)
@click.option(
    "--keep",
    type=click.Choice(["error", "nan", "differs", "crash"]),
    required=True,
    help="The fault that the result still shows.",
)
@plugin_options
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("reduced"),
    show_default=True,
    help="Write NAME.fdxreplay, and NAME.py if the program was cut.",
)
@click.pass_context
def reduce(
    ctx: click.Context,
    /,
    capture: Path | None,
    keep: str,
    plugin: str,
    against: str | None,
    ulps: int,
    rtol: float,
    seed: int | None,
    create_options: tuple[tuple[str, OptionValue], ...],
    is_confined: bool,
    python: str,
    output: Path,
) -> None:
    """Reduce a recording to a small one that still shows a fault.

    CAPTURE is as for `framedex replay`. The result has one execution with its arguments, and only the last ops of its
    program before the fault: fewer than twice as many as necessary. Each attempt runs in its own process. `framedex
    replay NAME.fdxreplay` shows the fault again; NAME.py does so with JAX alone, to attach to a bug report.

    Both files contain data of the recording. A recording contains programs for the plug-in's compiler: reduce only
    recordings that you trust. See docs/how-to/replay.md.
    """
    from framedex.plugins.replay.comparison import Tolerance
    from framedex.plugins.replay.reduction import Fault, NoFaultError, Trial, reduce_plan

    try:
        output = recording_path(output)
        _check_replaceable(output.with_suffix(".py"))
        with open_recording(capture) as recording, tempfile.TemporaryDirectory(prefix="framedex-reduce-") as folder:
            target, other = find_targets(plugin, against, python, create_options, is_confined=is_confined)
            reference = other or find_reference(target)
            trial = Trial(
                Fault(keep),
                (target, reference),
                Tolerance(ulps, rtol),
                recording.choose_seed(seed),
                is_recorded=other is None,
            )
            try:
                reduction = reduce_plan(recording.plan, trial, Path(folder))
            except NoFaultError as error:
                raise FramedexError(str(error), "Look at `framedex replay` first.") from None
            print_lines(
                [
                    *_render_reduction_lines(recording, reduction, trial),
                    *_write_reduction(recording, reduction, trial.seed, output),
                ]
            )
    except FramedexError as error:
        print_error(error)
        ctx.exit(_FAILURE)


def _render_reduction_lines(recording: OpenRecording, reduction: Reduction, trial: Trial) -> list[Line]:
    before, after = (words.count(len(each.executions), "execution") for each in (recording.plan, reduction.plan))
    shown = [
        _render_labelled_line("kept", f"{trial.fault} at {trial.targets[0].name}"),
        _render_labelled_line("reduced", f"{before} to {after}"),
    ]
    if reduction.ops is not None:
        whole, cut = reduction.ops
        shown.append(_render_labelled_line("program", f"{words.count(whole, 'op')} to {cut:,}"))
    if reduction.problem:
        shown.append(_render_labelled_line("program", f"not cut: {reduction.problem}"))
    return shown


def _check_replaceable(script: Path) -> None:
    """Raise FramedexError if a file exists that is not a script of an earlier reduction."""
    from framedex.plugins.replay.standalone import SCRIPT_HEAD

    if not os.path.lexists(script):
        return
    with suppress(OSError), open_regular(script) as file:
        if file.read(len(SCRIPT_HEAD)) == SCRIPT_HEAD.encode():
            return
    raise FramedexError(
        f"{make_printable(str(script))} exists, and framedex did not write it.", "Name another file with -o."
    )


def _write_reduction(recording: OpenRecording, reduction: Reduction, seed: int, path: Path) -> list[Line]:
    from framedex.plugins.replay.standalone import build_standalone_script

    save_recording(path, reduction.plan, recording, seed)
    written = [_render_labelled_line("wrote", f"{path.name}{format_total_size(path)}")]
    script = build_standalone_script(recording.command, reduction.text, reduction.arguments, reduction.expected)
    if reduction.text and script is not None:
        write_atomic(path.with_suffix(".py"), script)
        written.append(_render_labelled_line("wrote", path.with_suffix(".py").name))
    return written


def _render_labelled_line(label: str, text: str) -> Line:
    return render_text_line(f"{label:<{_LABEL}}{text}")

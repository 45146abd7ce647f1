"""`framedex ffi`: the native handlers of `jax.ffi.ffi_call`, and their Python lines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex import words
from framedex.commands.inputs.known import note_what_is_missing
from framedex.commands.inputs.scope import Chosen, capture_option, heading, index_of_whole_runs
from framedex.commands.inputs.unrecorded import did_you_mean
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import ffi_document
from framedex.commands.output.render_ffi import target_details, target_lines
from framedex.errors import FramedexError
from framedex.nearest import nearest
from framedex.plaintext import shell_word

if TYPE_CHECKING:
    from framedex.ffi.model import FfiTarget


@click.command()
@click.argument("target", required=False)
@click.option("--all", "show_all", is_flag=True, help="Include targets that were never called.")
@capture_option
@json_option
@click.pass_obj
def ffi(index_path: Path | None, target: str | None, show_all: bool, chosen: Chosen | None, as_json: bool) -> None:
    """Show FFI targets: handlers, Python lines and times.

    A line is the `ffi_call` of a handler's run.

    With TARGET (a name, or a unique part): its stages, C++ signature, registration, the stacks of its calls, shapes,
    attributes and errors.
    """
    with index_of_whole_runs(index_path, chosen, lambda index: index.ffi.captures()) as (index, answer):
        targets = index.ffi.targets()
    shown = _meant(targets, target) if target is not None else _used(targets, show_all)
    if as_json:
        print_json(ffi_document(answer, shown))
        return
    lines = [heading(answer)]
    for each in shown:
        lines += [(), *(target_lines(each) if target is None else target_details(each))]
    print_lines(lines)
    note_what_is_missing(*answer.captures)
    if not targets:
        note("No FFI target was registered or called there.")
    elif len(shown) < len(targets) and target is None:
        others = words.count(len(targets) - len(shown), "more target")
        note(f"Registered and never called: {others}; --all lists them.")
    elif target is None and shown:
        first = shell_word(shown[0].name)
        note(f"Next: `framedex ffi {first}` shows everything about one, `framedex trace {first}` the stack of a run.")


def _used(targets: Sequence[FfiTarget], show_all: bool) -> list[FfiTarget]:
    return [target for target in targets if show_all or target.totals.runs or target.handlers or target.troubles]


def _meant(targets: Sequence[FfiTarget], name: str) -> list[FfiTarget]:
    """The target with this name, otherwise the one whose name contains it.

    Raises FramedexError unless exactly one matches.
    """
    fitting = [target for target in targets if target.name == name]
    fitting = fitting or [target for target in targets if name.lower() in target.name.lower()]
    if not fitting:
        near = nearest(name, [target.name for target in targets])
        raise FramedexError(
            f"No FFI target like '{name}' is in these captures.{did_you_mean(near)}",
            "`framedex ffi --all` lists its targets, `framedex captures` the captures for --capture.",
        )
    used = _used(fitting, show_all=False) or fitting
    if len(used) > 1:
        listed = "\n".join(target.name for target in used)
        raise FramedexError(f"Several targets match '{name}':\n{listed}", "Give a longer part of the name.")
    return used

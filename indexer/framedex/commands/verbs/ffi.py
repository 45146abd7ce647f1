"""`framedex ffi`: the native handlers of `jax.ffi.ffi_call`, and the lines of Python that they were run for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex import words
from framedex.commands.output.console import json_option, note, print_json, print_lines
from framedex.commands.output.documents import ffi_document
from framedex.commands.output.render_calls import capture_heading
from framedex.commands.output.render_ffi import target_details, target_lines
from framedex.commands.reading.known import check_capture_id, chosen_capture, note_what_is_missing, open_index
from framedex.errors import FramedexError
from framedex.plaintext import shell_word

if TYPE_CHECKING:
    from framedex.ffi.model import FfiTarget
    from framedex.index import Index
    from framedex.model import CaptureRow


@click.command()
@click.argument("target", required=False)
@click.option("--all", "show_all", is_flag=True, help="Also list targets that were registered and never called.")
@click.option("--capture", type=int, metavar="ID", help="This capture (see `framedex captures`). Default: the latest.")
@json_option
@click.pass_obj
def ffi(index_path: Path | None, target: str | None, show_all: bool, capture: int | None, as_json: bool) -> None:
    """Show FFI targets: their handlers, the lines of Python that call them, and their times.

    With TARGET (a name, or a part that fits one only) everything about it: stages, C++ signature, where it is
    registered, the stacks of its sites, shapes, attributes, and what went wrong with it.
    """
    with open_index(index_path) as index:
        chosen = _capture(index, capture)
        targets = index.capture(chosen.id).ffi_targets()
    shown = _meant(targets, target) if target is not None else _used(targets, show_all)
    if as_json:
        print_json(ffi_document(chosen, shown))
        return
    lines = [capture_heading(chosen)]
    for each in shown:
        lines += [(), *(target_lines(each) if target is None else target_details(each))]
    print_lines(lines)
    note_what_is_missing(chosen)
    if not targets:
        note("No FFI target was registered or called in this capture.")
    elif len(shown) < len(targets) and target is None:
        others = words.count(len(targets) - len(shown), "more target")
        note(f"Registered and never called: {others}; --all lists them.")
    elif target is None and shown:
        first = shell_word(shown[0].name)
        note(f"Next: `framedex ffi {first}` shows everything about one, `framedex trace {first}` the stack of a run.")


def _capture(index: Index, capture: int | None) -> CaptureRow:
    """The capture with this id, else the latest one with something of FFI, else the latest."""
    captures = index.captures()
    check_capture_id(captures, capture)
    with_uses = index.ffi.captures()
    wanted = capture if capture is not None else next(reversed(with_uses), None)
    found = next((row for row in captures if row.id == wanted), None)
    return found or chosen_capture(index, None)


def _used(targets: Sequence[FfiTarget], show_all: bool) -> list[FfiTarget]:
    return [target for target in targets if show_all or target.totals.runs or target.handlers or target.troubles]


def _meant(targets: Sequence[FfiTarget], name: str) -> list[FfiTarget]:
    """The target of this name, else the one whose name contains it. Raises FramedexError unless exactly one fits."""
    fitting = [target for target in targets if target.name == name]
    fitting = fitting or [target for target in targets if name.lower() in target.name.lower()]
    if not fitting:
        raise FramedexError(
            f"No FFI target like '{name}' is in this capture.",
            "`framedex ffi --all` lists its targets, `framedex captures` the captures for --capture.",
        )
    used = _used(fitting, show_all=False) or fitting
    if len(used) > 1:
        listed = "\n".join(target.name for target in used)
        raise FramedexError(f"Several targets match '{name}':\n{listed}", "Give more of the name you mean.")
    return used

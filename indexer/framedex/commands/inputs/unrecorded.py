"""Messages for a name without recorded calls: its other meaning, its definition, or a similar name."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from framedex.commands.inputs.files import parse_place
from framedex.commands.output.console import note
from framedex.errors import FramedexError
from framedex.path_resolution.files import is_here_as_typed
from framedex.plaintext import restore, shell_word

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FunctionRow, InsideProgram


def not_recorded(index: Index, name: str, message: str, remedy: str) -> FramedexError:
    """The error for a name of no function on a recorded stack.

    `message` is replaced if the name is a call id, a place, or a function inside a program. `remedy` is used if the
    name itself has no next step.
    """
    if name.isascii() and name.isdigit() and len(name) < 19 and index.calls.get(int(name)) is not None:
        return FramedexError(f"{name} is a call's id.", f"`framedex trace {name}` shows its stack.")
    if _is_place(index, name):
        return FramedexError(f"{name} is a place.", f"`framedex where {shell_word(name)}` shows what passes it.")
    if (inside := index.functions.inside_program(name)) is not None:
        return FramedexError(*_inside(inside))
    defined = next((found.location for found in index.names.symbols(name, 1) if found.name == name), None)
    if defined is not None:
        place = shell_word(f"{defined.path}:{defined.line}")
        return FramedexError(message, f"{name} is defined: `framedex where {place}` says what is known of it.")
    near = index.functions.likely(name) or index.calls.likely(name)
    return FramedexError(f"{message}{did_you_mean(near)}", remedy)


def note_of_own_inside(index: Index, name: str, found: Sequence[FunctionRow]) -> None:
    """Note that one of the user's own functions inside jit has this name, if all found functions are others'."""
    from framedex.index.file.installed import is_own

    if not any(is_own(function.module) for function in found):
        inside = index.functions.inside_program(name)
        if inside is not None and is_own(inside.location.path):
            note(" ".join(("Yours:", *_inside(inside))))


def _inside(inside: InsideProgram) -> tuple[str, str]:
    """The message and remedy for a function inside a compiled program."""
    place = shell_word(f"{inside.location.path}:{inside.location.line}")
    return (
        f"{inside.function} makes no call of its own: it is inside {inside.program}.",
        f"`framedex where {place}` says what its lines became.",
    )


def did_you_mean(near: str | None) -> str:
    """The question "Did you mean ...?" for the end of a message; empty without a similar name."""
    return f" Did you mean '{near}'?" if near is not None else ""


def _is_place(index: Index, text: str) -> bool:
    """Whether a text is a local or recorded file, or a line of one."""
    with suppress(FramedexError):
        path = str(parse_place(text).path)
        end = restore(path).removeprefix("./")
        return is_here_as_typed(path) or (bool(end.strip("./")) and bool(index.names.recorded_files(end)))
    return False

"""Messages about missing answers: names without recorded calls, and captures that are not in the index yet."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.errors import FramedexError
from framedex.base.plaintext import quote_shell_word, restore
from framedex.commands.inputs.files import parse_file_position, working_folder
from framedex.commands.output.console import note
from framedex.path_resolution.files import typed_file_exists

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import CaptureRow, CompiledFunction, FunctionRow


def not_recorded_error(index: Index, name: str, message: str, remedy: str) -> FramedexError:
    """The error for a name that is not a function on a recorded stack.

    If the name is a call id, a file position, or a function inside a program, the error says that. Otherwise it has
    `message`, with `remedy` if nothing better is known.
    """
    if name.isascii() and name.isdigit() and len(name) < 19 and index.calls.get(int(name)) is not None:
        return FramedexError(f"{name} is a call id, not a function.", f"`framedex trace {name}` shows its stack.")
    if _is_file_position(index, name):
        return FramedexError(
            f"{name} is a file position, not a function.", f"`framedex where {quote_shell_word(name)}` shows its calls."
        )
    if (inside := index.functions.find_inside_program(name)) is not None:
        return FramedexError(*_inside_program_texts(inside))
    defined = next((found.location for found in index.names.symbols(name, 1) if found.name == name), None)
    if defined is not None:
        place = quote_shell_word(f"{defined.path}:{defined.line}")
        return FramedexError(message, f"Its definition is known: `framedex where {place}` shows its calls.")
    near = index.functions.suggest_name(name) or index.calls.suggest_name(name)
    return FramedexError(f"{message}{format_suggestion(near)}", remedy)


def note_own_function_inside_jit(index: Index, name: str, found: Sequence[FunctionRow]) -> None:
    """Note a function inside jit in the user's code that has this name, if no found function is in the user's code."""
    from framedex.index.file.paths import is_user_file

    if not any(is_user_file(function.module) for function in found):
        inside = index.functions.find_inside_program(name)
        if inside is not None and is_user_file(inside.location.path):
            note(" ".join(("In your code:", *_inside_program_texts(inside))))


def _inside_program_texts(inside: CompiledFunction) -> tuple[str, str]:
    """The message and remedy for a function inside a compiled program."""
    place = quote_shell_word(f"{inside.location.path}:{inside.location.line}")
    return (
        f"{inside.function} makes no calls itself: it is compiled into {inside.program}.",
        f"`framedex where {place}` shows its compiled lines.",
    )


def format_suggestion(near: str | None) -> str:
    """The question "Did you mean ...?" for the end of a message; empty without a similar name."""
    return f" Did you mean '{near}'?" if near is not None else ""


def _is_file_position(index: Index, text: str) -> bool:
    """Whether a text is a local or recorded file, or a line of one."""
    with suppress(FramedexError):
        path = str(parse_file_position(text).path)
        end = restore(path).removeprefix("./")
        return typed_file_exists(path) or (bool(end.strip("./")) and bool(index.names.recorded_files(end)))
    return False


def build_unfinished_capture_notes(index: Index, captures: Iterable[CaptureRow]) -> Iterator[str]:
    """A sentence for each capture that is not completely indexed."""
    unread = index.incomplete_captures()
    for capture in captures:
        if capture.id in unread:
            yield f"Capture {capture.id} is not completely indexed: `framedex index` reads the rest."
        elif _is_being_written(capture):
            yield f"Capture {capture.id} is still being written: run `framedex index` after its program ends."


def _is_being_written(capture: CaptureRow) -> bool:
    """Whether the program of a capture is still running, if that is visible from here."""
    from framedex.captures import is_complete

    with suppress(FramedexError):  # the folder is missing, or its paths are those of another system
        return not is_complete(Path(capture.path))
    return False


_MAX_FOLDERS = 3  # number of folders in one proposed command


def propose_stray_captures(known: Collection[str]) -> str:
    """A sentence with the command that indexes captures of `run -o` near the working folder; empty if there are none.

    `framedex index` finds such captures only by name. `known` are the real paths of captures that the index has or has
    rejected.
    """
    from framedex.captures import find_captures_within

    try:
        here = working_folder()
        found = [capture for capture in find_captures_within(here) if os.path.realpath(capture) not in known]
    except FramedexError:
        return ""
    folders = dict.fromkeys(_relative_argument(here if capture == here else capture.parent, here) for capture in found)
    if not folders:
        return ""
    words = " ".join(map(quote_shell_word, list(folders)[:_MAX_FOLDERS]))
    return f"Some captures in this folder are not in the index. Next: `framedex index {words}`."


def _relative_argument(folder: Path, here: Path) -> str:
    """A folder below the working folder, as an argument of a command."""
    name = os.fspath(folder.relative_to(here))
    return f"./{name}" if name.startswith("-") else name

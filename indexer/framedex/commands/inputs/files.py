"""Files on the command line: `FILE:LINE:COL`, relative paths, and the resolver of paths in texts."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.regularfile import host_name, open_regular
from framedex.path_resolution.files import typed_file_exists

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.path_resolution.files import PathMap
    from framedex.path_resolution.precedence import PathResolver
    from framedex.settings import Settings

_POSITION = re.compile(
    r"(?P<path>.+?)(?:(?::|#L?|(?P<opened>\())(?P<line>\d{1,9})(?:[:,](?P<column>\d{1,9}))?(?:-L?\d{1,9})?(?(opened)\)))?:?",
    re.DOTALL,
)
_URL = re.compile(r"<?(?:file|framedex)://([^/]*)(/[^#]*?)(?:#(.*?))?>?", re.DOTALL | re.IGNORECASE)
_THIS_MACHINE = frozenset(("", "localhost", "127.0.0.1", "[::1]"))
_FRAGMENT = re.compile(r"L?(?P<line>\d{1,9})(?:[:,](?P<column>\d{1,9}))?(?:-L?\d+)?", re.ASCII)


@dataclass(frozen=True, slots=True)
class FilePosition:
    """A file as the user named it, with the 1-based line and column if given; `is_line_zero`: the line was 0."""

    path: Path
    line: int | None
    column: int | None
    is_line_zero: bool = False


@dataclass(frozen=True, slots=True)
class PublicPage:
    """The public page of a line whose file is not on this machine; `name` is the displayed position."""

    url: str
    name: str


def parse_file_position(text: str) -> FilePosition:
    """Parse `FILE`, `FILE:LINE`, `FILE:LINE:COL`, `FILE#LLINE`, `FILE(LINE)`, or a URL `file://HOST/FILE#LINE`.

    The path of an existing file is that file. A range such as `FILE#L12-L20` means its first line. Line 0 means no
    line. Raises FramedexError for the URL of another machine's file.
    """
    if typed_file_exists(text):
        return FilePosition(Path(text), None, None)
    if match := _URL.fullmatch(text):
        return _parse_url(*match.groups())
    match = _POSITION.fullmatch(text)
    return FilePosition(Path(text), None, None) if match is None else _build_position(match["path"], match)


def resolve_position(position: FilePosition, rules: PathMap) -> FilePosition | None:
    """The position with its path mapped by a rule, or unchanged if the file exists; None otherwise."""
    if by_rule := rules.apply(str(position.path)):
        return replace(position, path=Path(by_rule))
    return position if typed_file_exists(str(position.path)) else None


def note_if_too_short(position: FilePosition) -> FilePosition:
    """Return the position unchanged, and print a note if the file has fewer lines: editors then open its last line."""
    if position.line is None or position.line <= 1:
        return position
    try:
        with open_regular(position.path) as file:
            last = sum(1 for _ in zip(file, range(position.line), strict=False))
    except (OSError, ValueError):
        return position
    if last and position.line > last + 1:
        from framedex.base import words
        from framedex.commands.output.console import note

        lines = words.count(last, "line")
        note(f"{make_printable(str(position.path))} has {lines}: line {position.line} is from another version of it.")
    return position


def _parse_url(host: str, path: str, fragment: str | None) -> FilePosition:
    machine = unquote(host)
    if machine.lower() not in {*_THIS_MACHINE, host_name().lower()}:
        raise FramedexError(f"The file is on the machine {machine}.", "Open the link in a terminal of that machine.")
    file = unquote(path)
    if fragment is None and not typed_file_exists(file) and (match := _POSITION.fullmatch(file)):
        return _build_position(match["path"], match)  # `file:///x.cc:12`, as some programs print it
    return _build_position(file, _FRAGMENT.fullmatch(fragment or ""))


def _build_position(path: str, numbers: re.Match[str] | None) -> FilePosition:
    line, column = (numbers["line"], numbers["column"]) if numbers else (None, None)
    is_line_zero = line is not None and not int(line)
    return FilePosition(Path(path), int(line or 0) or None, int(column or 0) or None, is_line_zero)


def working_folder() -> Path:
    """The working folder of this process. Raises FramedexError if it was deleted."""
    try:
        return Path.cwd()
    except FileNotFoundError as error:
        raise FramedexError(
            "The working folder no longer exists.",
            "Change to an existing folder: `cd FOLDER`, or `cd .` if it was created again.",
        ) from error


def to_absolute_path(path: Path) -> Path:
    """An absolute path. Raises FramedexError for a relative path if the working folder was deleted."""
    return path if path.is_absolute() else working_folder() / path


def path_resolver(settings: Settings, file: str, index: Index | None) -> PathResolver:
    """The resolver of the paths in a text from `file`, where `-` is stdin, by the settings and an index.

    Relative paths start in the folder of the file; those from stdin start in the working folder.
    """
    from framedex.path_resolution.precedence import PathResolver

    try:
        folders = [to_absolute_path(Path() if file == "-" else Path(file).parent)]
    except FramedexError:  # the working folder was deleted
        folders = []
    return PathResolver(settings.path_map, settings.sources, folders, index)

"""Excerpts of source files that the index names and that agents may read.

An index may come from a stranger and name any file, and symbolic links may lead out of a folder. So access is checked
on the real path. Agents may read files in the project folder, in the packages of framedex's own Python, among the
fetched sources, and in folders that the user named.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.folders import leads_inside, user_folder
from framedex.base.plaintext import make_printable, make_visible, restore
from framedex.base.regularfile import open_regular
from framedex.commands.agents.tools import ToolAnswer
from framedex.commands.inputs.files import parse_file_position, working_folder
from framedex.index import Index
from framedex.index.file.paths import find_project_folder

if TYPE_CHECKING:
    from framedex.commands.inputs.files import FilePosition

DEFAULT_CONTEXT_LINES = 10
"""Default number of lines shown before and after the requested line."""

_MAX_READ_BYTES = 16 << 20  # bytes
_PACKAGE_PATHS = ("stdlib", "platstdlib", "purelib", "platlib")
_WEB_SCHEMES = ("https://", "http://")


def read_excerpt(index_path: Path, named_folders: Sequence[Path], location: str, context_lines: int) -> ToolAnswer:
    """Return the lines around a place such as FILE:LINE; `named_folders` are folders that the user made readable.

    Raises FramedexError if the file is missing, is not in the index, or may not be read by agents.
    """
    if location.startswith(_WEB_SCHEMES):
        raise FramedexError(
            f"{make_printable(location)} is not a file on this machine.",
            "This is the address of a public page. `framedex sources fetch` downloads sources whose commit is known.",
        )
    wanted = parse_file_position(location)
    with Index.open(index_path, may_write=False) as index:
        path = _find_indexed_file(index, str(wanted.path))
    project = Path(find_project_folder(index_path) or working_folder())
    folders = [project, *map(Path, _package_folders()), *_fetched_source_folders(), *named_folders]
    if not any(leads_inside(path, folder) for folder in folders):
        raise FramedexError(
            f"{make_printable(str(path))} is outside the project and the source folders, so agents may not read it.",
            "The user can allow its folder: `framedex mcp --source DIR`.",
        )
    return ToolAnswer(tuple(_number_lines(path, wanted, context_lines)))


def _find_indexed_file(index: Index, name: str) -> Path:
    """The path of the indexed file with this name. Raises FramedexError unless there is exactly one."""
    for path in dict.fromkeys((name, restore(name))):
        whole = os.path.abspath(path)  # noqa: PTH100 - lexical: links are resolved later, once the file is known
        if index.file(whole).is_recorded() or index.sources.is_known_source(whole):
            return Path(whole)
        found = [] if os.path.isabs(path) else index.names.recorded_files(path.removeprefix("./"))  # noqa: PTH117
        if len(found) == 1:
            return Path(found[0])
        if found:
            listed = ", ".join(map(make_printable, found[:10]))
            raise FramedexError(
                f"Several recorded files end with {make_printable(path)}: {listed}",
                "Specify a longer part of the path.",
            )
    raise FramedexError(
        f"The index has no file {make_printable(name)}.",
        "Use a location from an answer; `framedex where FILE` lists the recorded lines of a file.",
    )


def _package_folders() -> list[str]:
    paths = sysconfig.get_paths()
    return [paths[name] for name in _PACKAGE_PATHS]


def _fetched_source_folders() -> Iterator[Path]:
    cache = user_folder("XDG_CACHE_HOME")
    if cache is not None:
        yield cache / "framedex" / "sources"


def _number_lines(path: Path, wanted: FilePosition, context_lines: int) -> Iterator[str]:
    """The numbered lines around the requested line.

    Raises FramedexError if the file is unreadable, binary or too short.
    """
    name = make_printable(str(path))
    try:
        with open_regular(Path(os.path.realpath(path))) as file:
            content = file.read(_MAX_READ_BYTES)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FramedexError(f"{name} cannot be read: {reason}.", "`trace` may show its public address.") from error
    if b"\0" in content:
        raise FramedexError(f"{name} is not a text file.", "Only text files are shown.")
    lines = content.decode("utf-8", "replace").split("\n")
    line = wanted.line or 1
    if line > len(lines):
        raise FramedexError(f"{name} has only {words.count(len(lines), 'line')}.", "Request an earlier line.")
    for number in range(max(1, line - context_lines), min(len(lines), line + context_lines) + 1):
        yield f"{'>' if number == line else ' '}{number:>5}  {make_visible(lines[number - 1].rstrip().expandtabs(8))}"

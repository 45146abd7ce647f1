"""Excerpts of source files that the index names and that agents may read.

An index may come from a stranger and name any file, and symbolic links may lead out of a folder. So access is checked
on the real path. Readable files are in the project folder, in the packages of framedex's own Python, among the fetched
sources, or in a folder that the user named.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.agents.model import Answer
from framedex.commands.inputs.files import parse_place, working_folder
from framedex.errors import FramedexError
from framedex.index import Index
from framedex.index.file.project import project_here
from framedex.indexplace import leads_inside
from framedex.plaintext import printable, restore, visible
from framedex.regularfile import open_regular
from framedex.userfolders import user_folder

if TYPE_CHECKING:
    from framedex.commands.inputs.files import Place

USUAL_LINES = 10
"""Default number of lines shown before and after the requested line."""

_MOST_READ = 16 << 20  # bytes
_PACKAGES = ("stdlib", "platstdlib", "purelib", "platlib")
_WEB = ("https://", "http://")


def excerpt(index_path: Path, named: Sequence[Path], place: str, around: int) -> Answer:
    """Return the lines around a place such as FILE:LINE; `named` are the folders that the user named.

    Raises FramedexError if the file is missing, is not in the index, or may not be read by agents.
    """
    if place.startswith(_WEB):
        raise FramedexError(
            f"{printable(place)} is not a file on this machine.",
            "It is a public page. `framedex sources fetch` downloads the sources if their commit is known.",
        )
    wanted = parse_place(place)
    with Index.open(index_path, may_write=False) as index:
        path = _known(index, str(wanted.path))
    project = Path(project_here(index_path) or working_folder())
    folders = [project, *map(Path, _packages()), *_fetched(), *named]
    if not any(leads_inside(path, folder) for folder in folders):
        raise FramedexError(
            f"{printable(str(path))} is outside the project and the source folders, so it is not read.",
            "The user can name its folder: `framedex mcp --source DIR`.",
        )
    return Answer(tuple(_lines(path, wanted, around)))


def _known(index: Index, name: str) -> Path:
    """The path of the indexed file with this name. Raises FramedexError unless there is exactly one."""
    for path in dict.fromkeys((name, restore(name))):
        whole = os.path.abspath(path)  # noqa: PTH100 - lexical: links are resolved later, once the file is known
        if index.file(whole).is_recorded() or index.sources.knows(whole):
            return Path(whole)
        found = [] if os.path.isabs(path) else index.names.recorded_files(path.removeprefix("./"))  # noqa: PTH117
        if len(found) == 1:
            return Path(found[0])
        if found:
            listed = ", ".join(map(printable, found[:10]))
            raise FramedexError(
                f"Several recorded files end with {printable(path)}: {listed}", "Give a longer part of the path."
            )
    raise FramedexError(
        f"The index has no file {printable(name)}.",
        "Use a location from an answer; `framedex where FILE` lists the recorded lines of a file.",
    )


def _packages() -> list[str]:
    paths = sysconfig.get_paths()
    return [paths[name] for name in _PACKAGES]


def _fetched() -> Iterator[Path]:
    cache = user_folder("XDG_CACHE_HOME")
    if cache is not None:
        yield cache / "framedex" / "sources"


def _lines(path: Path, wanted: Place, around: int) -> Iterator[str]:
    """The numbered lines around the requested line.

    Raises FramedexError if the file is unreadable, binary or too short.
    """
    name = printable(str(path))
    try:
        with open_regular(Path(os.path.realpath(path))) as file:
            content = file.read(_MOST_READ)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FramedexError(f"{name} cannot be read: {reason}.", "`trace` may have its public address.") from error
    if b"\0" in content:
        raise FramedexError(f"{name} is not a text file.", "Only source files are shown.")
    lines = content.decode("utf-8", "replace").split("\n")
    line = wanted.line or 1
    if line > len(lines):
        raise FramedexError(f"{name} has {words.count(len(lines), 'line')}.", "Give one of them.")
    for number in range(max(1, line - around), min(len(lines), line + around) + 1):
        yield f"{'>' if number == line else ' '}{number:>5}  {visible(lines[number - 1].rstrip().expandtabs(8))}"

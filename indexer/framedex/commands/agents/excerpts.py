"""Lines of a source file: of one that the index names, and that lies where agents may read.

An index may be a stranger's and name any file, and a folder that is opened may lead anywhere by its links. So a file is
read by its real path: in the project's folder, in the packages of framedex's own Python, among the sources that
framedex has fetched, and in the folders that the user has named.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from framedex import words
from framedex.commands.agents.model import Answer
from framedex.commands.reading.files import parse_place, working_folder
from framedex.errors import FramedexError
from framedex.index import Index
from framedex.index.file.project import project_here
from framedex.indexplace import leads_inside
from framedex.plaintext import printable, restore, visible
from framedex.regularfile import open_regular
from framedex.userfolders import user_folder

if TYPE_CHECKING:
    from framedex.commands.reading.files import Place

USUAL_LINES = 10
"""Lines that are shown before and after the one that is asked for."""

_MOST_READ = 16 << 20  # bytes
_PACKAGES = ("stdlib", "platstdlib", "purelib", "platlib")
_WEB = ("https://", "http://")


def excerpt(index_path: Path, named: Sequence[Path], place: str, around: int) -> Answer:
    """The lines around a place, as answers have it; `named` are the folders that the user has named.

    Raises FramedexError where there is no such file, the index has nothing of it, or agents may not read it.
    """
    if place.startswith(_WEB):
        raise FramedexError(
            f"{printable(place)} is no file of this machine.",
            "It is a public page. `framedex sources fetch` brings the sources, where their commit is known.",
        )
    wanted = parse_place(place)
    with Index.open(index_path, may_write=False) as index:
        path = _known(index, str(wanted.path))
    project = Path(project_here(index_path) or working_folder())
    folders = [project, *map(Path, _packages()), *_fetched(), *named]
    if not any(leads_inside(path, folder) for folder in folders):
        raise FramedexError(
            f"{printable(str(path))} is outside of the project and of the known source folders: it is not read.",
            "The user can name its folder: `framedex mcp --source DIR`.",
        )
    return Answer(tuple(_lines(path, wanted, around)))


def _known(index: Index, name: str) -> Path:
    """The path of the file of that name, which the index has. Raises FramedexError where it has none, or several."""
    for path in dict.fromkeys((name, restore(name))):
        whole = os.path.abspath(path)  # noqa: PTH100 - as text: links are followed once it is known
        if index.file(whole).is_recorded() or index.sources.knows(whole):
            return Path(whole)
        found = [] if os.path.isabs(path) else index.names.recorded_files(path.removeprefix("./"))  # noqa: PTH117
        if len(found) == 1:
            return Path(found[0])
        if found:
            listed = ", ".join(map(printable, found[:10]))
            raise FramedexError(
                f"Several recorded files end with {printable(path)}: {listed}", "Give more of the path."
            )
    raise FramedexError(
        f"The index has nothing of a file {printable(name)}.",
        "Give a place as answers have it; `framedex where FILE` tells of which lines there are some.",
    )


def _packages() -> list[str]:
    paths = sysconfig.get_paths()
    return [paths[name] for name in _PACKAGES]


def _fetched() -> Iterator[Path]:
    cache = user_folder("XDG_CACHE_HOME")
    if cache is not None:
        yield cache / "framedex" / "sources"


def _lines(path: Path, wanted: Place, around: int) -> Iterator[str]:
    """The lines around the wanted one. Raises FramedexError where there is no text that has it."""
    name = printable(str(path))
    try:
        with open_regular(Path(os.path.realpath(path))) as file:
            content = file.read(_MOST_READ)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FramedexError(f"{name} cannot be read: {reason}.", "`trace` may tell where it is in public.") from error
    if b"\0" in content:
        raise FramedexError(f"{name} is no text.", "Only sources are shown.")
    lines = content.decode("utf-8", "replace").split("\n")
    line = wanted.line or 1
    if line > len(lines):
        raise FramedexError(f"{name} has {words.count(len(lines), 'line')}.", "Give one of them.")
    for number in range(max(1, line - around), min(len(lines), line + around) + 1):
        yield f"{'>' if number == line else ' '}{number:>5}  {visible(lines[number - 1].rstrip().expandtabs(8))}"

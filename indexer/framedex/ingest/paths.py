"""Where the files are that recorded names mean: absolute real paths, by where things were when they were recorded."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping

from framedex.captures import read_cells
from framedex.index.file.values import storable
from framedex.model import Capture
from framedex.releases import python_libraries
from framedex.whereabouts.files import is_here, is_of_a_process
from framedex.whereabouts.moves import Moves
from framedex.whereabouts.rules import BUILD_FOLDER

_FROZEN = re.compile(r"<frozen (\w+(?:\.\w+)*)>")


def moves_of(capture: Capture) -> Moves:
    """What has moved along with a capture since it was made."""
    return Moves.of_capture(capture.metadata.folder, os.path.realpath(capture.path))


class Paths:
    """Turns recorded file names into absolute real paths; None for what is no file, such as `<string>`.

    Relative ones are below `folder`; `moves` say what has moved since, `former` what has moved after the binaries of
    the project were built. `libraries` are the folders of Python's own library: of one, what an interpreter has built
    in (`<frozen importlib._bootstrap>`) was made from its file there. `cells` are the files of a notebook's cells.
    """

    def __init__(
        self,
        folder: str,
        libraries: Collection[str] = (),
        moves: Moves | None = None,
        former: Moves | None = None,
        cells: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._moves = moves or Moves()
        self._former = former or Moves()
        self._libraries = libraries
        self._cells = cells or {}
        self._known: dict[str, str | None] = {}

    @classmethod
    def of(cls, capture: Capture, former: Moves | None = None) -> Paths:
        """Those of a capture."""
        cells = read_cells(capture.path)
        return cls(capture.metadata.cwd or "", python_libraries(capture), moves_of(capture), former, cells)

    def real(self, name: str) -> str | None:
        if name not in self._known:
            self._known[name] = self._real(name)
        return self._known[name]

    def _real(self, name: str) -> str | None:
        if not name or "\0" in name:
            return None
        if name in self._cells:
            return storable(os.path.realpath(self._cells[name]))
        if name.startswith("<"):
            return self._frozen(name)
        path = os.path.join(self._folder, name)  # noqa: PTH118 - names may be no valid Path text
        if not os.path.isabs(path):  # noqa: PTH117
            return None
        if is_of_a_process(path):  # Bazel's builds record what was below the compiler's working folder: not ours
            return storable(os.path.normpath(path))
        return storable(os.path.realpath(self._moves.now(path)))

    def _frozen(self, name: str) -> str | None:
        """The file that a module built into the interpreter was made from: in several libraries nobody can tell."""
        module = _FROZEN.fullmatch(name)
        if module is None or len(self._libraries) != 1:
            return None
        beginning = f"{next(iter(self._libraries))}/{module[1].replace('.', '/')}"
        found = next(filter(is_here, (f"{beginning}.py", f"{beginning}/__init__.py")), None)
        return None if found is None else storable(os.path.realpath(found))

    def compiled(self, name: str, binary: str) -> str | None:
        """The path of a file name from the debug information of a binary.

        A relative one is of a file that lies beside the binary (as our own libraries' sources do in a wheel), else it
        is taken to be below `BUILD_FOLDER`.
        """
        if not name or "\0" in name:
            return self.real(name)
        if os.path.isabs(name):  # noqa: PTH117
            return self.real(self._former.now(name) if self._former.has_reached(binary) else name)
        beside = os.path.join(os.path.dirname(binary), name)  # noqa: PTH118, PTH120 - as below
        return self.real(beside if is_here(beside) else f"{BUILD_FOLDER}/{name}")

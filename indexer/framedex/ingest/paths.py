"""Resolve recorded file names to absolute real paths, based on the folders at the time of recording."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping

from framedex.captures import read_cells
from framedex.index.file.values import storable
from framedex.model import Capture
from framedex.path_resolution.files import is_here, is_of_a_process
from framedex.path_resolution.moves import Moves
from framedex.path_resolution.rules import BUILD_FOLDER
from framedex.releases import python_libraries

_FROZEN = re.compile(r"<frozen (\w+(?:\.\w+)*)>")


def moves_of(capture: Capture) -> Moves:
    """Return the moves of a capture's folders since it was recorded."""
    return Moves.of_capture(capture.metadata.folder, os.path.realpath(capture.path))


class Paths:
    """Resolves recorded file names to absolute real paths; None for names without a file, such as `<string>`.

    Relative names are below `folder`. `moves` are the moves since the recording, and `former` the moves since the
    binaries of the project were built. `libraries` are the folders of Python's standard library. If there is exactly
    one, modules built into the interpreter (`<frozen importlib._bootstrap>`) resolve to their files there. `cells` are
    the files of a notebook's cells.
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
        """Return the paths of a capture."""
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
        if is_of_a_process(path):  # Bazel's builds record paths below the compiler's working folder, which is not ours
            return storable(os.path.normpath(path))
        return storable(os.path.realpath(self._moves.now(path)))

    def _frozen(self, name: str) -> str | None:
        """Return the source file of a module built into the interpreter; None if several libraries are possible."""
        module = _FROZEN.fullmatch(name)
        if module is None or len(self._libraries) != 1:
            return None
        beginning = f"{next(iter(self._libraries))}/{module[1].replace('.', '/')}"
        found = next(filter(is_here, (f"{beginning}.py", f"{beginning}/__init__.py")), None)
        return None if found is None else storable(os.path.realpath(found))

    def compiled(self, name: str, binary: str) -> str | None:
        """Return the path of a file name from the debug information of a binary.

        A relative name is resolved beside the binary if the file exists there, as the sources of our own libraries do
        in a wheel. Otherwise it is resolved below `BUILD_FOLDER`.
        """
        if not name or "\0" in name:
            return self.real(name)
        if os.path.isabs(name):  # noqa: PTH117
            return self.real(self._former.now(name) if self._former.has_reached(binary) else name)
        beside = os.path.join(os.path.dirname(binary), name)  # noqa: PTH118, PTH120 - as below
        return self.real(beside if is_here(beside) else f"{BUILD_FOLDER}/{name}")

"""Convert frames that another recorder named to index records, if the local files confirm them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from framedex import words
from framedex.binaries import role_of
from framedex.binaries.demangle import demangle
from framedex.binaries.names import readable
from framedex.index.file.values import storable
from framedex.index.write.records import FrameRecord, FunctionRecord
from framedex.ingest.paths import Paths
from framedex.ingest.python_frames import python_record
from framedex.model import How, Language, Location, ToldFrame
from framedex.sources import short_name
from framedex.sources.outline import Fit, Outlines

_LONGEST_LINE = (1 << 31) - 1
_ANGLES = re.compile("([<>])")
# `pkg.(*T).f` is Go; names of slices look like `f(7)`, `xla::Run (f)` or `dot::(f32[2])`.
_NO_DECLARATION = re.compile(r"/|\.\(|\)\.|\(\d|\w\[\d| \((?!anonymous namespace\))|\A\[")
_IN_BUILD = re.compile(r"[^<:?][^:]*")  # neither `<unknown>`, `??` nor `node:fs`


class ToldFrames:
    """Converts such frames to records. `problems` reports omitted lines, as sentences."""

    def __init__(self, paths: Paths, folders: Sequence[str] = ()) -> None:
        """Relative file names begin in one of `folders`: the one with a file that confirms the frame."""
        self._paths = paths
        self._folders = folders
        self._outlines = Outlines()
        self._contradicted: set[str] = set()

    def record(self, frame: ToldFrame) -> FrameRecord:
        """Return the frame, with its recorded line unless the local file contradicts it."""
        return self._python(frame) if frame.language is Language.PYTHON else self._native(frame)

    @property
    def problems(self) -> list[str]:
        """Return the problems found so far."""
        if not self._contradicted:
            return []
        named = words.few_of(sorted(self._contradicted), "file")
        return [f"Left out: lines that the files here do not bear out, as they are other versions: {named}."]

    def _python(self, frame: ToldFrame) -> FrameRecord:
        """Return a Python frame.

        Recorders rarely have its qualified name and first line, so the local file provides them.
        """
        name, first_line, line = frame.function, frame.first_line, min(frame.line, _LONGEST_LINE)
        file = self._found(frame)
        path = self._paths.real(file)
        outline = self._outlines.of(path) if path is not None else None
        if path is not None and outline is not None and (at := line or first_line):
            if outline.fit(name, at, Language.PYTHON) is Fit.CONTRADICTS:
                self._contradicted.add(path)
                line = 0
            elif found := outline.around(name, at):
                name, first_line = found
        return python_record(self._paths, file, name, first_line, 0, line)

    def _found(self, frame: ToldFrame) -> str:
        """Return the file of a frame; for a relative name, the file that has the function at its line."""
        if not frame.file.endswith(".py") or frame.file.startswith("/"):
            return frame.file
        line = frame.line or frame.first_line
        for folder in self._folders:
            path = f"{folder}/{frame.file}"
            outline = self._outlines.of(path)
            if outline is not None and outline.fit(frame.function, line, Language.PYTHON) is Fit.FITS:
                return path
        return frame.file

    def _native(self, frame: ToldFrame) -> FrameRecord:
        # A name alone may be anything, such as `copy.6` of an op. Only names of code have parts that compilers add.
        is_code = bool(frame.file or frame.module) or frame.function.startswith("_Z") or "::" in frame.function
        symbol = storable(demangle(frame.function) if is_code else frame.function)
        name = readable(symbol) if is_code and _is_declaration(symbol) else symbol
        function = FunctionRecord(
            language=Language.NATIVE,
            role=role_of(frame.module, name),
            name=name,
            short_name=short_name(name),
            symbol=symbol,
            mangled=storable(frame.function),
            module=storable(frame.module or frame.file),
            unit="",
            first_line=0,
            location=None,
        )
        path, line = self._compiled(frame), min(frame.line, _LONGEST_LINE)
        location = None if path is None or not line else Location(path, line, How.EXACT)
        return FrameRecord(function, None, 0, int(frame.is_inlined), location)

    def _compiled(self, frame: ToldFrame) -> str | None:
        """Return the file of a native frame. A relative name is resolved like one in a binary's debug information."""
        if frame.file.startswith("/") or not _IN_BUILD.fullmatch(frame.file):
            return self._paths.real(frame.file)
        return self._paths.compiled(frame.file, frame.module)


def _is_declaration(symbol: str) -> bool:
    """Return whether a name is a C++ declaration with argument types, which can be omitted."""
    if "(" not in symbol:
        return False
    return _NO_DECLARATION.search(_without_template_arguments(symbol)) is None


def _without_template_arguments(symbol: str) -> str:
    """Return a name without its template arguments. Unbalanced angle brackets stay."""
    kept: list[str] = []
    opened: list[int] = []  # indices into `kept`
    for part in _ANGLES.split(symbol):
        if part == ">" and opened:
            del kept[opened.pop() :]
            continue
        if part == "<":
            opened.append(len(kept))
        kept.append(part)
    return "".join(kept)

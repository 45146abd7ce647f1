"""Name the FFI records of a capture: the Python stacks of its sites, and the handlers at the ends of its stacks."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache, partial
from pathlib import Path

from framedex.base.regularfile import read_regular
from framedex.index.write.records import FfiRecords, FrameRecord, HandlerRecord, SiteRecord
from framedex.ingest.naming import CaptureFrameNamer, build_python_record
from framedex.ingest.recorded_files import RecordedPaths
from framedex.model import Capture, NativeFrame
from framedex.programs.ffi import FfiJoins, Site, parse_ffi_joins
from framedex.programs.ffi.joins import PlainFrame
from framedex.sources.python_syntax import Definition, first_line, parse_python
from framedex.sources.releases import FunctionOrigins

_COMPREHENSIONS = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
_UNKNOWN_INSTRUCTION = 0


def name_ffi(capture: Capture, namer: CaptureFrameNamer, origins: FunctionOrigins) -> FfiRecords:
    """Join the FFI records of a capture, and name the frames of its sites. Handlers are named on demand."""
    joins = parse_ffi_joins(capture)
    return FfiRecords(
        joins=joins,
        sites=name_sites(capture, joins),
        name_handler=partial(name_handler, capture, namer, origins),
    )


def name_sites(capture: Capture, joins: FfiJoins) -> tuple[SiteRecord, ...]:
    """Return the sites that a capture describes, with their frames named."""
    naming = _SiteNaming(capture)
    return tuple(naming.build_record(site) for site in joins.sites.values())


def name_handler(
    capture: Capture, namer: CaptureFrameNamer, origins: FunctionOrigins, entry: int
) -> HandlerRecord | None:
    """Return the handler entered at a frame of a capture, in which the stack of a run ends."""
    frame = capture.frames[entry]
    if not isinstance(frame, NativeFrame) or frame.module < 0:
        return None
    signature, implementation = namer.ffi_handler(capture, frame, origins)
    return HandlerRecord(entry, signature, implementation)


class _SiteNaming:
    """Names the frames of sites, which have a file, a line and a qualified name, but not a first line."""

    def __init__(self, capture: Capture) -> None:
        self._paths = RecordedPaths.from_capture(capture)
        self._codes: dict[tuple[str, str], list[int]] = {}
        for code in capture.codes:
            self._codes.setdefault((code.filename, code.qualname), []).append(max(code.first_line, 1))

    def build_record(self, site: Site) -> SiteRecord:
        return SiteRecord(
            key=site.key,
            target=site.target,
            frames=tuple(self._build_frame(frame) for frame in reversed(site.frames)),
            user_frame=len(site.frames) - 1 - site.user_frame,
            from_metadata=site.from_metadata,
        )

    def _build_frame(self, frame: PlainFrame) -> FrameRecord:
        filename, line, qualname = frame
        first_line = self._first_line(filename, line, qualname)
        return build_python_record(self._paths, filename, qualname, first_line, _UNKNOWN_INSTRUCTION, line)

    def _first_line(self, filename: str, line: int, qualname: str) -> int:
        """Return the first line of the code object: from other stacks of the capture, else from its file, else `line`.

        Recorded stacks have the first line, and it is part of a function's identity.
        """
        if qualname == "<module>":
            return 1
        known = self._codes.get((filename, qualname)) or self._first_lines_in_file(filename).get(qualname, [])
        return max((first for first in known if first <= line), default=line)

    def _first_lines_in_file(self, filename: str) -> Mapping[str, list[int]]:
        path = self._paths.resolve(filename)
        try:
            status = None if path is None else Path(path).stat()
        except (OSError, ValueError):
            status = None
        return {} if path is None or status is None else _parse_first_lines(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=64)  # captures of one project have sites in the same files
def _parse_first_lines(path: str, _modified: int, _size: int) -> Mapping[str, list[int]]:
    """Return the first lines of the functions of a Python file, as in code objects, by qualified name."""
    found: dict[str, list[int]] = {}
    try:
        tree = parse_python(read_regular(Path(path)))
    except OSError:
        return found
    if tree is None:
        return found
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    while pending:
        node, prefix = pending.pop()
        name = _COMPREHENSIONS.get(type(node))
        if isinstance(node, Definition | ast.Lambda):
            name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
        if name is not None and isinstance(node, ast.expr | ast.stmt):
            found.setdefault(prefix + name, []).append(first_line(node))
            prefix += f"{name}." if isinstance(node, ast.ClassDef) else f"{name}.<locals>."
        pending.extend((child, prefix) for child in ast.iter_child_nodes(node))
    return found

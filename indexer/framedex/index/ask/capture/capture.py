"""`CaptureContents`: all queries for one capture, among them the names and lines of its binary frames."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from framedex.index.ask.capture.contents import read_boundary_totals, read_calls_of_boundary
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.file.values import build_location, to_signed, to_storable
from framedex.index.read.locations import read_builds
from framedex.index.read.subjects import CaptureQuery
from framedex.model import FrameRole, Language, Location, LocationEvidence

if TYPE_CHECKING:
    from framedex.index.file.conventions import Row
    from framedex.model import BinaryId, Check, FlameGraph, Timeline
    from framedex.sources.releases import Build


_COLUMNS = (
    "fr.id, fr.depth, fn.language, fn.role, fn.name, fn.short_name, fn.symbol, fn.mangled, fn.module, fn.unit,"
    " fn.first_line, fn.release, fn.is_release_known, fp.path, fn.line, fn.how, rp.path, fr.recorded_line,"
    " lp.path, fr.line, fr.how"
)

_TABLES = (
    "JOIN functions fn ON fn.id = fr.function LEFT JOIN files fp ON fp.id = fn.file"
    " LEFT JOIN files rp ON rp.id = fr.recorded_file LEFT JOIN files lp ON lp.id = fr.file"
)


class NamedFrame(NamedTuple):
    """A logical frame of a binary: `recorded` is its exact line as recorded, `found` is any other line.

    `candidates` are the other possible lines, the likeliest first.
    """

    id: int
    depth: int
    language: Language
    role: FrameRole
    name: str
    short_name: str
    symbol: str
    mangled: str
    module: str
    unit: str
    first_line: int
    release: str
    is_release_known: bool
    place: Location | None
    recorded: Location | None
    found: Location | None
    candidates: tuple[Location, ...]


def named_frames(subject: CaptureQuery, binary: BinaryId, offsets: Collection[int]) -> Mapping[int, list[NamedFrame]]:
    """Return the logical frames, outermost first, by offset in a binary: return addresses relative to its base."""
    stored = {to_signed(offset): offset for offset in offsets}
    found: dict[int, list[NamedFrame]] = {}
    rows = subject.reader.rows(
        f"SELECT fr.offset, {_COLUMNS} FROM modules m JOIN frames fr ON fr.module = m.id {_TABLES}"
        f" WHERE m.path = ?1 AND m.build_id = ?2 AND m.fingerprint = ?3 AND fr.offset {IN_JSON.replace('?', '?4')}"
        " ORDER BY fr.offset, fr.depth",
        *(to_storable(binary.path), binary.build_id, binary.fingerprint, build_json_list(stored)),
    )
    candidates = _read_candidates(subject, [columns[1] for columns in rows])
    for offset, *columns in rows:
        frame = _build_frame(tuple(columns))
        found.setdefault(stored[offset], []).append(frame._replace(candidates=tuple(candidates.get(frame.id, ()))))
    return found


def _read_candidates(subject: CaptureQuery, frames: Sequence[int]) -> Mapping[int, list[Location]]:
    found: dict[int, list[Location]] = {}
    for frame, *columns in subject.reader.rows(
        "SELECT x.frame, f.path, x.line, x.how FROM candidates x JOIN files f ON f.id = x.file"
        f" WHERE x.frame {IN_JSON} ORDER BY x.frame, x.rank",
        build_json_list(frames),
    ):
        location = build_location(*columns)
        if location is not None:
            found.setdefault(frame, []).append(location)
    return found


def named_handler(subject: CaptureQuery, frame: int) -> tuple[str | None, NamedFrame | None] | None:
    """Return (signature as JSON, implementation) of the FFI handler entered at a frame, or None."""
    row = subject.reader.row("SELECT signature, implementation FROM ffi_handlers WHERE frame = ?", frame)
    if row is None:
        return None
    signature, implementation = row
    rows = subject.reader.rows(f"SELECT {_COLUMNS} FROM frames fr {_TABLES} WHERE fr.id = ?", implementation)
    return signature, next(map(_build_frame, rows), None)


def read_recorded_builds(subject: CaptureQuery) -> tuple[Build, ...]:
    """Return the recorded components."""
    return tuple(read_builds(subject.reader, subject.capture))


def recorded_states(subject: CaptureQuery, path: str) -> set[str]:
    """Return the git blob ids of a file's recorded states; empty texts for unknown ones."""
    query = "SELECT v.blob FROM file_versions v JOIN files f ON f.id = v.file WHERE f.path = ?"
    return {blob for (blob,) in subject.reader.rows(query, to_storable(path))}


def _build_frame(columns: Row) -> NamedFrame:
    recorded_path, recorded_line, path, line, how = columns[16:]
    recorded = build_location(recorded_path, recorded_line, LocationEvidence.EXACT)
    found = None if recorded is not None else build_location(path, line, how)
    kind = (Language(columns[2]), FrameRole(columns[3]))
    known = (bool(columns[12]), build_location(*columns[13:16]))
    return NamedFrame._make((*columns[:2], *kind, *columns[4:12], *known, recorded, found, ()))


class CaptureContents(CaptureQuery):
    """The contents of one capture. These queries may read the whole capture."""

    boundaries = read_boundary_totals
    calls = read_calls_of_boundary
    builds = read_recorded_builds
    named_frames = named_frames
    named_handler = named_handler
    recorded_states = recorded_states

    def check(self) -> Check:
        """The problems of the capture; see `check_capture`."""
        from framedex.index.ask.capture.check import check_capture

        return check_capture(self)

    def flame_graph(
        self, boundary: int | None = None, *, with_glue: bool = True, max_nodes: int | None = None
    ) -> FlameGraph:
        """Return the flame graph of the capture, or of one `boundary` function's calls (its id); see `flame.py`."""
        from framedex.index.ask.capture.flame import MAX_NODES, build_flame_graph

        return build_flame_graph(
            self, boundary, with_glue=with_glue, max_nodes=MAX_NODES if max_nodes is None else max_nodes
        )

    def timeline(self) -> Timeline:
        """Return the activity of the capture's threads over time; see `timeline.py`."""
        from framedex.index.ask.capture.timeline import build_timeline

        return build_timeline(self)

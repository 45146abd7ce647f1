"""The index data of recorded binary frames: names, lines and FFI handlers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

from framedex.index.file.conventions import IN_JSON, json_list
from framedex.index.file.values import location, signed, storable
from framedex.index.read.urls import builds
from framedex.model import How, Language, Location, Role

if TYPE_CHECKING:
    from framedex.index.file.conventions import Row
    from framedex.index.read.asked import AskedCapture
    from framedex.model import BinaryId
    from framedex.releases import Build


class NamedFrame(NamedTuple):
    """A logical frame of a binary: `recorded` is its exact line as recorded, `found` is any other line."""

    id: int
    depth: int
    language: Language
    role: Role
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


def named_frames(asked: AskedCapture, binary: BinaryId, offsets: Collection[int]) -> Mapping[int, list[NamedFrame]]:
    """Return the logical frames, outermost first, by offset in a binary: return addresses relative to its base."""
    stored = {signed(offset): offset for offset in offsets}
    found: dict[int, list[NamedFrame]] = {}
    rows = asked.reader.rows(
        f"SELECT fr.offset, {_COLUMNS} FROM modules m JOIN frames fr ON fr.module = m.id {_TABLES}"
        f" WHERE m.path = ?1 AND m.build_id = ?2 AND m.fingerprint = ?3 AND fr.offset {IN_JSON.replace('?', '?4')}"
        " ORDER BY fr.offset, fr.depth",
        *(storable(binary.path), binary.build_id, binary.fingerprint, json_list(stored)),
    )
    for offset, *columns in rows:
        found.setdefault(stored[offset], []).append(_frame(tuple(columns)))
    return found


def named_handler(asked: AskedCapture, frame: int) -> tuple[str | None, NamedFrame | None] | None:
    """Return (signature as JSON, implementation) of the FFI handler entered at a frame, or None."""
    row = asked.reader.row("SELECT signature, implementation FROM ffi_handlers WHERE frame = ?", frame)
    if row is None:
        return None
    signature, implementation = row
    rows = asked.reader.rows(f"SELECT {_COLUMNS} FROM frames fr {_TABLES} WHERE fr.id = ?", implementation)
    return signature, next(map(_frame, rows), None)


def recorded_builds(asked: AskedCapture) -> tuple[Build, ...]:
    """Return the recorded components."""
    return tuple(builds(asked.reader, asked.capture))


def recorded_states(asked: AskedCapture, path: str) -> set[str]:
    """Return the git blob ids of a file's recorded states; empty texts for unknown ones."""
    query = "SELECT v.blob FROM file_versions v JOIN files f ON f.id = v.file WHERE f.path = ?"
    return {blob for (blob,) in asked.reader.rows(query, storable(path))}


_COLUMNS = (
    "fr.id, fr.depth, fn.language, fn.role, fn.name, fn.short_name, fn.symbol, fn.mangled, fn.module, fn.unit,"
    " fn.first_line, fn.release, fn.is_release_known, fp.path, fn.line, fn.how, rp.path, fr.recorded_line,"
    " lp.path, fr.line, fr.how"
)
_TABLES = (
    "JOIN functions fn ON fn.id = fr.function LEFT JOIN files fp ON fp.id = fn.file"
    " LEFT JOIN files rp ON rp.id = fr.recorded_file LEFT JOIN files lp ON lp.id = fr.file"
)


def _frame(columns: Row) -> NamedFrame:
    recorded_path, recorded_line, path, line, how = columns[16:]
    recorded = location(recorded_path, recorded_line, How.EXACT)
    found = None if recorded is not None else location(path, line, how)
    kind = (Language(columns[2]), Role(columns[3]))
    known = (bool(columns[12]), location(*columns[13:16]))
    return NamedFrame._make((*columns[:2], *kind, *columns[4:12], *known, recorded, found))

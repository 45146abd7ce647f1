"""Python call sites of FFI targets, and the sites of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from framedex.index.file.conventions import IN_JSON, Row, build_json_list
from framedex.index.file.paths import is_installed
from framedex.index.read.rows import Reader, read_frame_chain, read_frames_by_id
from framedex.model import FfiSite, FrameRow, HandlerOrigin, PythonLine, SiteEvidence


def find_origin(reader: Reader, call_id: int) -> HandlerOrigin | None:
    """Return the call site of a run, or its candidates; None for other calls and without a known site."""
    rows = reader.rows(
        "SELECT j.how, k.site FROM ffi_runs r JOIN ffi_joins j ON j.id = r.join_id"
        " JOIN ffi_candidates k ON k.join_id = j.id WHERE r.call = ?",
        call_id,
    )
    sites = read_sites_by_id(reader, {site for _, site in rows})
    return HandlerOrigin(SiteEvidence(rows[0][0]), tuple(sites[site] for _, site in rows)) if rows else None


def read_sites_by_id(reader: Reader, ids: Iterable[int]) -> dict[int, FfiSite]:
    """Return the sites with these ids, by id."""
    rows = reader.rows(
        "SELECT s.id, s.key, s.target, s.leaf, n.depth, s.from_metadata FROM ffi_sites s"
        f" LEFT JOIN nodes n ON n.id = s.user_node WHERE s.id {IN_JSON}",
        build_json_list(sorted(ids)),
    )
    chains = {row[0]: read_frame_chain(reader, row[3]) for row in rows if row[3]}
    frames = read_frames_by_id(reader, {frame for frames in chains.values() for frame in frames})
    return {row[0]: _build_site(row, [frames[frame] for frame in chains.get(row[0], ())]) for row in rows}


def _build_site(row: Row, frames: Sequence[FrameRow]) -> FfiSite:
    identifier, key, target, _, user_depth, from_metadata = row
    frames_outward = frames[: user_depth + 1][::-1] if user_depth is not None else []
    lines = [
        PythonLine(frame.function.name, frame.location)
        for place, frame in enumerate(frames_outward)
        if frame.location is not None and (place == 0 or not is_installed(frame.location.path))
    ]
    return FfiSite(identifier, key, target, tuple(lines), tuple(frames), bool(from_metadata))

"""Write the locations of functions and frames in the source."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace

from framedex.index.file.conventions import IN_JSON, build_json_list, json_item
from framedex.index.write import aggregates
from framedex.index.write.interning import build_location_columns, intern_files, store_candidates
from framedex.index.write.records import FramePlacement, FunctionPlacement
from framedex.index.write.versions import store_indexed_blobs
from framedex.model import Location

# Frames with a recorded file whose stored location differs from the new one: the given location, else the recorded
# one. If a C++ frame has no exact location, its location from source trees stays.
_MOVED_FRAMES = f"""
    WITH given AS MATERIALIZED (
        SELECT {json_item(0)} AS frame, {json_item(1)} AS file, {json_item(2)} AS line, {json_item(3)} AS how
        FROM json_each(?) s
    ), wanted AS (
        SELECT fr.id, fr.file, fr.line, fr.how, fr.module, coalesce(g.file, fr.recorded_file) AS new_file,
               coalesce(g.line, fr.recorded_line) AS new_line, coalesce(g.how, 'exact') AS new_how
        FROM frames fr LEFT JOIN given g ON g.frame = fr.id WHERE fr.recorded_file IS NOT NULL
    )
    SELECT new_file, new_line, new_how, id FROM wanted WHERE CASE
        WHEN new_how = 'exact' OR module IS NULL
        THEN file IS NOT new_file OR line IS NOT new_line OR how IS NOT new_how
        ELSE how IS 'exact' OR file IS NULL END
"""


def locate_recorded_frames(connection: sqlite3.Connection, placements: Sequence[FramePlacement]) -> None:
    """Store the locations of frames whose recorded files have another path here; others get the recorded one.

    A Python function gets the file of its frames.
    """
    files = intern_files(connection, {placed.location.path for placed in placements})
    given = [(placed.frame, *build_location_columns(placed.location, files)) for placed in placements]
    moved = connection.execute(_MOVED_FRAMES, (build_json_list(given),)).fetchall()
    if not moved:
        return
    connection.executemany("UPDATE frames SET file = ?, line = ?, how = ? WHERE id = ?", moved)
    frames = build_json_list([row[3] for row in moved])
    functions = f"id IN (SELECT function FROM frames WHERE id {IN_JSON})"
    connection.execute(
        "UPDATE functions SET (file, line, how) ="
        " (SELECT file, CASE how WHEN 'exact' THEN functions.first_line ELSE line END, how"
        " FROM frames WHERE function = functions.id ORDER BY how <> 'exact', id LIMIT 1)"
        f" WHERE recorded_file IS NOT NULL AND {functions}",
        (frames,),
    )
    connection.execute(f"INSERT OR IGNORE INTO unmatched SELECT short_name FROM functions WHERE {functions}", (frames,))
    aggregates.rebuild_line_totals(connection)


def locate_program_lines(connection: sqlite3.Connection, files: Mapping[str, str]) -> None:
    """Store the local files of program lines, by recorded file; other lines get the recorded file.

    The state of a line in a newly assigned file is unknown, except for the program's own files: their states are those
    of the recorded files.
    """
    ids = intern_files(connection, {*files, *files.values()})
    here = build_json_list((ids[recorded], ids[path]) for recorded, path in files.items())
    connection.execute(
        "WITH given AS MATERIALIZED ("
        f"SELECT {json_item(0)} AS recorded, {json_item(1)} AS file FROM json_each(?) s), wanted AS ("
        "SELECT fr.id, coalesce(g.file, fr.recorded_file) AS file FROM program_frames fr"
        " LEFT JOIN given g ON g.recorded = fr.recorded_file)"
        " UPDATE program_frames SET file = w.file,"
        " version = (SELECT v.id FROM file_versions v WHERE v.id = program_frames.version AND v.is_own) FROM wanted w"
        " WHERE program_frames.id = w.id AND program_frames.file IS NOT w.file",
        (here,),
    )


def write_placements(
    connection: sqlite3.Connection, placements: Sequence[FunctionPlacement], frames: Sequence[FramePlacement]
) -> None:
    """Store the locations of functions, also for their frames without a line of their own.

    `frames` are the frames whose calls were found. Exact lines stay.
    """
    spots = [spot for placed in placements for spot in (placed.location, *placed.candidates) if spot]
    spots += [spot for placed in frames for spot in (placed.location, *placed.candidates)]
    files = intern_files(connection, {spot.path for spot in spots})
    own = build_json_list([placed.frame for placed in frames])
    store_indexed_blobs(connection, files.values())
    are_counted = [_write_placement(connection, placement, files, own) for placement in placements]
    are_counted += [_write_frame_location(connection, placed, files) for placed in frames]
    if any(are_counted):
        aggregates.rebuild_line_totals(connection)
    connection.execute("DELETE FROM unmatched")


_IS_COUNTED = "EXISTS (SELECT 1 FROM nodes n WHERE n.frame = frames.id AND n.run > 0)"
"""Whether calls of a frame are in the totals of lines."""


def _write_frame_location(connection: sqlite3.Connection, placed: FramePlacement, files: Mapping[str, int]) -> bool:
    """Store the location of a frame; return whether it moved and is counted."""
    where = build_location_columns(placed.location, files)
    connection.execute("DELETE FROM candidates WHERE frame = ?", (placed.frame,))
    store_candidates(connection, placed.frame, _read_stored_candidates(placed), files)
    moved = connection.execute(
        "UPDATE frames SET file = ?, line = ?, how = ?"
        f" WHERE id = ? AND (file IS NOT ? OR line IS NOT ? OR how IS NOT ?) RETURNING {_IS_COUNTED}",
        (*where, placed.frame, *where),
    ).fetchall()
    return (1,) in moved


def _read_stored_candidates(placed: FramePlacement) -> Sequence[Location]:
    """The candidates of a frame; for a range its last line, which `fold_range` reads."""
    last = placed.location.last_line
    return placed.candidates if last is None else (replace(placed.location, line=last),)


def _write_placement(
    connection: sqlite3.Connection, placement: FunctionPlacement, files: Mapping[str, int], own: str
) -> bool:
    """Store one placement, except for the frames in `own`; return whether a counted frame moved."""
    where = build_location_columns(placement.location, files)
    connection.execute(
        "UPDATE functions SET file = ?2, line = ?3, how = ?4, end_line = CASE"
        " WHEN ?5 > 0 OR ?2 IS NULL THEN ?5"
        " ELSE coalesce((SELECT max(line) FROM frames WHERE function = ?1 AND file = ?2 AND how = 'exact'), 0) END"
        " WHERE id = ?1",
        (placement.function, *where, placement.end_line),
    )
    open_frames = f"function = ? AND module IS NOT NULL AND how IS NOT 'exact' AND id NOT {IN_JSON}"
    if placement.location is None:  # a location found by a recorded path stays
        open_frames += " AND recorded_file IS NULL"
    moved = connection.execute(
        f"UPDATE frames SET file = ?, line = ?, how = ? WHERE {open_frames}"
        f" AND (file IS NOT ? OR line IS NOT ? OR how IS NOT ?) RETURNING {_IS_COUNTED}",
        (*where, placement.function, own, *where),
    ).fetchall()
    connection.execute(
        f"DELETE FROM candidates WHERE frame IN (SELECT id FROM frames WHERE {open_frames})",
        (placement.function, own),
    )
    for rank, candidate in enumerate(placement.candidates):
        connection.execute(
            "INSERT INTO candidates(frame, rank, file, line, how)"
            f" SELECT id, ?, ?, ?, ? FROM frames WHERE {open_frames}",
            (rank, *build_location_columns(candidate, files), placement.function, own),
        )
    return (1,) in moved

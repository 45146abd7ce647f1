"""Which calls a filter lets pass, as SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from framedex.index.ask.call.objects import calls_of_object
from framedex.index.file.conventions import IN_JSON, Row, json_list
from framedex.index.read.rows import Reader
from framedex.model import CallFilter

_FILE_AND_LINE = re.compile(r"(?P<path>.+):(?P<line>\d+)")


def call_ranges(reader: Reader, capture: int | None) -> Iterator[tuple[int, int]]:
    """The first and last call id of each capture that has calls, the latest capture first."""
    for identifier, first, last in reader.rows(
        "SELECT id, first_call, last_call FROM captures WHERE calls > 0 ORDER BY started DESC, id DESC"
    ):
        if capture is None or identifier == capture:
            yield first, last


def conditions(reader: Reader, wanted: CallFilter) -> tuple[str, list[object]]:
    """The filter as SQL that continues a WHERE clause over `calls c`, and its parameters."""
    parts: list[str] = []
    parameters: list[object] = []

    def require(condition: str, *values: object) -> None:
        parts.append(f" AND {condition}")
        parameters.extend(values)

    if wanted.function is not None:
        require(f"c.boundary {IN_JSON}", json_list(_boundaries_meant(reader, wanted.function)))
    if wanted.thread is not None:
        threads = reader.rows(
            "SELECT id FROM threads WHERE instr(lower(name), lower(?1)) > 0 OR CAST(tid AS TEXT) = ?1"
            " OR lower(label) = lower(?1)",
            wanted.thread,
        )
        require(f"c.thread {IN_JSON}", json_list([thread for (thread,) in threads]))
    if wanted.after is not None:
        require("c.start >= ?", wanted.after)
    if wanted.before is not None:
        require("c.start <= ?", wanted.before)
    if wanted.through is not None:
        require(f"c.stack {IN_JSON}", json_list(_stacks_containing(reader, wanted.through)))
    if wanted.errors_only:
        require("c.error > 0")
    if wanted.slower_than is not None:
        require("(c.duration > ? OR c.duration < 0)", wanted.slower_than)
    if wanted.object is not None:
        condition, values = calls_of_object(reader, wanted.object, wanted.capture)
        require(condition, *values)
    return "".join(parts), parameters


def _boundaries_meant(reader: Reader, names: str) -> list[int]:
    """The ids of the boundary functions meant by names, parts of names and patterns, with commas between."""
    found: set[int] = set()
    for name in filter(None, (part.strip() for part in names.split(","))):
        if any(character in name for character in "*?["):
            found.update(row[0] for row in reader.rows("SELECT id FROM boundaries WHERE name GLOB ?", name))
        else:
            found.update(row[0] for row in boundaries_like(reader, name))
    return sorted(found)


def boundaries_like(reader: Reader, name: str) -> list[Row]:
    """(id, name, calls) of the called boundary functions of exactly this name, else of those that contain it."""
    called = "SELECT b.id, b.name, sum(x.calls) FROM boundaries b JOIN stack_calls x ON x.boundary = b.id"
    exact = reader.rows(f"{called} WHERE b.name = ? GROUP BY b.id", name)
    return exact or reader.rows(
        f"{called} WHERE instr(lower(b.name), lower(?)) > 0 GROUP BY b.id ORDER BY b.name", name
    )


def _stacks_containing(reader: Reader, text: str) -> list[int]:
    """The stacks with a frame whose function or file contains the text, or that stands at FILE:LINE."""
    at = _FILE_AND_LINE.fullmatch(text)
    rows = reader.rows(
        "WITH RECURSIVE wanted(frame) AS ("
        " SELECT fr.id FROM frames fr JOIN functions fn ON fn.id = fr.function"
        " WHERE instr(lower(fn.name), lower(?1)) > 0 OR instr(lower(fn.symbol), lower(?1)) > 0"
        " UNION SELECT fr.id FROM frames fr JOIN files f ON f.id = fr.file WHERE instr(lower(f.path), lower(?1)) > 0"
        " UNION SELECT fr.id FROM frames fr JOIN files f ON f.id = fr.file"
        " WHERE fr.line = ?3 AND instr(lower(f.path), lower(?2)) > 0"
        "), under(node) AS ("
        " SELECT id FROM nodes WHERE frame IN wanted"
        " UNION SELECT n.id FROM under u JOIN nodes n ON n.parent = u.node"
        ") SELECT id FROM stacks WHERE leaf IN under OR python_leaf IN under OR site_leaf IN under",
        text,
        at["path"] if at else None,
        int(at["line"]) if at else None,
    )
    return [stack for (stack,) in rows]

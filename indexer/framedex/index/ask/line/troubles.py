"""Problems of the data about one file that a reader must know before trusting its lines."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from framedex.index.read.asked import AskedFile
from framedex.index.read.rows import Reader
from framedex.model import FileTrouble, Join
from framedex.words import clock, count

_MOST_SITES = 50


def file_troubles(file: AskedFile) -> list[FileTrouble]:
    """Return the problems of the file's data, file-wide ones first; empty if nothing was recorded.

    Reported are a file changed since its recording, calls into binaries without symbols, and ambiguous `ffi_call`
    sites.
    """
    reader, number = file.reader, file.id
    first = reader.row("SELECT min(line) FROM line_calls WHERE file = ?", number)
    if first is None or first[0] is None:
        return []
    found = [*_stale(file)]
    for state in file.states():
        where = file.in_state("fr", state)
        for trouble in (*_without_symbols(reader, where), *_ambiguous_sites(reader, where)):
            line = state.now(trouble.line)
            if line is not None:
                found.append(replace(trouble, line=line))
    return list(dict.fromkeys(found))


def _stale(file: AskedFile) -> list[FileTrouble]:
    """Report a file that changed after its recording, so that its lines have moved."""
    row = file.reader.row(
        "SELECT max(p.started) FROM line_calls l JOIN calls c ON c.id = l.latest_call"
        " JOIN captures p ON p.id = c.capture WHERE l.file = ?",
        file.id,
    )
    change = file.change()
    file_now = file.reader.memory.file(file.path)
    if row is None or row[0] is None or change is None or file_now is None:
        return []
    now = (
        "record it again, its recorded text is not known"
        if change.lines is None
        else "lines are shown where they are now"
    )
    message = f"Changed {clock(file_now.modified / 1e9)}, after the latest recording of it ({clock(row[0])}): {now}."
    return [FileTrouble("stale-source", 1, message)]


def _without_symbols(reader: Reader, condition: str) -> list[FileTrouble]:
    """Report, once per binary, the first line that calls into a binary without symbols."""
    rows = reader.rows(
        "SELECT m.path, min(fr.line), count(DISTINCT t.id) FROM frames fr JOIN steps s ON s.origin = fr.id"
        " JOIN frames t ON t.id = s.target JOIN functions fn ON fn.id = t.function JOIN modules m ON m.id = t.module"
        f" WHERE {condition} AND fn.symbol = '' AND fn.language = 'native' GROUP BY m.id ORDER BY min(fr.line), m.path"
    )
    return [
        FileTrouble(
            "missing-symbols",
            line,
            f"{count(frames, 'frame')} called from here in {Path(module).name} without a name: it has no symbols.",
        )
        for module, line, frames in rows
    ]


def _ambiguous_sites(reader: Reader, condition: str) -> list[FileTrouble]:
    """Report the lines of `ffi_call` sites whose runs may belong to another site."""
    rows = reader.rows(
        "SELECT fr.line, x.target, count(DISTINCT r.call) FROM ffi_sites x JOIN nodes n ON n.id = x.user_node"
        " JOIN frames fr ON fr.id = n.frame JOIN ffi_candidates k ON k.site = x.id"
        " JOIN ffi_joins j ON j.id = k.join_id JOIN ffi_runs r ON r.join_id = j.id"
        f" WHERE {condition} AND j.how = ? GROUP BY fr.line, x.target ORDER BY fr.line, x.target LIMIT ?",
        Join.AMBIGUOUS.value,
        _MOST_SITES,
    )
    return [
        FileTrouble(
            "ambiguous-site",
            line,
            f"{count(runs, 'run')} of {target} may be of this ffi_call or of another: not counted.",
        )
        for line, target, runs in rows
    ]

"""How well the source trees are known: what was read, and what was wrong with it."""

from __future__ import annotations

import json
import re

from framedex.index.rows import Reader
from framedex.model import SourceHealth, SourceProblem, SourceTotals

_EXAMPLES = 3
_NUMBER = re.compile(r"(?<![-\w])\d+")


def source_health(reader: Reader) -> SourceHealth:
    """The state of all source files in the index."""
    roots = reader.rows("SELECT path FROM source_roots ORDER BY id")
    macros = reader.rows("SELECT count(*) FROM macros")[0][0]
    return SourceHealth(tuple(path for (path,) in roots), _totals(reader), macros, _problems(reader))


def knows_source(reader: Reader, path: str) -> bool:
    """Whether a source file is in the index, or would be if it was there when its tree was read."""
    row = reader.row(
        "SELECT 1 FROM source_files WHERE file = (SELECT id FROM files WHERE path = ?1)"
        " UNION ALL SELECT 1 FROM source_roots WHERE substr(?1, 1, length(path) + 1) = path || '/' LIMIT 1",
        path,
    )
    return row is not None


def _totals(reader: Reader) -> tuple[SourceTotals, ...]:
    definitions = reader.rows(
        "SELECT s.language, count(*), sum(d.is_broken), count(c.definition) FROM definitions d"
        " JOIN source_files s ON s.file = d.file LEFT JOIN call_sites c ON c.definition = d.id GROUP BY s.language"
    )
    by_language = {row[0]: row[1:] for row in definitions}
    files = reader.rows(
        "SELECT language, count(*), sum(errors > 0) FROM source_files GROUP BY language ORDER BY 2 DESC"
    )
    return tuple(SourceTotals(*row, *by_language.get(row[0], (0, 0, 0))) for row in files)


def _problems(reader: Reader) -> tuple[SourceProblem, ...]:
    files: dict[str, list[str]] = {}
    found = "SELECT f.path, s.problems FROM source_files s JOIN files f ON f.id = s.file"
    for path, problems in reader.rows(f"{found} WHERE s.problems <> '[]' ORDER BY f.path"):
        for problem in json.loads(problems):
            files.setdefault(_NUMBER.sub("…", problem), []).append(path)
    broken = reader.rows(f"{found} WHERE s.errors > 0 ORDER BY s.errors DESC, f.path")
    if broken:
        files["Some of it could not be read as its language."] = [path for path, _ in broken]
    ordered = sorted(files.items(), key=lambda item: -len(item[1]))
    return tuple(SourceProblem(message, len(paths), tuple(paths[:_EXAMPLES])) for message, paths in ordered)

"""Suggestions for a name that was not found.

Only used after a search without results, because it scans names one by one.
"""

from __future__ import annotations

import re

from framedex.index.ask.name.fits import words_of
from framedex.index.file.installed import is_own
from framedex.index.read.rows import Reader
from framedex.nearest import nearest

_MOST = 50_000  # limit of names scanned
_LIKENESS = 0.75  # difflib ratio: higher than for a few words, since among thousands of names some are always similar
_SCOPES = re.compile(r"::|\.")


def likely_function(reader: Reader, name: str) -> str | None:
    """Return the called or compiled function whose name is most similar to this one; the user's own first."""
    of_scope = bool(_SCOPES.search(name))
    column = "name" if of_scope else "short_name"
    rows = reader.rows(f"SELECT DISTINCT {column}, module FROM functions WHERE calls > 0 LIMIT ?", _MOST)
    inside = reader.rows("SELECT DISTINCT function FROM program_frames WHERE function <> '' LIMIT ?", _MOST)
    own = [known for known, module in rows if is_own(module)]
    own += [function if of_scope else function.rpartition(".")[2] for (function,) in inside]
    return nearest(name, own, _LIKENESS) or nearest(name, [known for known, _ in rows], _LIKENESS)


def likely_boundary(reader: Reader, name: str) -> str | None:
    """Return the called boundary function, or a word of one, most similar to this name."""
    query = "SELECT name FROM boundaries b WHERE EXISTS (SELECT 1 FROM call_kinds WHERE boundary = b.id) LIMIT ?"
    return _name_or_word(name, [known for (known,) in reader.rows(query, _MOST)])


def likely_symbol(reader: Reader, name: str) -> str | None:
    """Return the recorded name, or a word of one, most similar to this name."""
    query = "SELECT name FROM names WHERE is_recorded LIMIT ?"
    return _name_or_word(name, [known for (known,) in reader.rows(query, _MOST)])


def _name_or_word(name: str, names: list[str]) -> str | None:
    parts = {word for known in names for word in words_of(known)}
    return nearest(name, names, _LIKENESS) or nearest(name, sorted(parts), _LIKENESS)

"""The recorded name that somebody may have meant who wrote one that is not there.

Only asked where nothing was found: it looks through names one by one.
"""

from __future__ import annotations

import re

from framedex.index.ask.name.fits import words_of
from framedex.index.file.installed import is_own
from framedex.index.read.rows import Reader
from framedex.nearest import nearest

_MOST = 50_000  # names that are looked through
_LIKENESS = 0.75  # of difflib: more than for a few words, since of thousands of names some are always a little alike
_SCOPES = re.compile(r"::|\.")


def likely_function(reader: Reader, name: str) -> str | None:
    """The called function, or one that programs name, whose name is most like this one; the user's own first."""
    of_scope = bool(_SCOPES.search(name))
    column = "name" if of_scope else "short_name"
    rows = reader.rows(f"SELECT DISTINCT {column}, module FROM functions WHERE calls > 0 LIMIT ?", _MOST)
    inside = reader.rows("SELECT DISTINCT function FROM program_frames WHERE function <> '' LIMIT ?", _MOST)
    own = [known for known, module in rows if is_own(module)]
    own += [function if of_scope else function.rpartition(".")[2] for (function,) in inside]
    return nearest(name, own, _LIKENESS) or nearest(name, [known for known, _ in rows], _LIKENESS)


def likely_boundary(reader: Reader, name: str) -> str | None:
    """The name of a boundary function that was called, or a word of one, most like this one."""
    query = "SELECT name FROM boundaries b WHERE EXISTS (SELECT 1 FROM call_kinds WHERE boundary = b.id) LIMIT ?"
    return _name_or_word(name, [known for (known,) in reader.rows(query, _MOST)])


def likely_symbol(reader: Reader, name: str) -> str | None:
    """The recorded name, or a word of one, most like this one."""
    query = "SELECT name FROM names WHERE is_recorded LIMIT ?"
    return _name_or_word(name, [known for (known,) in reader.rows(query, _MOST)])


def _name_or_word(name: str, names: list[str]) -> str | None:
    parts = {word for known in names for word in words_of(known)}
    return nearest(name, names, _LIKENESS) or nearest(name, sorted(parts), _LIKENESS)

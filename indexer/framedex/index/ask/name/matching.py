"""How a text matches a name, and suggestions for unknown names.

All commands that take names, and editor searches, use the same order of matches. Suggestions scan names one by one, so
they are only used after a search without results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum

from framedex.base.words import find_nearest_name
from framedex.index.file.paths import is_user_file
from framedex.index.read.rows import Reader

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_LOCALS = ".<locals>"


_MAX_NAMES = 50_000  # limit of names scanned

_MIN_SIMILARITY = (
    0.75  # difflib ratio: higher than for a few words, since among thousands of names some are always similar
)

_SCOPES = re.compile(r"::|\.")


class MatchQuality(IntEnum):
    """Kinds of match, best first: outside full listings, a worse match is dropped if a better one exists."""

    NAME = 1
    ANY_CASE = 2  # the name in another case: `loss` for `Loss`
    WORDS = 3  # whole words of the name: `Buffer` in `PJRT_Buffer_Destroy` and in `CopyBuffer`
    BEGINNING = 4
    WORD_BEGINNING = 5  # `Exec` in `PJRT_LoadedExecutable_Execute`
    PART = 6

    @property
    def is_name(self) -> bool:
        """Whether the query is the whole name, not a part of it."""
        return self <= MatchQuality.ANY_CASE


def match_name(name: str, wanted: str) -> MatchQuality | None:
    """Return how a text matches a name without scopes, or None if the name does not contain it."""
    if name == wanted:
        return MatchQuality.NAME
    lower, part = name.lower(), wanted.lower()
    if lower == part:
        return MatchQuality.ANY_CASE
    places = list(_find_positions(lower, part))
    if not places:
        return None
    # Lower case can lengthen a text (a dotted I), which shifts its positions.
    begins, ends = _find_word_borders(name if len(name) == len(lower) else lower)
    if any(place in begins and place + len(part) in ends for place in places):
        return MatchQuality.WORDS
    if places[0] == 0:
        return MatchQuality.BEGINNING
    return MatchQuality.WORD_BEGINNING if not begins.isdisjoint(places) else MatchQuality.PART


def match_function(name: str, short_name: str, wanted: str) -> MatchQuality | None:
    """Return how a text matches a function: its full name, its last parts (`Trainer.step`), or as `match_name` does."""
    bare, wanted_name = name.replace(_LOCALS, ""), wanted.replace(_LOCALS, "")
    if wanted in (name, short_name) or _ends_with(bare, wanted_name):
        return MatchQuality.NAME
    if wanted.lower() in (name.lower(), short_name.lower()) or _ends_with(bare.lower(), wanted_name.lower()):
        return MatchQuality.ANY_CASE
    found = [each for each in (match_name(short_name, wanted), match_name(bare, wanted_name)) if each is not None]
    return min(found, default=None)


def split_words(name: str) -> list[str]:
    """Return the words of a name in snake_case or CamelCase."""
    return _WORD.findall(name)


def _ends_with(name: str, wanted: str) -> bool:
    return name == wanted or name.endswith((f"::{wanted}", f".{wanted}"))


def _find_positions(name: str, part: str) -> Iterator[int]:
    place = name.find(part)
    while part and place >= 0:
        yield place
        place = name.find(part, place + 1)


def _find_word_borders(name: str) -> tuple[set[int], set[int]]:
    """Return the start and end positions of the words of a snake_case or CamelCase name."""
    words = list(_WORD.finditer(name))
    return {word.start() for word in words}, {word.end() for word in words}


def suggest_function(reader: Reader, name: str) -> str | None:
    """Return the called or compiled function whose name is most similar to this one; the user's own first."""
    of_scope = bool(_SCOPES.search(name))
    column = "name" if of_scope else "short_name"
    rows = reader.rows(f"SELECT DISTINCT {column}, module FROM functions WHERE calls > 0 LIMIT ?", _MAX_NAMES)
    inside = reader.rows("SELECT DISTINCT function FROM program_frames WHERE function <> '' LIMIT ?", _MAX_NAMES)
    own = [known for known, module in rows if is_user_file(module)]
    own += [function if of_scope else function.rpartition(".")[2] for (function,) in inside]
    return find_nearest_name(name, own, _MIN_SIMILARITY) or find_nearest_name(
        name, [known for known, _ in rows], _MIN_SIMILARITY
    )


def suggest_boundary(reader: Reader, name: str) -> str | None:
    """Return the called boundary function, or a word of one, most similar to this name."""
    query = "SELECT name FROM boundaries b WHERE EXISTS (SELECT 1 FROM call_kinds WHERE boundary = b.id) LIMIT ?"
    return _suggest_name_or_word(name, [known for (known,) in reader.rows(query, _MAX_NAMES)])


def suggest_symbol(reader: Reader, name: str) -> str | None:
    """Return the recorded name, or a word of one, most similar to this name."""
    query = "SELECT name FROM names WHERE is_recorded LIMIT ?"
    return _suggest_name_or_word(name, [known for (known,) in reader.rows(query, _MAX_NAMES)])


def _suggest_name_or_word(name: str, names: list[str]) -> str | None:
    parts = {word for known in names for word in split_words(known)}
    return find_nearest_name(name, names, _MIN_SIMILARITY) or find_nearest_name(name, sorted(parts), _MIN_SIMILARITY)

"""Match the program lines of one recording with those of the other recording.

Lines move between commits, and the recordings may be of different checkouts. So lines are matched by function and
text. If neither file nor git has the text, they are matched by the functions that they called.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.regularfile import read_regular_text
from framedex.model import Staleness
from framedex.path_resolution.files import file_exists

if TYPE_CHECKING:
    from framedex.model import Location, PythonLine

LineText = Callable[["Location"], str]
CalledFunctions = Mapping["PythonLine", frozenset[str]]
Key = Callable[["PythonLine"], Hashable]


def remove_link(line: PythonLine | None) -> PythonLine | None:
    """Return the line without its link kind: the same line counts once, however its calls were linked to it."""
    return None if line is None else replace(line, link=None)


class LineTexts:
    """The contents of lines, read from unchanged local files; each file is read once."""

    def __init__(self) -> None:
        self._lines = cache(_read_lines)

    def __call__(self, location: Location) -> str:
        """Return the text without surrounding blanks; empty if unknown."""
        if location.stale in (Staleness.GONE, Staleness.UNKNOWN):
            return ""
        lines = self._lines(location.path)
        return lines[location.line - 1].strip() if 0 < location.line <= len(lines) else ""


def align_lines(
    before: CalledFunctions, after: CalledFunctions, text: LineText
) -> list[tuple[PythonLine | None, PythonLine | None]]:
    """Return the lines of two recordings in pairs, with None for a missing line.

    `before` and `after` map lines to the functions that they called. `text` returns the text of a line.
    """
    pairing = _LinePairing(before, after)
    pairing.match(_location_key)
    pairing.match(lambda line: _text_key(text(line.location), _file_name(line), line.function))
    pairing.match(lambda line: _text_key(text(line.location), line.function))
    pairing.match(lambda line: (_file_name(line), line.function, (before if line in pairing.left else after)[line]))
    pairing.match_single(
        lambda line: (_file_name(line), line.function), lambda one, other: _has_similar_calls(before[one], after[other])
    )
    pairing.match(lambda line: _text_key(text(line.location)))
    return [*pairing.pairs, *((line, None) for line in pairing.left), *((None, line) for line in pairing.right)]


class _LinePairing:
    """The unpaired lines of each side, sorted by file and line, and the pairs."""

    def __init__(self, before: Collection[PythonLine], after: Collection[PythonLine]) -> None:
        self.left = dict.fromkeys(sorted(before, key=_sort_key))
        self.right = dict.fromkeys(sorted(after, key=_sort_key))
        self.pairs: list[tuple[PythonLine | None, PythonLine | None]] = []

    def match(self, key: Key) -> None:
        """Pair lines with the same key, in order. A key of None matches nothing."""
        left, right = ([(line, key(line)) for line in side] for side in (self.left, self.right))
        left, right = ([each for each in side if each[1] is not None] for side in (left, right))
        matcher = SequenceMatcher(None, [each for _, each in left], [each for _, each in right], autojunk=False)
        for first, second, size in matcher.get_matching_blocks():
            for offset in range(size):
                self._pair(left[first + offset][0], right[second + offset][0])

    def match_single(self, key: Key, is_alike: Callable[[PythonLine, PythonLine], bool]) -> None:
        """Pair similar lines with a key that is unique on each side: a rewritten line."""
        left, right = (_find_unique_lines(side, key) for side in (self.left, self.right))
        for each, one in left.items():
            if each in right and is_alike(one, right[each]):
                self._pair(one, right[each])

    def _pair(self, one: PythonLine, other: PythonLine) -> None:
        del self.left[one], self.right[other]
        self.pairs.append((one, other))


def _location_key(line: PythonLine) -> Hashable:
    """Return the current location of a line; None if unknown."""
    if line.location.stale in (Staleness.GONE, Staleness.UNKNOWN):
        return None
    return line.location.path, line.location.line, line.function


def _text_key(text: str, *more: str) -> Hashable:
    return (text, *more) if text else None


def _has_similar_calls(before: frozenset[str], after: frozenset[str]) -> bool:
    """Whether two lines called more functions in common than different ones."""
    return len(before & after) > len(before ^ after)


def _find_unique_lines(lines: Collection[PythonLine], key: Key) -> dict[Hashable, PythonLine]:
    found: dict[Hashable, list[PythonLine]] = {}
    for line in lines:
        found.setdefault(key(line), []).append(line)
    return {each: of_key[0] for each, of_key in found.items() if len(of_key) == 1}


def _file_name(line: PythonLine) -> str:
    return line.location.path.rpartition("/")[2]


def _sort_key(line: PythonLine) -> tuple[str, str, int, str]:
    return _file_name(line), line.location.path, line.location.line, line.function


def _read_lines(path: str) -> list[str]:
    if not file_exists(path):
        return []
    try:
        return read_regular_text(Path(path)).splitlines()
    except OSError:
        return []

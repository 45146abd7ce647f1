"""The calls of functions and macros, read from their source on demand because most of a tree is never queried."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from framedex.model import Definition, is_local
from framedex.regularfile import read_regular, read_regular_text
from framedex.sources.callers import Called
from framedex.sources.calls import Span, WrittenCall, is_macro, kinds_called, known_calls, written_calls
from framedex.sources.implicit import implied_names, members_held
from framedex.sources.names import short_of

Candidate = tuple[str, Definition]

_MOST_NAMESAKES = 12  # a name shared by more functions is no evidence
_MOST_MACROS = 256  # macros expanded for one name
_LONGEST = 400  # lines; compilers inline no longer functions
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*(?:<[^<>(){};]*>)?\s*[({]")
_NO_CALL = re.compile(r"\b[A-Z]\w*\b(?!\s*\()")


class _Names(NamedTuple):
    """Called names, and the subset that are not macro names."""

    all: frozenset[str]
    of_functions: tuple[str, ...]


class Bodies:
    """The calls in source files. Caches all it reads, so use one object per task."""

    def __init__(
        self,
        definitions: Callable[[str], Sequence[Candidate]],
        written_in: Callable[[str], Mapping[Span, Sequence[WrittenCall]]],
        calls_in_bodies: Callable[[str, bool, int, int], Sequence[Counter[str]]] | None = None,
    ) -> None:
        """`definitions` returns the C++ definitions with a short name, `written_in` the calls of a file by function.

        `calls_in_bodies(name, is_member, most, longest)` replaces both. It returns, for each function or macro with
        this name, the called names and their counts. It skips functions with more than `longest` lines, and returns
        nothing if more than `most` definitions share the name. `is_member` excludes free functions.
        """
        self._definitions, self._written_in = definitions, written_in
        self._calls_in_bodies = calls_in_bodies or self._find_calls_in_bodies
        self._written: dict[str, Mapping[Span, Sequence[WrittenCall]]] = {}
        self._names: dict[tuple[str, bool], Sequence[Counter[str]]] = {}
        self._within: dict[tuple[str, bool], _Names] = {}
        self._reached: dict[tuple[str, bool, str, int], bool] = {}
        self._lines = lru_cache(maxsize=256)(_lines)

    def written(self, path: str) -> Mapping[Span, Sequence[WrittenCall]]:
        """The calls of a file by function; empty if the file is unreadable."""
        if path not in self._written:
            self._written[path] = self._written_in(path)
        return self._written[path]

    def reaches(self, site: WrittenCall, called: Called, hops: int) -> int:
        """Count how often the callee at `site` calls `called`, directly or through at most `hops - 1` other functions.

        Among functions with one name, the one with the most calls counts. An indirect call counts as 1; 0 means no
        call.
        """
        bodies = self._bodies(site.callee, site.is_member)
        direct = max((body[called.name] for body in bodies), default=0)
        return direct or int(self._reaches(site.callee, site.is_member, called.name, hops))

    def _reaches(self, name: str, is_member: bool, called: str, hops: int) -> bool:
        within = self._names_within(name, is_member)
        if hops == 1 or called in within.all:
            return called in within.all
        key = name, is_member, called, hops
        if key not in self._reached:
            self._reached[key] = any(self._reaches(inner, False, called, hops - 1) for inner in within.of_functions)
        return self._reached[key]

    def _names_within(self, name: str, is_member: bool) -> _Names:
        """The names called by functions and macros with this name.

        Macro calls are expanded: they do not count as a hop.
        """
        key = name, is_member
        if key not in self._within:
            found = dict.fromkeys(inner for body in self._bodies(name, is_member) for inner in body)
            macros = list(filter(is_macro, found))
            for macro in islice(macros, _MOST_MACROS):  # nested macros extend the list
                inner = dict.fromkeys(each for body in self._bodies(macro, False) for each in body if each not in found)
                found |= inner
                macros += filter(is_macro, inner)
            self._within[key] = _Names(
                frozenset(found), tuple(each for each in found if each != name and not is_macro(each))
            )
        return self._within[key]

    def _bodies(self, name: str, is_member: bool) -> Sequence[Counter[str]]:
        """The called names and their counts for each function with this name; member calls exclude free functions."""
        key = name, is_member
        if key not in self._names:
            self._names[key] = self._calls_in_bodies(name, is_member, _MOST_NAMESAKES, _LONGEST)
        return self._names[key]

    def _find_calls_in_bodies(self, name: str, is_member: bool, most: int, longest: int) -> Sequence[Counter[str]]:
        found = self._destroying(name) if name.startswith("~") else self._calling(name, is_member)
        return [self._called_in(name, *c, longest) for c in found] if len(found) <= most else []

    def _calling(self, name: str, is_member: bool) -> list[Candidate]:
        kinds = kinds_called(is_member) | {"class"}
        return [c for c in self._definitions(name) if c[1].kind in kinds and "::~" not in c[1].name]

    def _destroying(self, name: str) -> list[Candidate]:
        """The destructors with this name, and the classes they belong to, because these destroy their members."""
        found = self._definitions(name[1:])
        return [c for c in found if c[1].kind == "class" or (c[1].kind == "method" and c[1].name.endswith(f"::{name}"))]

    def _called_in(self, name: str, path: str, definition: Definition, longest: int) -> Counter[str]:
        if definition.end_line - definition.line > longest:
            return Counter()
        if not is_local(path):
            calls = self.written(path).get((definition.line, definition.end_line), ())
            return Counter(call.callee for call in calls)
        lines = self._lines(path)
        if definition.kind == "class":
            members = members_held(_text_of(lines, definition).encode())
            return Counter(f"~{each}" for each in members) if name.startswith("~") else members
        return names_called(lines, definition) + implied_names(_text_of(lines, definition).encode(), definition)


def bodies_in_trees(
    definitions: Callable[[str, str], Sequence[Candidate]], definitions_in: Callable[[str], Sequence[Definition]]
) -> Bodies:
    """The calls in indexed sources.

    `definitions` returns the definitions with a short name in a language, `definitions_in` those of a file, with calls.
    """
    return Bodies(lambda name: definitions(name, "cpp"), lambda path: calls_written_in(path, definitions_in(path)))


def calls_written_in(path: str, definitions: Sequence[Definition]) -> Mapping[Span, Sequence[WrittenCall]]:
    """The calls of a file with these definitions: from its text if the file is local, else from the definitions."""
    return written_calls(_read(path), definitions) if is_local(path) else known_calls(definitions)


def names_called(lines: Sequence[str], definition: Definition) -> Counter[str]:
    """The names that look like calls in the lines of a definition, with counts, without its own name."""
    body = _text_of(lines, definition)
    own = short_of(tuple(definition.name.split("::")))
    found = _CALL.findall(body)
    if definition.kind == "macro":
        found += filter(is_macro, _NO_CALL.findall(body))
    return Counter(called for called in found if called not in _KEYWORDS and called != own)


def _text_of(lines: Sequence[str], definition: Definition) -> str:
    return "\n".join(lines[definition.line - 1 : definition.end_line])


_KEYWORDS = frozenset(("if", "for", "while", "switch", "return", "sizeof", "decltype", "catch", "alignof", "defined"))


def _read(path: str) -> bytes:
    try:
        return read_regular(Path(path))
    except OSError:
        return b""


def _lines(path: str) -> list[str]:
    try:
        return read_regular_text(Path(path)).split("\n")
    except OSError:
        return []

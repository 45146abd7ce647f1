"""A source file in all its versions: what several of them have alike is there once.

A definition is kept with its calls as lines from its own first line on, so it is the same text wherever it has moved.
Each version is a list of definitions and the lines on which they begin.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from framedex.model import CallSite, Definition, DefinitionRow
from framedex.releasemaps.columns import differences, fold, pack, sums, unfold, unpack
from framedex.sourcemap import MalformedError

KINDS = (
    *("function", "method", "class", "lambda", "macro", "initializer"),
    *("message", "enum", "service", "record"),
)
"""What a definition can be: as in `Definition`, but for what is only declared, which no symbol stands for."""

CALL_KINDS = ("call", "argument", "new", "braces", "variable", "initializer", "operator")

BODIES = frozenset(("function", "method", "macro"))
"""The kinds whose calls another function can make by having them inlined."""

ABSENT = 255
"""Stands for the version of a release that does not have the file."""

_MOST_LINES = 1 << 31
_FIXED = 11  # columns between the texts and the versions


@dataclass(frozen=True, slots=True)
class _Stored:
    """A definition as it is the same in all versions that have it."""

    name: str
    key: str
    kind: str
    parameters: str | None
    length: int
    is_const: bool
    calls: tuple[tuple[int, str, str], ...]  # lines below the call before, kind, callee


class FileVersions:
    """The versions of one file, read as far as they are asked for: all raise MalformedError, or IndexError or
    ValueError where a number or a text is none."""

    def __init__(self, data: bytes) -> None:
        texts, *columns = unpack(data)
        _check(len(columns) >= _FIXED and not (len(columns) - _FIXED) % 2, "a column is missing")
        self._strings = str(texts, "utf-8").split("\0")
        self._releases, *of_definitions = columns[:8]
        self._scopes, self._names, self._keys, self._parameters, self._lengths, self._flags, counts = of_definitions
        self._call_lines, self._call_kinds, self._callees = columns[8:_FIXED]
        self._versions = columns[_FIXED:]
        self._ends = list(accumulate(counts))
        _check({len(column) for column in of_definitions} == {len(counts)}, "a definition is cut off")
        _check({len(column) for column in columns[8:_FIXED]} == {sum(counts)}, "a call is missing")

    def is_in(self, release: int) -> bool:
        """Whether a release has the file."""
        return release < len(self._releases) and self._releases[release] != ABSENT

    def rows(self, release: int, within: Collection[tuple[int, int]] | None = None) -> list[DefinitionRow]:
        """The definitions of the file in a release, with their calls; with `within` only those inside these lines."""
        found = []
        for number, line in self._version(release):
            end = line + self._lengths[number]
            if within is None or any(first <= line and end <= last for first, last in within):
                sites = [[site.line, site.column, site.kind, site.callee] for site in self._calls(number, line)]
                text = json.dumps(sites, ensure_ascii=False, separators=(",", ":")) if sites else None
                name, kind, parameters, is_const = self._described(number)
                found.append((name, self._key(number), kind, parameters, line, end, is_const, False, text))
        return found

    def definitions(self, release: int, key: str) -> list[Definition]:
        """The definitions that are looked up by `key`, without their calls."""
        return [self._definition(number, line) for number, line in self._of_key(release, key)]

    def calling(self, release: int) -> list[Definition]:
        """The definitions that call something, with their calls."""
        found = []
        for number, line in self._version(release):
            if calls := tuple(self._calls(number, line)):
                found.append(self._definition(number, line, calls))
        return found

    def bodies(self, release: int, key: str) -> Iterator[tuple[int, frozenset[str]]]:
        """How many lines follow the first of each function and macro of this key, and the names that it calls."""
        for number, _ in self._of_key(release, key):
            if KINDS[self._flags[number] >> 1] in BODIES:
                callees = self._callees[self._first_call(number) : self._ends[number]]
                yield self._lengths[number], frozenset(map(self._text, callees))

    def _of_key(self, release: int, key: str) -> Iterator[tuple[int, int]]:
        """The number and the first line of each definition of a version that is looked up by `key`."""
        try:
            wanted = self._strings.index(key) + 1
        except ValueError:
            return
        own = {
            i for i, (key_, name) in enumerate(zip(self._keys, self._names, strict=True)) if (key_ or name) == wanted
        }
        if own:
            yield from (each for each in self._version(release) if each[0] in own)

    def _version(self, release: int) -> list[tuple[int, int]]:
        """The number and the first line of each definition of a version, in the order of the file."""
        if not self.is_in(release):
            return []
        version = self._releases[release]
        _check(version * 2 < len(self._versions), "a version is missing")
        numbers, lines = (sums(column) for column in self._versions[version * 2 : version * 2 + 2])
        _check(len(numbers) == len(lines), "a version is cut off")
        _check(not numbers or (min(numbers) >= 0 and max(numbers) < len(self._names)), "a definition is missing")
        _check(not lines or (min(lines) >= 1 and max(lines) < _MOST_LINES), "a line is none")
        return list(zip(numbers, lines, strict=True))

    def _definition(self, number: int, line: int, calls: tuple[CallSite, ...] = ()) -> Definition:
        name, kind, parameters, is_const = self._described(number)
        return Definition(name, kind, parameters, line, line + self._lengths[number], is_const, calls)

    def _described(self, number: int) -> tuple[str, str, str | None, bool]:
        scope, parameters, flags = self._scopes[number], self._parameters[number], self._flags[number]
        name = self._text(self._names[number])
        qualified = f"{self._text(scope)}::{name}" if scope else name
        return qualified, KINDS[flags >> 1], self._text(parameters) if parameters else None, bool(flags & 1)

    def _key(self, number: int) -> str:
        return self._text(self._keys[number] or self._names[number])

    def _calls(self, number: int, line: int) -> Iterator[CallSite]:
        begin, end = self._first_call(number), self._ends[number]
        lines = list(accumulate(unfold(self._call_lines[begin:end]), initial=line))[1:]
        _check(not lines or (min(lines) >= 1 and max(lines) < _MOST_LINES), "a line is none")
        for at, kind, callee in zip(lines, self._call_kinds[begin:end], self._callees[begin:end], strict=True):
            yield CallSite(at, 0, CALL_KINDS[kind], self._text(callee))

    def _first_call(self, number: int) -> int:
        return self._ends[number - 1] if number else 0

    def _text(self, number: int) -> str:
        _check(number > 0, "a text is missing")
        return self._strings[number - 1]


def encode_versions(releases: Sequence[Sequence[DefinitionRow] | None]) -> bytes:
    """The data of `FileVersions`, of the definitions that the file has in each release; None where it is not there."""
    numbers: dict[_Stored, int] = {}
    versions: dict[bytes, int] = {}
    of_release = []
    for rows in reversed(releases):  # the newest first: what is asked for most has the smallest numbers
        of_release.append(
            ABSENT if rows is None else versions.setdefault(_encode_version(rows, numbers), len(versions))
        )
    _check(len(versions) < ABSENT, "there are too many versions")
    definitions = list(numbers)
    strings = _strings(definitions)
    calls = [call for each in definitions for call in each.calls]
    columns = (
        "\0".join(strings).encode(),
        of_release[::-1],
        [_number(strings, _split(each)[0]) for each in definitions],
        [strings[_split(each)[1]] for each in definitions],
        [0 if each.key == _split(each)[1] else strings[each.key] for each in definitions],
        [_number(strings, each.parameters) for each in definitions],
        [each.length for each in definitions],
        [KINDS.index(each.kind) << 1 | each.is_const for each in definitions],
        [len(each.calls) for each in definitions],
        fold(below for below, _, _ in calls),
        [CALL_KINDS.index(kind) for _, kind, _ in calls],
        [strings[callee] for _, _, callee in calls],
    )
    return b"".join((*map(pack, columns), *versions))


def texts_of(data: bytes) -> list[bytes]:
    """The texts that the versions of a file use, of what `encode_versions` gave."""
    return bytes(unpack(data)[0]).split(b"\0")


def _encode_version(rows: Sequence[DefinitionRow], numbers: dict[_Stored, int]) -> bytes:
    stored = [numbers.setdefault(_stored(row), len(numbers)) for row in rows]
    return pack(differences(stored)) + pack(differences(row[4] for row in rows))


def _stored(row: DefinitionRow) -> _Stored:
    name, key, kind, parameters, line, end_line, is_const, _, sites = row
    calls = []
    at = line
    for site_line, _, site_kind, callee, *_ in sorted(json.loads(sites), key=lambda site: site[:2]) if sites else ():
        calls.append((site_line - at, site_kind, callee))
        at = site_line
    return _Stored(name, key, kind, parameters, end_line - line, bool(is_const), tuple(calls))


def _strings(definitions: Sequence[_Stored]) -> dict[str, int]:
    """Every text that is used, with its number: from 1 on, the smaller the more it is used."""
    used = Counter[str]()
    for each in definitions:
        scope, name = _split(each)
        used.update((name, each.key, *(callee for _, _, callee in each.calls)))
        used.update(text for text in (scope, each.parameters) if text is not None)
    return {text: number for number, text in enumerate(sorted(used, key=lambda text: (-used[text], text)), 1)}


def _number(strings: Mapping[str, int], text: str | None) -> int:
    return 0 if text is None else strings[text]


def _split(definition: _Stored) -> tuple[str | None, str]:
    """What a definition is in, None for nothing, and its own name."""
    scope, colons, name = definition.name.rpartition("::")
    return scope if colons else None, name


def _check(condition: object, problem: str) -> None:
    if not condition:
        raise MalformedError(problem)

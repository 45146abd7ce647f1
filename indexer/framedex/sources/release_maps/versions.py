"""A source file in all its versions; parts that versions share are stored once.

A definition is stored with its calls relative to its first line, so moving it does not change its data. Each version is
a list of definitions and their first lines. Calls are stored as parsed from the text, arranged for comparison with
machine code: readers do not have the text.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate

from framedex.model import Definition, DefinitionRow
from framedex.sources.calls import Span, WrittenCall, callable_kinds
from framedex.sources.release_maps.format import unpack
from framedex.sources.source_map import MalformedError

KINDS = (
    *("function", "method", "class", "lambda", "macro", "initializer"),
    *("message", "enum", "service", "record"),
)
"""The kinds of definitions, as in `Definition`. Mere declarations are excluded, because no symbol refers to them."""

CALL_KINDS = ("call", "argument", "new", "braces", "variable", "initializer", "operator", "destroy", "delete")
IS_MEMBER, IS_LAST = 1 << 3, 1 << 4
"""The flags added to a call kind's number: see `WrittenCall`."""

_LOW_MASK, _HIGH_BIT = 7, 1 << 5  # the bits of a call kind's number: the low bits, and the one above the flags

NUMBER_SEPARATOR = ","
"""The separator of the integer arguments of one call in their stored text."""

ABSENT = 255
"""The version number of a release that does not have the file."""

_MAX_LINES = 1 << 31
_FIXED = 13  # columns between the texts and the versions


class FileVersions:
    """The versions of one file, read on demand.

    Methods raise MalformedError, or IndexError or ValueError for an invalid number or text.
    """

    def __init__(self, data: bytes) -> None:
        texts, *columns = unpack(data)
        _check(len(columns) >= _FIXED and not (len(columns) - _FIXED) % 2, "a column is missing")
        self._strings = str(texts, "utf-8").split("\0")
        self._releases, *of_definitions = columns[:8]
        self._scopes, self._names, self._keys, self._parameters, self._lengths, self._flags, counts = of_definitions
        self._call_lines, self._call_kinds, self._callees, self._arguments, self._passed = columns[8:_FIXED]
        self._versions = columns[_FIXED:]
        self._ends = list(accumulate(counts))
        self._read: dict[int, list[tuple[int, int]]] = {}
        _check({len(column) for column in of_definitions} == {len(counts)}, "a definition is truncated")
        _check({len(column) for column in columns[8:_FIXED]} == {self._first_call(len(counts))}, "a call is missing")

    def exists_in(self, release: int) -> bool:
        """Whether a release has the file."""
        return release < len(self._releases) and self._releases[release] != ABSENT

    def has_same_definition(self, release: int, other: int, lines: tuple[int, int]) -> bool:
        """Whether another release has the same definition on these lines.

        Definitions are the same if their names, parameters, lengths, and the kinds, names and lines of their calls are
        equal.
        """
        first, last = lines
        found = {each for each in self._read_version(release) if each[1] == first}
        found = {(number, line) for number, line in found if line + self._lengths[number] == last}
        return bool(found) and found <= {*self._read_version(other)}

    def rows(self, release: int, line_ranges: Collection[tuple[int, int]] | None = None) -> list[DefinitionRow]:
        """The definitions of the file in a release, with their calls. `line_ranges` restricts them to these lines."""
        found = []
        for number, line in self._read_version(release):
            end = line + self._lengths[number]
            if line_ranges is None or any(first <= line and end <= last for first, last in line_ranges):
                calls = sorted(self.calls(number, line), key=lambda call: call.line)
                sites = [[call.line, 0, call.kind, call.callee] for call in calls]
                text = json.dumps(sites, ensure_ascii=False, separators=(",", ":")) if sites else None
                name, kind, parameters, is_const = self._describe(number)
                found.append((name, self._key(number), kind, parameters, line, end, is_const, False, text))
        return found

    def definitions(self, release: int, key: str) -> list[Definition]:
        """The definitions with this look-up key, without their calls."""
        return [self._definition(number, line) for number, line in self._find_key(release, key)]

    def functions_with_calls(self, release: int) -> dict[Span, tuple[int, int]]:
        """The functions and lambdas with calls, by their lines; the values are arguments of `calls`."""
        return {
            (line, line + self._lengths[number]): (number, line)
            for number, line in self._read_version(release)
            if self._kind(number) != "macro" and self._first_call(number) < self._ends[number]
        }

    def bodies(self, release: int, key: str, is_member: bool) -> Iterator[tuple[int, Counter[str]]]:
        """The length and the called names (with counts) of each function and macro of this key.

        The length is the number of lines after the first. Calls of nested lambdas are included. With `is_member`,
        functions outside classes are excluded.
        """
        kinds = callable_kinds(is_member)
        for number, line in self._find_key(release, key):
            if self._kind(number) in kinds:
                end = line + self._lengths[number]
                callees = (
                    callee
                    for inner in self._definitions_in(release, line, end)
                    for callee in self._callee_numbers(inner)
                )
                yield end - line, Counter(map(self._text, callees))

    def _definitions_in(self, release: int, first: int, last: int) -> Iterator[int]:
        """The numbers of the definitions in these lines."""
        version = self._read_version(release)
        begin = bisect_left(version, first, key=lambda each: each[1])
        end = bisect_right(version, last, lo=begin, key=lambda each: each[1])
        yield from (number for number, line in version[begin:end] if line + self._lengths[number] <= last)

    def _find_key(self, release: int, key: str) -> Iterator[tuple[int, int]]:
        """The number and the first line of each definition in a release with this look-up key."""
        try:
            wanted = self._strings.index(key) + 1
        except ValueError:
            return
        if own := {number for number, each in enumerate(self._keys) if each == wanted}:
            yield from (each for each in self._read_version(release) if each[0] in own)

    def _read_version(self, release: int) -> Sequence[tuple[int, int]]:
        """The number and the first line of each definition in a release, in order of line."""
        if not self.exists_in(release):
            return ()
        version = self._releases[release]
        if version not in self._read:
            _check(version * 2 < len(self._versions), "a version is missing")
            steps, lines_between = self._versions[version * 2 : version * 2 + 2]
            count = len(self._keys)
            _check(len(steps) == len(lines_between) and (count or not steps), "a version is truncated")
            lines = list(accumulate(lines_between))
            _check(not lines or (lines[0] > 0 and lines[-1] < _MAX_LINES), "a line is none")
            self._read[version] = [(at % count, line) for at, line in zip(accumulate(steps), lines, strict=True)]
        return self._read[version]

    def _definition(self, number: int, line: int) -> Definition:
        name, kind, parameters, is_const = self._describe(number)
        return Definition(name, kind, parameters, line, line + self._lengths[number], is_const)

    def _describe(self, number: int) -> tuple[str, str, str | None, bool]:
        scope, parameters, flags = self._scopes[number], self._parameters[number], self._flags[number]
        name = self._text(self._names[number] or self._keys[number])
        qualified = f"{self._text(scope)}::{name}" if scope else name
        return qualified, self._kind(number), self._text(parameters) if parameters else None, bool(flags & 1)

    def _kind(self, number: int) -> str:
        return KINDS[self._flags[number] >> 1]

    def _key(self, number: int) -> str:
        return self._text(self._keys[number])

    def calls(self, number: int, line: int) -> Iterator[WrittenCall]:
        """The calls of the definition with this number, which begins at `line`, in evaluation order."""
        begin, end = self._first_call(number), self._ends[number]
        for below, flags, callee, arguments, passed in zip(
            self._call_lines[begin:end],
            self._call_kinds[begin:end],
            self._callees[begin:end],
            self._arguments[begin:end],
            self._passed[begin:end],
            strict=True,
        ):
            line += _decode_signed(below)
            _check(0 < line < _MAX_LINES, "a line is none")
            numbers = frozenset(map(int, self._text(passed).split(NUMBER_SEPARATOR))) if passed else frozenset()
            yield WrittenCall(
                line,
                CALL_KINDS[flags & _LOW_MASK | (8 if flags & _HIGH_BIT else 0)],
                self._text(callee),
                arguments - 1 if arguments else None,
                numbers,
                is_last=bool(flags & IS_LAST),
                is_member=bool(flags & IS_MEMBER),
            )

    def _callee_numbers(self, number: int) -> Sequence[int]:
        return self._callees[self._first_call(number) : self._ends[number]]

    def _first_call(self, number: int) -> int:
        return self._ends[number - 1] if number else 0

    def _text(self, number: int) -> str:
        _check(number > 0, "a text is missing")
        return self._strings[number - 1]


def kind_number(kind: str) -> int:
    """The stored number of a call kind."""
    number = CALL_KINDS.index(kind)
    return number & _LOW_MASK | (_HIGH_BIT if number > _LOW_MASK else 0)


def encode_signed(difference: int) -> int:
    """Encode a difference as an unsigned number: small if it is near 0, on either side."""
    return difference << 1 if difference >= 0 else ~(difference << 1)


def _decode_signed(number: int) -> int:
    return ~(number >> 1) if number & 1 else number >> 1


def _check(condition: object, problem: str) -> None:
    if not condition:
        raise MalformedError(problem)

"""Encode the definitions of a file in each release as data for `FileVersions`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from framedex.model import Definition, DefinitionRow, ExtractedFile
from framedex.releasemaps.columns import differences, pack, unpack
from framedex.releasemaps.versions import (
    ABSENT,
    BETWEEN_NUMBERS,
    IS_LAST,
    IS_MEMBER,
    KINDS,
    kind_number,
    unsigned,
)
from framedex.sources.bodies import names_called
from framedex.sources.calls import WrittenCall, calls_of, line_starts
from framedex.sources.sites import call_sites

_BETWEEN = "\0"  # separates two texts


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedFile:
    """The data of a file in release maps: its definitions, each with its calls as written in the text.

    Releases with the same file content may share one instance, which is then parsed only once.
    """

    language: str
    definitions: Sequence[tuple[DefinitionRow, Sequence[WrittenCall]]]


def released_file(file: ExtractedFile, text: bytes) -> ReleasedFile:
    """The release map data of a file with this text, without mere declarations: they have no code of their own."""
    starts, lines = line_starts(text), text.decode(errors="replace").split("\n")
    rows = [row for row in file.definitions if row[2] in KINDS]
    return ReleasedFile(file.language, [(row, _calls(row, text, starts, lines)) for row in rows])


@dataclass(frozen=True, slots=True)
class _Call:
    """A call, independent of its function's position: `below` is the number of lines after the previous call."""

    below: int
    flags: int
    callee: str
    arguments: int | None
    passed: str | None


@dataclass(frozen=True, slots=True)
class _Stored:
    """A definition, identical in all versions that have it except for its first line."""

    scope: str | None
    name: str
    key: str
    kind: str
    parameters: str | None
    length: int
    is_const: bool
    calls: tuple[_Call, ...]


_Version = tuple[tuple[_Stored, int], ...]
"""The definitions of a version with their first lines, in order of line."""


def encode_versions(releases: Sequence[ReleasedFile | None]) -> bytes:
    """Encode the versions of a file, one for each release; None if a release does not have the file.

    Raises ValueError if the format cannot hold them: 255 versions, or a text with a NUL.
    """
    read = {file: _version(file) for file in dict.fromkeys(releases) if file is not None}
    of_releases = [None if file is None else read[file] for file in releases]
    # Newest first: the most requested definitions get the smallest numbers.
    versions = list(dict.fromkeys(version for version in reversed(of_releases) if version is not None))
    numbers: dict[_Stored, int] = {}
    for version in versions:
        for definition, _ in version:
            numbers.setdefault(definition, len(numbers))
    definitions = list(numbers)
    texts = _numbered_texts(definitions)
    calls = [call for each in definitions for call in each.calls]
    columns: list[Sequence[int]] = [
        _BETWEEN.join(texts).encode(),
        [ABSENT if version is None else versions.index(version) for version in of_releases],
        [_number(texts, each.scope) for each in definitions],
        [0 if each.name == each.key else texts[each.name] for each in definitions],
        [texts[each.key] for each in definitions],
        [_number(texts, each.parameters) for each in definitions],
        [each.length for each in definitions],
        [KINDS.index(each.kind) << 1 | each.is_const for each in definitions],
        [len(each.calls) for each in definitions],
        [unsigned(call.below) for call in calls],
        [call.flags for call in calls],
        [texts[call.callee] for call in calls],
        [0 if call.arguments is None else call.arguments + 1 for call in calls],
        [_number(texts, call.passed) for call in calls],
    ]
    for version in versions:
        steps = differences(numbers[definition] for definition, _ in version)
        columns += [step % len(numbers) for step in steps], differences(line for _, line in version)
    if len(versions) >= ABSENT or any(_BETWEEN in text for text in texts):
        raise ValueError("a file has too many versions, or a text that is none")
    return b"".join(map(pack, columns))


def texts_of(data: bytes) -> list[bytes]:
    """The texts in data from `encode_versions`."""
    return bytes(unpack(data)[0]).split(_BETWEEN.encode())


def _version(file: ReleasedFile) -> _Version:
    return tuple((_stored(*each), each[0][4]) for each in sorted(file.definitions, key=lambda each: each[0][4]))


def _stored(row: DefinitionRow, calls: Sequence[WrittenCall]) -> _Stored:
    name, key, kind, parameters, line, end_line, is_const, *_ = row
    scope, colons, own = name.rpartition("::")
    stored = tuple(
        _Call(
            call.line - line_before,
            kind_number(call.kind) | IS_MEMBER * call.is_member | IS_LAST * call.is_last,
            call.callee,
            call.arguments,
            BETWEEN_NUMBERS.join(map(str, sorted(call.numbers))) or None,
        )
        for line_before, call in zip([line, *(call.line for call in calls)], calls, strict=False)
    )
    return _Stored(scope if colons else None, own, key, kind, parameters, end_line - line, bool(is_const), stored)


def _calls(row: DefinitionRow, text: bytes, starts: Sequence[int], lines: Sequence[str]) -> Sequence[WrittenCall]:
    """The calls of a definition in evaluation order. Calls in macros are only names, because nothing parses macros."""
    name, _, kind, parameters, line, end_line, is_const, _, sites = row
    definition = Definition(name, kind, parameters, line, end_line, bool(is_const), call_sites(sites))
    if kind != "macro":
        return calls_of(text, starts, definition)
    names = names_called(lines, definition)
    return [WrittenCall(line, "call", each, None) for each in sorted(names.elements())]


def _numbered_texts(definitions: Sequence[_Stored]) -> dict[str, int]:
    """The number of every used text, from 1: frequent texts have small numbers."""
    used = Counter[str]()
    for each in definitions:
        used.update((each.name, each.key, *(call.callee for call in each.calls)))
        passed = (call.passed for call in each.calls)
        used.update(text for text in (each.scope, each.parameters, *passed) if text is not None)
    return {text: number for number, text in enumerate(sorted(used, key=lambda text: (-used[text], text)), 1)}


def _number(texts: Mapping[str, int], text: str | None) -> int:
    return 0 if text is None else texts[text]

"""Makes the data of `FileVersions` of what a file defines in each release."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from framedex.model import DefinitionRow
from framedex.releasemaps.columns import differences, pack, unpack
from framedex.releasemaps.versions import ABSENT, CALL_KINDS, KINDS

_BETWEEN = "\0"  # of two texts


@dataclass(frozen=True, slots=True)
class _Stored:
    """A definition as it is the same in all versions that have it, but for its first line."""

    scope: str | None
    name: str
    key: str
    kind: str
    parameters: str | None
    length: int
    is_const: bool
    calls: tuple[tuple[int, str, str], ...]  # lines below the call before, kind, callee


_Version = tuple[tuple[_Stored, int], ...]
"""The definitions of a version with their first lines, in order of line."""


def encode_versions(releases: Sequence[Sequence[DefinitionRow] | None]) -> bytes:
    """The data of a file that has these definitions in each release; None where a release does not have it.

    Raises ValueError and struct.error for what the format cannot hold: a call above its function, 255 versions.
    """
    of_releases = [None if rows is None else _version(rows) for rows in releases]
    # The newest first: what is asked for most has the smallest numbers.
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
        [below for below, _, _ in calls],
        [CALL_KINDS.index(kind) for _, kind, _ in calls],
        [texts[callee] for _, _, callee in calls],
    ]
    for version in versions:
        steps = differences(numbers[definition] for definition, _ in version)
        columns += [step % len(numbers) for step in steps], differences(line for _, line in version)
    if len(versions) >= ABSENT or any(_BETWEEN in text for text in texts):
        raise ValueError("a file has too many versions, or a text that is none")
    return b"".join(map(pack, columns))


def texts_of(data: bytes) -> list[bytes]:
    """The texts that the versions of a file use, of what `encode_versions` gave."""
    return bytes(unpack(data)[0]).split(_BETWEEN.encode())


def _version(rows: Sequence[DefinitionRow]) -> _Version:
    return tuple((_stored(row), row[4]) for row in sorted(rows, key=lambda row: row[4]))


def _stored(row: DefinitionRow) -> _Stored:
    name, key, kind, parameters, line, end_line, is_const, _, sites = row
    scope, colons, own = name.rpartition("::")
    calls = []
    above = line
    for at, _, call_kind, callee, *_ in sorted(json.loads(sites), key=lambda site: site[:2]) if sites else ():
        calls.append((at - above, call_kind, callee))
        above = at
    outer = scope if colons else None
    return _Stored(outer, own, key, kind, parameters, end_line - line, bool(is_const), tuple(calls))


def _numbered_texts(definitions: Sequence[_Stored]) -> dict[str, int]:
    """Every text that is used, with its number: from 1 on, the smaller the more it is used."""
    used = Counter[str]()
    for each in definitions:
        used.update((each.name, each.key, *(callee for _, _, callee in each.calls)))
        used.update(text for text in (each.scope, each.parameters) if text is not None)
    return {text: number for number, text in enumerate(sorted(used, key=lambda text: (-used[text], text)), 1)}


def _number(texts: Mapping[str, int], text: str | None) -> int:
    return 0 if text is None else texts[text]

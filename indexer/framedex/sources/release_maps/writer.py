"""Write release maps: encode the definitions of each file in each release as data for `FileVersions`.

Equal sources give equal bytes, with one version of zlib.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from framedex.model import Definition, DefinitionRow, ExtractedFile, SourceMapInfo
from framedex.model.sources import parse_call_sites
from framedex.sources.bodies import count_called_names
from framedex.sources.calls import BODIES, WrittenCall, find_calls, find_line_starts
from framedex.sources.names import split_path
from framedex.sources.release_maps.format import (
    LANGUAGES,
    MapComponent,
    MapContent,
    NameEntry,
    compress,
    compute_differences,
    encode_names,
    hash_path,
    hash_short_name,
    pack,
    unpack,
    write_content,
)
from framedex.sources.release_maps.versions import (
    ABSENT,
    IS_LAST,
    IS_MEMBER,
    KINDS,
    NUMBER_SEPARATOR,
    encode_signed,
    kind_number,
)

_TEXT_SEPARATOR = "\0"  # the separator of texts


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedFile:
    """The data of a file in release maps: its definitions, each with its calls as written in the text.

    Releases with the same file content may share one instance, which is then parsed only once.
    """

    language: str
    definitions: Sequence[tuple[DefinitionRow, Sequence[WrittenCall]]]


def build_released_file(file: ExtractedFile, text: bytes) -> ReleasedFile:
    """The release map data of a file with this text, without declarations, which have no code."""
    starts, lines = find_line_starts(text), text.decode(errors="replace").split("\n")
    rows = [row for row in file.definitions if row[2] in KINDS]
    return ReleasedFile(file.language, [(row, _find_calls(row, text, starts, lines)) for row in rows])


@dataclass(frozen=True, slots=True)
class _StoredCall:
    """A call, independent of its function's position: `line_distance` counts the lines after the previous call."""

    line_distance: int
    flags: int
    callee: str
    arguments: int | None
    argument_texts: str | None


@dataclass(frozen=True, slots=True)
class _StoredDefinition:
    """A definition, identical in all versions that have it except for its first line."""

    scope: str | None
    name: str
    key: str
    kind: str
    parameters: str | None
    length: int
    is_const: bool
    calls: tuple[_StoredCall, ...]


_Version = tuple[tuple[_StoredDefinition, int], ...]
"""The definitions of a version with their first lines, in order of line."""


def encode_versions(releases: Sequence[ReleasedFile | None]) -> bytes:
    """Encode the versions of a file, one for each release; None if a release does not have the file.

    Raises ValueError if the format cannot hold them: 255 versions, or a text with a NUL.
    """
    read = {file: _build_version(file) for file in dict.fromkeys(releases) if file is not None}
    of_releases = [None if file is None else read[file] for file in releases]
    # Newest first: the most requested definitions get the smallest numbers.
    versions = list(dict.fromkeys(version for version in reversed(of_releases) if version is not None))
    numbers: dict[_StoredDefinition, int] = {}
    for version in versions:
        for definition, _ in version:
            numbers.setdefault(definition, len(numbers))
    definitions = list(numbers)
    texts = _number_strings(definitions)
    calls = [call for each in definitions for call in each.calls]
    columns: list[Sequence[int]] = [
        _TEXT_SEPARATOR.join(texts).encode(),
        [ABSENT if version is None else versions.index(version) for version in of_releases],
        [_text_number(texts, each.scope) for each in definitions],
        [0 if each.name == each.key else texts[each.name] for each in definitions],
        [texts[each.key] for each in definitions],
        [_text_number(texts, each.parameters) for each in definitions],
        [each.length for each in definitions],
        [KINDS.index(each.kind) << 1 | each.is_const for each in definitions],
        [len(each.calls) for each in definitions],
        [encode_signed(call.line_distance) for call in calls],
        [call.flags for call in calls],
        [texts[call.callee] for call in calls],
        [0 if call.arguments is None else call.arguments + 1 for call in calls],
        [_text_number(texts, call.argument_texts) for call in calls],
    ]
    for version in versions:
        steps = compute_differences(numbers[definition] for definition, _ in version)
        columns += [step % len(numbers) for step in steps], compute_differences(line for _, line in version)
    if len(versions) >= ABSENT or any(_TEXT_SEPARATOR in text for text in texts):
        raise ValueError("a file has too many versions, or a text with a NUL")
    return b"".join(map(pack, columns))


def read_texts(data: bytes) -> list[bytes]:
    """The strings in data from `encode_versions`."""
    return bytes(unpack(data)[0]).split(_TEXT_SEPARATOR.encode())


def _build_version(file: ReleasedFile) -> _Version:
    return tuple((_build_stored(*each), each[0][4]) for each in sorted(file.definitions, key=lambda each: each[0][4]))


def _build_stored(row: DefinitionRow, calls: Sequence[WrittenCall]) -> _StoredDefinition:
    name, key, kind, parameters, line, end_line, is_const, *_ = row
    scope, colons, own = name.rpartition("::")
    stored = tuple(
        _StoredCall(
            call.line - line_before,
            kind_number(call.kind) | IS_MEMBER * call.is_member | IS_LAST * call.is_last,
            call.callee,
            call.arguments,
            NUMBER_SEPARATOR.join(map(str, sorted(call.numbers))) or None,
        )
        for line_before, call in zip([line, *(call.line for call in calls)], calls, strict=False)
    )
    return _StoredDefinition(
        scope if colons else None, own, key, kind, parameters, end_line - line, bool(is_const), stored
    )


def _find_calls(row: DefinitionRow, text: bytes, starts: Sequence[int], lines: Sequence[str]) -> Sequence[WrittenCall]:
    """The calls of a definition in evaluation order. Calls in macros are only names, because nothing parses macros."""
    name, _, kind, parameters, line, end_line, is_const, _, sites = row
    definition = Definition(name, kind, parameters, line, end_line, bool(is_const), parse_call_sites(sites))
    if kind != "macro":
        return find_calls(text, starts, definition)
    names = count_called_names(lines, definition)
    return [WrittenCall(line, "call", each, None) for each in sorted(names.elements())]


def _number_strings(definitions: Sequence[_StoredDefinition]) -> dict[str, int]:
    """The number of every used text, from 1: frequent texts have small numbers."""
    used = Counter[str]()
    for each in definitions:
        used.update((each.name, each.key, *(call.callee for call in each.calls)))
        passed = (call.argument_texts for call in each.calls)
        used.update(text for text in (each.scope, each.parameters, *passed) if text is not None)
    return {text: number for number, text in enumerate(sorted(used, key=lambda text: (-used[text], text)), 1)}


def _text_number(texts: Mapping[str, int], text: str | None) -> int:
    return 0 if text is None else texts[text]


_MAX_DICTIONARY_BYTES = 1 << 15  # the window of zlib, in bytes
_MIN_REFERENCE_BYTES = 4  # the minimum length of a text in the dictionary, in bytes


@dataclass(frozen=True, slots=True)
class ReleaseSources:
    """A component's sources in all releases.

    `infos` has an entry for each release, None if the release does not have the component. `files` has its files for
    each release by path, relative to the repository.
    """

    infos: Sequence[SourceMapInfo | None]
    files: Sequence[Mapping[str, ReleasedFile]]


def write_release_maps(releases: Sequence[str], sources: Sequence[ReleaseSources]) -> bytes:
    """The file with the maps of these releases, oldest first; `sources` has one entry per component."""
    paths: list[str] = []
    languages: list[int] = []
    entries: list[NameEntry] = []
    files: list[bytes] = []
    components = {}
    for each in sources:
        first = len(paths)
        for path in sorted(set().union(*each.files)):
            versions = [found.get(path) for found in each.files]
            if any(version.definitions for version in versions if version):
                entries.extend(_build_entries(len(paths), versions))
                paths.append(path)
                languages.append(_find_common_language(versions))
                files.append(encode_versions(versions))
        info = next(filter(None, each.infos))
        components[info.component] = MapComponent(tuple(each.infos), first, len(paths))
    dictionary = _build_dictionary(files)
    streams = [compress(data, dictionary) for data in files]
    ends = list(accumulate(map(len, streams)))
    names = encode_names(entries)
    return write_content(
        MapContent(tuple(releases), components, names, tuple(paths), languages, ends, dictionary, b"".join(streams))
    )


def _find_common_language(versions: Sequence[ReleasedFile | None]) -> int:
    (language,) = {version.language for version in versions if version}
    return LANGUAGES.index(language)


def _build_entries(number: int, versions: Sequence[ReleasedFile | None]) -> Iterator[NameEntry]:
    releases: dict[tuple[int, int, bool], int] = {}
    for release, version in enumerate(versions):
        for (name, key, kind, *_), _ in version.definitions if version else ():
            entry = hash_short_name(key), hash_path(split_path(name)), kind in BODIES
            releases[entry] = releases.get(entry, 0) | 1 << release
    for (short, path, is_body), found in releases.items():
        yield NameEntry(short, path, number, is_body, found)


def _build_dictionary(files: Sequence[bytes]) -> bytes:
    """A zlib dictionary of the texts shared by most files.

    The most frequent texts come last, because zlib refers to them in the fewest bits.
    """
    used = Counter(text for data in files for text in read_texts(data))
    texts, size = [], 0
    for text in sorted(used, key=lambda text: (-used[text], text)):
        if len(text) >= _MIN_REFERENCE_BYTES and used[text] > 1:
            size += len(text) + 1
            if size > _MAX_DICTIONARY_BYTES:
                break
            texts.append(text)
    return b"\0".join(reversed(texts))

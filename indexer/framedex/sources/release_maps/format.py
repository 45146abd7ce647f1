"""The file format of release maps, version 2, specified in docs/reference/source-maps.md.

Malformed files are rejected, and also files larger than the maps of many releases. Columns of integers are each as wide
as their largest value: small on disk, and read without decoding.

An index of hashed names limits a look-up to the files that define a name and a few others with equal hashes. An entry
represents the definitions in one file with the same short name and the same path. Path differences that `match_symbol`
ignores do not count. The entry lists the releases that have these definitions.
"""

from __future__ import annotations

import json
import struct
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal
from zlib import crc32

from framedex.binaries.names import ANONYMOUS, LAMBDA
from framedex.model import SourceMapInfo
from framedex.sources.matching import VERSION_NAMESPACE
from framedex.sources.source_map import MalformedError, decode_header, encode_header

FORMAT_VERSION = 2
MAX_FILE_BYTES = 64 << 20  # bytes of a file
LANGUAGES = ("cpp", "protobuf", "tablegen")

_MAGIC = b"\x8bFDMAPS\n"
_HEAD = struct.Struct("<8sIII")  # magic, version, size and CRC-32 of the header
_MAX_HEADER_BYTES = 1 << 20
_MAX_PART_BYTES = 16 << 20  # bytes when decompressed
_SECTIONS = ("names", "paths", "table", "dictionary", "files")


class NotReleaseMapError(Exception):
    """A file is not a release map, or its version (the message) is unsupported."""


@dataclass(frozen=True, slots=True)
class MapComponent:
    """A repository and its information for each release; None if a release does not have it.

    `first` is the number of its first file, `end` the number after its last file.
    """

    infos: tuple[SourceMapInfo | None, ...]
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class MapContent:
    """The parsed content of a file, except for the parts that are read on demand."""

    releases: tuple[str, ...]
    components: Mapping[str, MapComponent]
    names: bytes
    paths: tuple[str, ...]
    languages: Column
    ends: Column
    dictionary: bytes
    files: bytes

    def file(self, number: int) -> bytes:
        """The data of a file's versions. Raises IndexError, MalformedError and zlib.error."""
        begin = self.ends[number - 1] if number else 0
        return _decompress(self.files[begin : self.ends[number]], self.dictionary)


def read_content(data: bytes) -> MapContent:
    """Parse a file. Raises NotReleaseMapError, MalformedError, UnicodeDecodeError, ValueError and zlib.error."""
    if len(data) < _HEAD.size or not data.startswith(_MAGIC):
        raise NotReleaseMapError
    _, version, size, check = _HEAD.unpack_from(data)
    if version != FORMAT_VERSION:
        raise NotReleaseMapError(str(version))
    begin = _HEAD.size + size
    text = data[_HEAD.size : begin]
    _check(size <= _MAX_HEADER_BYTES and zlib.crc32(text) == check, "its header is truncated or changed")
    header = json.loads(text)
    _check(isinstance(header, dict), "its header is malformed")
    sections = _read_sections(header.get("sections"), memoryview(data)[begin:])
    paths = tuple(str(_decompress(sections["paths"]), "utf-8").split("\0"))
    table = unpack(sections["table"])
    _check(len(table) == 2 and {len(column) for column in table} == {len(paths)}, "its table of files is malformed")
    languages, ends = table
    releases = header.get("releases")
    _check(_are_texts(releases) and 0 < len(releases) <= MAX_RELEASES, "its list of releases is malformed")
    components = dict(_decode_components(header.get("components"), len(releases), len(paths)))
    return MapContent(
        tuple(releases),
        components,
        sections["names"],
        paths,
        languages,
        ends,
        sections["dictionary"],
        sections["files"],
    )


def write_content(content: MapContent) -> bytes:
    """The bytes of a file with this content."""
    sections = {
        "names": content.names,
        "paths": compress("\0".join(content.paths).encode()),
        "table": pack(content.languages) + pack(content.ends),
        "dictionary": content.dictionary,
        "files": content.files,
    }
    header = {
        "releases": content.releases,
        "components": [_encode_component(each) for each in content.components.values()],
        "sections": {name: [len(data), zlib.crc32(data)] for name, data in sections.items()},
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    return b"".join((_HEAD.pack(_MAGIC, FORMAT_VERSION, len(text), zlib.crc32(text)), text, *sections.values()))


def compress(data: bytes, dictionary: bytes = b"") -> bytes:
    """One zlib stream, which ends with a checksum. Equal data gives equal bytes with one version of zlib."""
    stream = zlib.compressobj(9, memLevel=9, zdict=dictionary) if dictionary else zlib.compressobj(9, memLevel=9)
    return stream.compress(data) + stream.flush()


def _decompress(data: bytes, dictionary: bytes = b"") -> bytes:
    stream = zlib.decompressobj(zdict=dictionary) if dictionary else zlib.decompressobj()
    found = stream.decompress(data, _MAX_PART_BYTES)
    _check(stream.eof and not stream.unused_data, "a part is truncated or too large")
    return found


def _read_sections(sizes: object, data: memoryview) -> dict[str, bytes]:
    _check(isinstance(sizes, dict) and tuple(sizes) == _SECTIONS, "a section is missing")
    assert isinstance(sizes, dict)
    found, begin = {}, 0
    for name, entry in sizes.items():
        _check(
            isinstance(entry, list) and [*map(type, entry)] == [int, int] and entry[0] >= 0, "a section is malformed"
        )
        size, check = entry
        found[name] = bytes(data[begin : begin + size])
        # Each file has its own checksum, because few of them are read.
        _check(len(found[name]) == size, "it is truncated")
        _check(name == "files" or zlib.crc32(found[name]) == check, f"its {name} were changed")
        begin += size
    _check(begin == len(data), "it has data after its end")
    return found


def _encode_component(component: MapComponent) -> dict[str, object]:
    infos = [encode_header(info) if info else None for info in component.infos]
    first_info = next(filter(None, infos))
    return {
        "component": first_info["component"],
        "repository": first_info["repository"],
        "tool": first_info["tool"],
        "commits": [info["commit"] if info else None for info in infos],
        "files": component.end - component.first,
    }


def _decode_components(found: object, releases: int, files: int) -> Sequence[tuple[str, MapComponent]]:
    _check(isinstance(found, list) and all(isinstance(each, dict) for each in found), "its components are malformed")
    assert isinstance(found, list)
    components, first = [], 0
    for each in found:
        commits, count = each.get("commits"), each.get("files")
        _check(isinstance(commits, list) and len(commits) == releases, "a commit is missing")
        _check(type(count) is int and 0 <= count <= files - first, "its number of files is invalid")
        infos = tuple(commit if commit is None else _decode_info(each, commit) for commit in commits)
        first_info = next(filter(None, infos), None)
        if first_info is None:
            raise MalformedError("a component has no release")
        components.append((first_info.component, MapComponent(infos, first, first + count)))
        first += count
    _check(first == files, "a file has no component")
    return components


def _decode_info(component: Mapping[str, Any], commit: object) -> SourceMapInfo:
    return decode_header({**component, "commit": commit, "dirty": False})


def _are_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _check(condition: object, problem: str) -> None:
    if not condition:
        raise MalformedError(problem)


MAX_RELEASES = 31
_IS_BODY = 1 << MAX_RELEASES


@dataclass(frozen=True, slots=True, order=True)
class NameEntry:
    """Definitions of one name in the file of that number. `releases` is a bit set; `is_body`: see `BODIES`."""

    short: int
    path: int
    file: int
    is_body: bool
    releases: int


def hash_short_name(short_name: str) -> int:
    """A 32-bit hash of a short name."""
    return crc32(short_name.encode("utf-8", "replace"))


def hash_path(path: tuple[str, ...]) -> int:
    """A 16-bit hash of a definition's path, without the parts that symbol paths may lack."""
    return crc32("::".join(_drop_unnamed(path)).encode("utf-8", "replace")) & 0xFFFF


class NameIndex:
    """The name entries of a release map file, in order."""

    def __init__(self, data: bytes) -> None:
        columns = unpack(data)
        if len(columns) != 4 or len({len(column) for column in columns}) != 1:
            raise MalformedError("the index of names is malformed")
        self._shorts, self._paths, self._files, self._releases = columns

    def may_define(self, short_name: str) -> bool:
        """Whether any release may define this short name."""
        return bool(self._range(short_name))

    def files(self, short_name: str, key: tuple[str, ...], release: int) -> list[int]:
        """The numbers of the files that define this name in a release.

        With a symbol's key, only the files with a definition that may match the symbol.
        """
        found = self._range(short_name)
        # A destructor may use another name of its class: `match_symbol` finds the right class.
        is_told = found and key and not key[-1].startswith("~")
        wanted = frozenset(_hashes_of_matching_paths(key)) if is_told else None
        bit = 1 << release
        return sorted(
            {self._files[i] for i in found if self._releases[i] & bit and (wanted is None or self._paths[i] in wanted)}
        )

    def files_with_bodies(self, short_name: str, release: int) -> list[int]:
        """The numbers of the files that define a function or macro of this name in a release."""
        wanted = 1 << release | _IS_BODY
        return sorted({self._files[i] for i in self._range(short_name) if self._releases[i] & wanted == wanted})

    def _range(self, short_name: str) -> range:
        wanted = hash_short_name(short_name)
        return range(bisect_left(self._shorts, wanted), bisect_right(self._shorts, wanted))


def encode_names(entries: Iterable[NameEntry]) -> bytes:
    """Encode the data of a `NameIndex`."""
    ordered = sorted(entries)
    return b"".join(
        (
            pack([entry.short for entry in ordered]),
            pack([entry.path for entry in ordered]),
            pack([entry.file for entry in ordered]),
            pack([entry.releases | _IS_BODY * entry.is_body for entry in ordered]),
        )
    )


def _hashes_of_matching_paths(key: tuple[str, ...]) -> Iterator[int]:
    """The hashes of all paths that `match_symbol` accepts for a symbol: its own, its class's, and their endings."""
    named = _drop_unnamed(key)
    for path in {named, tuple(part for part in named if not VERSION_NAMESPACE.fullmatch(part))}:
        for whole in (path, path[:-1]):
            yield hash_path(whole)
            yield from (hash_path(whole[begin:]) for begin in range(1, len(whole) - 1))


def _drop_unnamed(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(part for part in path if part not in (ANONYMOUS, LAMBDA))


Column = Sequence[int]

_NAME_HEAD = struct.Struct("<BI")  # bytes per entry, and number of entries
_CODES: dict[int, Literal["B", "H", "I"]] = {1: "B", 2: "H", 4: "I"}  # type codes of `struct` and of `memoryview`


def pack(numbers: Sequence[int]) -> bytes:
    """Pack numbers from 0 to 2**32 - 1 into a column. Raises struct.error for others."""
    most = max(numbers, default=0)
    width = 1 if most < 1 << 8 else 2 if most < 1 << 16 else 4
    return _NAME_HEAD.pack(width, len(numbers)) + struct.pack(f"<{len(numbers)}{_CODES[width]}", *numbers)


def unpack(data: bytes) -> list[memoryview]:
    """All consecutive columns in `data`, as views of it. Raises MalformedError."""
    view = memoryview(data)
    columns, position, size = [], 0, len(view)
    while position < size:
        if position + _NAME_HEAD.size > size:
            raise MalformedError("a column is truncated")
        width, count = _NAME_HEAD.unpack_from(view, position)
        begin = position + _NAME_HEAD.size
        position = begin + width * count
        if width not in _CODES or position > size:
            raise MalformedError("a column is truncated")
        columns.append(view[begin:position].cast(_CODES[width]))
    return columns


def compute_differences(numbers: Iterable[int], least: int = 0) -> list[int]:
    """The difference of each number from its predecessor; the first number's predecessor is `least`."""
    return [number - before for before, number in pairwise([least, *numbers])]

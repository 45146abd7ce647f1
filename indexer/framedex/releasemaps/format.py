"""The file format of release maps, version 2, specified in docs/reference/source-maps.md.

Malformed files are rejected, and so are files larger than the maps of many releases.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framedex.model import SourceMapInfo
from framedex.releasemaps.columns import Column, pack, unpack
from framedex.releasemaps.names import MOST_RELEASES
from framedex.sourcemap import MalformedError, decode_header, encode_header

VERSION = 2
LARGEST = 64 << 20  # bytes of a file
LANGUAGES = ("cpp", "protobuf", "tablegen")

_MAGIC = b"\x8bFDMAPS\n"
_HEAD = struct.Struct("<8sIII")  # magic, version, size and CRC-32 of the header
_LARGEST_HEADER = 1 << 20
_LARGEST_PART = 16 << 20  # bytes when decompressed
_SECTIONS = ("names", "paths", "table", "dictionary", "files")


class ForeignError(Exception):
    """A file is not a release map, or its version (the message) is unsupported."""


@dataclass(frozen=True, slots=True)
class Component:
    """A repository and its information for each release; None if a release does not have it.

    `first` is the number of its first file, `end` the number after its last file.
    """

    infos: tuple[SourceMapInfo | None, ...]
    first: int
    end: int


@dataclass(frozen=True, slots=True)
class Content:
    """The parsed content of a file, except for the parts that are read on demand."""

    releases: tuple[str, ...]
    components: Mapping[str, Component]
    names: bytes
    paths: tuple[str, ...]
    languages: Column
    ends: Column
    dictionary: bytes
    files: bytes

    def file(self, number: int) -> bytes:
        """The data of a file's versions. Raises IndexError, MalformedError and zlib.error."""
        begin = self.ends[number - 1] if number else 0
        return _decompressed(self.files[begin : self.ends[number]], self.dictionary)


def read_content(data: bytes) -> Content:
    """Parse a file. Raises ForeignError, MalformedError, UnicodeDecodeError, ValueError and zlib.error."""
    if len(data) < _HEAD.size or not data.startswith(_MAGIC):
        raise ForeignError
    _, version, size, check = _HEAD.unpack_from(data)
    if version != VERSION:
        raise ForeignError(str(version))
    begin = _HEAD.size + size
    text = data[_HEAD.size : begin]
    _check(size <= _LARGEST_HEADER and zlib.crc32(text) == check, "its header is cut off or changed")
    header = json.loads(text)
    _check(isinstance(header, dict), "its header is none")
    sections = _sections(header.get("sections"), memoryview(data)[begin:])
    paths = tuple(str(_decompressed(sections["paths"]), "utf-8").split("\0"))
    table = unpack(sections["table"])
    _check(len(table) == 2 and {len(column) for column in table} == {len(paths)}, "its table of files is none")
    languages, ends = table
    releases = header.get("releases")
    _check(_are_texts(releases) and 0 < len(releases) <= MOST_RELEASES, "its releases are none")
    components = dict(_components(header.get("components"), len(releases), len(paths)))
    return Content(
        tuple(releases),
        components,
        sections["names"],
        paths,
        languages,
        ends,
        sections["dictionary"],
        sections["files"],
    )


def write_content(content: Content) -> bytes:
    """The bytes of a file with this content."""
    sections = {
        "names": content.names,
        "paths": compressed("\0".join(content.paths).encode()),
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
    return b"".join((_HEAD.pack(_MAGIC, VERSION, len(text), zlib.crc32(text)), text, *sections.values()))


def compressed(data: bytes, dictionary: bytes = b"") -> bytes:
    """One zlib stream, which ends with a checksum. Equal data gives equal bytes with one version of zlib."""
    stream = zlib.compressobj(9, memLevel=9, zdict=dictionary) if dictionary else zlib.compressobj(9, memLevel=9)
    return stream.compress(data) + stream.flush()


def _decompressed(data: bytes, dictionary: bytes = b"") -> bytes:
    stream = zlib.decompressobj(zdict=dictionary) if dictionary else zlib.decompressobj()
    found = stream.decompress(data, _LARGEST_PART)
    _check(stream.eof and not stream.unused_data, "a part is cut off or too large")
    return found


def _sections(sizes: object, data: memoryview) -> dict[str, bytes]:
    _check(isinstance(sizes, dict) and tuple(sizes) == _SECTIONS, "a section is missing")
    assert isinstance(sizes, dict)
    found, begin = {}, 0
    for name, entry in sizes.items():
        _check(isinstance(entry, list) and [*map(type, entry)] == [int, int] and entry[0] >= 0, "a section is none")
        size, check = entry
        found[name] = bytes(data[begin : begin + size])
        # Files have checksums of their own, because few of them are read.
        _check(len(found[name]) == size, "it is cut off")
        _check(name == "files" or zlib.crc32(found[name]) == check, f"its {name} were changed")
        begin += size
    _check(begin == len(data), "something follows its end")
    return found


def _encode_component(component: Component) -> dict[str, object]:
    infos = [encode_header(info) if info else None for info in component.infos]
    told = next(filter(None, infos))
    return {
        "component": told["component"],
        "repository": told["repository"],
        "tool": told["tool"],
        "commits": [info["commit"] if info else None for info in infos],
        "files": component.end - component.first,
    }


def _components(found: object, releases: int, files: int) -> Sequence[tuple[str, Component]]:
    _check(isinstance(found, list) and all(isinstance(each, dict) for each in found), "its components are none")
    assert isinstance(found, list)
    components, first = [], 0
    for each in found:
        commits, count = each.get("commits"), each.get("files")
        _check(isinstance(commits, list) and len(commits) == releases, "a commit is missing")
        _check(type(count) is int and 0 <= count <= files - first, "its number of files is none")
        infos = tuple(commit if commit is None else _info(each, commit) for commit in commits)
        told = next(filter(None, infos), None)
        if told is None:
            raise MalformedError("a component is of no release")
        components.append((told.component, Component(infos, first, first + count)))
        first += count
    _check(first == files, "a file is of no component")
    return components


def _info(component: Mapping[str, Any], commit: object) -> SourceMapInfo:
    return decode_header({**component, "commit": commit, "dirty": False})


def _are_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


def _check(condition: object, problem: str) -> None:
    if not condition:
        raise MalformedError(problem)

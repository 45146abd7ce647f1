"""The format of source maps: written maps are read back, and anything else is refused."""

from __future__ import annotations

import contextlib
import io
import json
import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framedex.model import ExtractedFile, SourceMapInfo
from framedex.sources.source_map import SourceMapError, public_address, read_map, write_map
from tests.damage import damaged

INFO = SourceMapInfo("xla", "https://github.com/openxla/xla", "5a9e73cb" * 5, False, "0.1.0")
CALLS = '[[11,3,"call","Bar","foo::Bar"],[11,9,"call","Baz"],[12,1,"new","Ü"]]'
FILES = [
    ExtractedFile(
        "xla/a b.cc",
        "cpp",
        1,
        2,
        -3,
        4,
        (
            ("xla::Foo", "Foo", "function", "(int a)", 10, 14, True, False, CALLS),
            ("xla::Foo::Foo", "Foo", "declaration", None, 3, 3, False, True, None),
        ),
        ("a problem",),
    ),
    ExtractedFile("xla/empty.py", "python", 0, 0, 0, 0, (), ()),
]


def written(info: SourceMapInfo = INFO, files: list[ExtractedFile] = FILES) -> bytes:
    stream = io.BytesIO()
    write_map(stream, info, files)
    return stream.getvalue()


def read(path: Path, content: bytes) -> tuple[SourceMapInfo, list[ExtractedFile]]:
    path.write_bytes(content)
    with read_map(path) as (info, files):
        return info, list(files)


def lines_of(content: bytes) -> list[Any]:
    return [json.loads(line) for line in lzma.decompress(content).splitlines()]


def packed(*lines: Any) -> bytes:
    return lzma.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "some.fdmap"


def test_a_written_map_is_read_back(file: Path) -> None:
    info, (first, second) = read(file, written())

    assert info == INFO
    assert (first.path, first.language, first.content, first.errors) == ("xla/a b.cc", "cpp", -3, 4)
    assert [row[:8] for row in first.definitions] == [row[:8] for row in FILES[0].definitions]
    # The columns of calls are omitted, their order is kept.
    calls = json.loads(first.definitions[0][8] or "")
    assert calls == [[11, 0, "call", "Bar", "foo::Bar"], [11, 0, "call", "Baz"], [12, 0, "new", "Ü"]]
    assert first.definitions[1][8] is None
    assert (first.modified, first.size, first.problems) == (0, 0, ())
    assert second == FILES[1]


def test_equal_content_has_equal_bytes(file: Path) -> None:
    again = [replace(each, modified=99, size=98) for each in FILES]
    assert written() == written(files=again)
    _, files = read(file, written())
    assert written(files=files) == written()


def test_a_map_contains_no_code_and_is_readable_with_standard_tools() -> None:
    header, *_, end = lines_of(written())
    assert header["format"] == "framedex source map" and header["version"] == 1
    assert end == {"files": 2, "definitions": 2}


def test_foreign_files_and_versions_are_refused_with_a_clear_message(file: Path) -> None:
    for content in (b"", b"hello", b"\xfd7zXZ\0", lzma.compress(b"[1]\n"), lzma.compress(b"nothing\n")):
        with pytest.raises(SourceMapError):
            read(file, content)
    header, *rest = lines_of(written())
    with pytest.raises(SourceMapError, match="version 2; this framedex reads version 1"):
        read(file, packed({**header, "version": 2}, *rest))
    with pytest.raises(SourceMapError, match="cannot be read"), read_map(file.with_name("missing")):
        pass


def test_truncated_maps_are_refused(file: Path) -> None:
    content = written()
    for length in range(0, len(content), 10):
        with pytest.raises(SourceMapError):
            read(file, content[:length])
    for beyond in (b"x", content):
        with pytest.raises(SourceMapError):
            read(file, content + beyond)


def test_damaged_maps_are_refused_or_harmless(file: Path) -> None:
    content = written()
    whole = read(file, content)
    for seed in range(600):
        with contextlib.suppress(SourceMapError):
            assert read(file, damaged(content, seed)) == whole


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "../a.cc", "a/../b.cc", "a//b.cc", "./a.cc", "a/", "a\0b", "a\nb", "a\\b", 7, None, "\ud800"],
)
def test_paths_out_of_the_tree_are_refused(file: Path, path: object) -> None:
    header, first, second, end = lines_of(written())
    with pytest.raises(SourceMapError, match="path leads out of the repository"):
        read(file, packed(header, [path, *first[1:]], second, end))


@pytest.mark.parametrize(
    "change",
    [
        {"commit": "HEAD"},
        {"component": "../xla"},
        {"component": "a:b"},
        {"repository": "file:///etc"},
        {"repository": "https://user:secret@example.org/x"},
        {"repository": "javascript:alert(1)"},
        {"repository": "https://[example.org/x"},
        {"dirty": "no"},
        {"tool": 1},
    ],
)
def test_malformed_headers_are_refused(file: Path, change: dict[str, object]) -> None:
    header, *rest = lines_of(written())
    with pytest.raises(SourceMapError, match="damaged"):
        read(file, packed({**header, **change}, *rest))


def _hostile(line: list[Any]) -> list[Any]:
    path, language, content, errors, strings, definitions, calls = line
    names, keys, kinds, parameters, lines, lengths, flags, counts = definitions
    return [
        [path, language],
        [path, "cobol", *line[2:]],
        [path, language, "xyz", *line[3:]],
        [path, language, content, -1, *line[4:]],
        [path, language, content, True, *line[4:]],
        [path, language, content, errors, ["a", 1], definitions, calls],
        [path, language, content, errors, ["\ud800" for _ in strings], definitions, calls],
        *(
            [path, language, content, errors, strings, columns, calls]
            for columns in (
                [],
                [[], *definitions[1:]],
                [[10**6, 0], *definitions[1:]],
                [[-1, 0], *definitions[1:]],
                [[1.5, 0], *definitions[1:]],
                [[True, 0], *definitions[1:]],
                [names, keys, kinds, parameters, [0, 0], lengths, flags, counts],
                [names, keys, kinds, parameters, [1 << 40, 0], lengths, flags, counts],
                [names, keys, kinds, parameters, lines, lengths, [99, 0], counts],
                [names, keys, kinds, parameters, lines, lengths, flags, [1 << 30, -(1 << 30)]],
                [names, keys, kinds, parameters, lines, lengths, flags, [1 << 30, 1 << 30]],
            )
        ),
        [path, language, content, errors, strings, definitions, [[-100, 0, 0], *calls[1:]]],
        [path, language, content, errors, strings, definitions, [calls[0], [99, 0, 0], *calls[2:]]],
        [path, language, content, errors, strings, definitions, [[10**30, 0, 0], *calls[1:]]],
        {"files": 1 << 60, "definitions": 0},
        "text",
        None,
    ]


def test_malformed_lines_are_refused(file: Path) -> None:
    header, first, second, end = lines_of(written())
    for hostile in _hostile(first):
        with pytest.raises(SourceMapError):
            read(file, packed(header, hostile, second, end))


def test_duplicate_missing_or_unordered_files_are_refused(file: Path) -> None:
    header, first, second, end = lines_of(written())
    for lines in ((first, first, end), (second, first, end), (first, end), (first, second), (first, second, end, end)):
        with pytest.raises(SourceMapError):
            read(file, packed(header, *lines))


@pytest.mark.exhaustive
def test_nested_and_endless_lines_are_refused_in_bounded_memory(file: Path) -> None:
    header = lzma.decompress(written()).splitlines(keepends=True)[0]
    with pytest.raises(SourceMapError):
        read(file, lzma.compress(header + b"[" * 1_000_000 + b"\n"))
    with pytest.raises(SourceMapError, match="too long"):
        read(file, lzma.compress(header + b" " * (80 << 20), preset=0))
    with pytest.raises(SourceMapError):  # a dictionary of a gigabyte
        filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
        read(file, lzma.compress(header, filters=filters))


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("git@github.com:openxla/xla.git", "https://github.com/openxla/xla"),
        ("https://token:x-oauth@github.com/openxla/xla.git", "https://github.com/openxla/xla"),
        ("ssh://git@example.org:2222/a/b.git/", "https://example.org/a/b"),
        ("http://example.org:8080/a", "http://example.org:8080/a"),
        ("/srv/git/xla.git", None),
        ("file:///srv/git/xla.git", None),
        ("https://example.org:port/a", None),
        ("", None),
    ],
)
def test_the_public_address_of_a_remote_contains_no_secrets(remote: str, address: str | None) -> None:
    assert public_address(remote) == address

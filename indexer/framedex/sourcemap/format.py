"""The format of source maps, version 1, specified in docs/reference/source-maps.md.

Nothing in a map is trusted: malformed maps are rejected, and so are maps larger than any repository.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

from framedex.errors import FramedexError
from framedex.model import ExtractedFile, SourceMapInfo
from framedex.regularfile import open_regular
from framedex.sourcemap.records import MalformedError, decode_file, decode_header, encode_file, encode_header

ENDING = ".fdmap"
VERSION = 1

_PRESET = 2  # xz preset: higher ones save a tenth of the size for several times the time
_MEMORY = 64 << 20  # bytes that decompression may use
_PIECE = 1 << 20
_LONGEST_LINE = 64 << 20
_LARGEST = 4 << 30  # bytes when decompressed; XLA with its calls has 34 MB
_MAGIC = b"\xfd7zXZ\0"


class SourceMapError(FramedexError):
    """A file is not a source map, has an unsupported version, or is damaged."""


def write_map(stream: IO[bytes], info: SourceMapInfo, files: Iterable[ExtractedFile]) -> tuple[int, int]:
    """Write a map; return its numbers of files and definitions. Equal content gives equal bytes.

    The files are ordered by path. Paths are relative to the repository, with `/` between folders.
    """
    counts = [0, 0]
    with lzma.open(stream, "wb", format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, preset=_PRESET) as lines:
        lines.write(_line({"format": "framedex source map", "version": VERSION, **encode_header(info)}))
        for file in files:
            lines.write(_line(encode_file(file)))
            counts[0] += 1
            counts[1] += len(file.definitions)
        lines.write(_line({"files": counts[0], "definitions": counts[1]}))
    return counts[0], counts[1]


@contextmanager
def read_map(path: Path) -> Iterator[tuple[SourceMapInfo, Iterator[ExtractedFile]]]:
    """A context manager that returns a map's information and its files, read on demand.

    Raises SourceMapError if malformed, possibly after some files: callers must then discard those files.
    """
    try:
        with open_regular(path) as stream:
            lines = _lines(path, stream)
            yield _header(path, next(lines, b"")), _files(path, lines)
    except OSError as error:
        raise SourceMapError(
            f"{path} cannot be read: {error.strerror or error}.", "Check the path and its permissions."
        ) from error


def _line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _header(path: Path, line: bytes) -> SourceMapInfo:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != "framedex source map":
        _refuse_as_no_map(path)
    if header.get("version") != VERSION:
        raise SourceMapError(
            f"{path} is a source map of version {header.get('version')!r}; this framedex reads version {VERSION}.",
            "Export it with this framedex, or update framedex.",
        )
    try:
        return decode_header(header)
    except MalformedError as problem:
        _refuse_as_damaged(path, str(problem))


def _files(path: Path, lines: Iterator[bytes]) -> Iterator[ExtractedFile]:
    files = definitions = 0
    last = b""
    for number, line in enumerate(lines, 2):
        try:
            value = json.loads(line)
            if isinstance(value, dict):
                _check_end(value, files, definitions, next(lines, None))
                return
            file = decode_file(value)
        except (ValueError, RecursionError):
            _refuse_as_damaged(path, f"line {number} is not JSON")
        except MalformedError as problem:
            _refuse_as_damaged(path, f"line {number}: {problem}")
        name = file.path.encode()
        if name <= last:
            _refuse_as_damaged(path, f"line {number}: the files are not in order")
        last = name
        files, definitions = files + 1, definitions + len(file.definitions)
        yield file
    _refuse_as_damaged(path, "its end is missing")


def _check_end(counts: dict[str, Any], files: int, definitions: int, following: bytes | None) -> None:
    if counts != {"files": files, "definitions": definitions} or following is not None:
        raise MalformedError("the end does not agree with what came before")


def _lines(path: Path, stream: IO[bytes]) -> Iterator[bytes]:
    """The decompressed lines, without their newlines, in bounded memory."""
    first = stream.read(_PIECE)
    if not first.startswith(_MAGIC):
        _refuse_as_no_map(path)
    rest: list[bytes] = []
    length = 0
    for piece in _decompressed(path, stream, first):
        if b"\n" in piece:
            *complete, piece = (b"".join(rest) + piece).split(b"\n")
            yield from complete
            rest, length = [], 0
        rest.append(piece)
        length += len(piece)
        if length > _LONGEST_LINE:
            _refuse_as_damaged(path, "a line is too long")
    if length:
        _refuse_as_damaged(path, "its last line is cut off")


def _decompressed(path: Path, stream: IO[bytes], data: bytes) -> Iterator[bytes]:
    total = 0
    try:
        decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)
        while not decompressor.eof:
            if decompressor.needs_input and not data:
                _refuse_as_damaged(path, "it is cut off")
            piece = decompressor.decompress(data, _PIECE)
            total += len(piece)
            if total > _LARGEST:
                _refuse_as_damaged(path, "it is too large")
            yield piece
            data = stream.read(_PIECE) if decompressor.needs_input and not decompressor.eof else b""
        if decompressor.unused_data or stream.read(1):
            _refuse_as_damaged(path, "something follows its end")
    except (lzma.LZMAError, EOFError) as error:
        _refuse_as_damaged(path, str(error))


def _refuse_as_no_map(path: Path) -> NoReturn:
    raise SourceMapError(f"{path} is not a source map.", "`framedex sources export ROOT -o FILE` creates one.")


def _refuse_as_damaged(path: Path, problem: str) -> NoReturn:
    raise SourceMapError(
        f"The source map {path} is damaged: {problem}. Nothing was imported.", "Fetch or export it again."
    )

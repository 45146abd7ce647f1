"""Source maps: the definitions of one commit in a small file, for users without a checkout.

docs/reference/source-maps.md specifies the format, version 1. A map is imported completely or rejected, in one
transaction. Nothing in a map is trusted: malformed maps are rejected, and also maps larger than any repository.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, NoReturn
from urllib.parse import urlsplit

from framedex.base.errors import FramedexError
from framedex.base.regularfile import open_regular
from framedex.model import DefinitionRow, ExtractedFile, SourceMapInfo
from framedex.model.locations import is_safe_relative_path
from framedex.sources.git import Git

ENDING = ".fdmap"
VERSION = 1

_PRESET = 2  # xz preset: higher ones save a tenth of the size for several times the time
_MEMORY = 64 << 20  # bytes that decompression may use
_PIECE = 1 << 20
_MAX_LINE_BYTES = 64 << 20
_MAX_BYTES = 4 << 30  # bytes when decompressed; XLA with its calls has 34 MB
_MAGIC = b"\xfd7zXZ\0"


class SourceMapError(FramedexError):
    """A file is not a source map, has an unsupported version, or is damaged."""


def write_map(stream: IO[bytes], info: SourceMapInfo, files: Iterable[ExtractedFile]) -> tuple[int, int]:
    """Write a map; return its numbers of files and definitions. Equal content gives equal bytes.

    The files are ordered by path. Paths are relative to the repository, with `/` between folders.
    """
    counts = [0, 0]
    with lzma.open(stream, "wb", format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, preset=_PRESET) as lines:
        lines.write(_encode_line({"format": "framedex source map", "version": VERSION, **encode_header(info)}))
        for file in files:
            lines.write(_encode_line(encode_file(file)))
            counts[0] += 1
            counts[1] += len(file.definitions)
        lines.write(_encode_line({"files": counts[0], "definitions": counts[1]}))
    return counts[0], counts[1]


@contextmanager
def read_map(path: Path) -> Iterator[tuple[SourceMapInfo, Iterator[ExtractedFile]]]:
    """A context manager that returns a map's information and its files, read on demand.

    Raises SourceMapError if the map is malformed, possibly after some files: callers must then discard these files.
    """
    try:
        with open_regular(path) as stream:
            lines = _read_lines(path, stream)
            yield _parse_header(path, next(lines, b"")), _parse_files(path, lines)
    except OSError as error:
        raise SourceMapError(
            f"{path} cannot be read: {error.strerror or error}.", "Check the path and its permissions."
        ) from error


def _encode_line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _parse_header(path: Path, line: bytes) -> SourceMapInfo:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or header.get("format") != "framedex source map":
        _raise_not_a_map(path)
    if header.get("version") != VERSION:
        raise SourceMapError(
            f"{path} is a source map of version {header.get('version')!r}; this framedex reads version {VERSION}.",
            "Export it with this framedex, or update framedex.",
        )
    try:
        return decode_header(header)
    except MalformedError as problem:
        _raise_damaged(path, str(problem))


def _parse_files(path: Path, lines: Iterator[bytes]) -> Iterator[ExtractedFile]:
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
            _raise_damaged(path, f"line {number} is not JSON")
        except MalformedError as problem:
            _raise_damaged(path, f"line {number}: {problem}")
        name = file.path.encode()
        if name <= last:
            _raise_damaged(path, f"line {number}: the files are not in order")
        last = name
        files, definitions = files + 1, definitions + len(file.definitions)
        yield file
    _raise_damaged(path, "its end is missing")


def _check_end(counts: dict[str, Any], files: int, definitions: int, following: bytes | None) -> None:
    if counts != {"files": files, "definitions": definitions} or following is not None:
        raise MalformedError("the totals at its end do not match its files")


def _read_lines(path: Path, stream: IO[bytes]) -> Iterator[bytes]:
    """The decompressed lines, without their newlines, in bounded memory."""
    first = stream.read(_PIECE)
    if not first.startswith(_MAGIC):
        _raise_not_a_map(path)
    rest: list[bytes] = []
    length = 0
    for piece in _decompress(path, stream, first):
        if b"\n" in piece:
            *complete, piece = (b"".join(rest) + piece).split(b"\n")
            yield from complete
            rest, length = [], 0
        rest.append(piece)
        length += len(piece)
        if length > _MAX_LINE_BYTES:
            _raise_damaged(path, "a line is too long")
    if length:
        _raise_damaged(path, "its last line is truncated")


def _decompress(path: Path, stream: IO[bytes], data: bytes) -> Iterator[bytes]:
    total = 0
    try:
        decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY)
        while not decompressor.eof:
            if decompressor.needs_input and not data:
                _raise_damaged(path, "it is truncated")
            piece = decompressor.decompress(data, _PIECE)
            total += len(piece)
            if total > _MAX_BYTES:
                _raise_damaged(path, "it is too large")
            yield piece
            data = stream.read(_PIECE) if decompressor.needs_input and not decompressor.eof else b""
        if decompressor.unused_data or stream.read(1):
            _raise_damaged(path, "it has data after its end")
    except (lzma.LZMAError, EOFError) as error:
        _raise_damaged(path, str(error))


def _raise_not_a_map(path: Path) -> NoReturn:
    raise SourceMapError(f"{path} is not a source map.", "`framedex sources export ROOT -o FILE` creates one.")


def _raise_damaged(path: Path, problem: str) -> NoReturn:
    raise SourceMapError(
        f"The source map {path} is damaged: {problem}. Nothing was imported.", "Fetch or export it again."
    )


_COMPONENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPOSITORY = re.compile(r"https?://[^\s@?#\"'<>\\]+")
_LANGUAGES = ("cpp", "python", "protobuf", "tablegen")
_MAX_NUMBER = 1 << 31

CONST_FLAG, BROKEN_FLAG = 1, 2


class MalformedError(Exception):
    """A value violates the format; the message names the violation."""


def encode_header(info: SourceMapInfo) -> dict[str, object]:
    """The first line without format and version. Raises MalformedError for values that readers would reject."""
    header: dict[str, object] = {
        "component": info.component,
        "repository": info.repository,
        "commit": info.commit,
        "dirty": info.is_dirty,
        "tool": info.tool,
    }
    decode_header(header)
    return header


def decode_header(header: dict[str, Any]) -> SourceMapInfo:
    """The information in a map's first line. Raises MalformedError."""
    component, repository, commit = (header.get(key) for key in ("component", "repository", "commit"))
    dirty, tool = header.get("dirty"), header.get("tool")
    _check(isinstance(component, str) and _COMPONENT.fullmatch(component), "the name of the component is invalid")
    _check(isinstance(commit, str) and _COMMIT.fullmatch(commit), "the commit is invalid")
    _check(repository is None or is_address(repository), "the repository is not an address")
    _check(isinstance(dirty, bool) and isinstance(tool, str) and len(tool) < 100, "its header is incomplete")
    return SourceMapInfo(str(component), repository, str(commit), bool(dirty), str(tool))


def is_address(text: object) -> bool:
    """Whether a text is the public address of a repository."""
    if not isinstance(text, str) or len(text) >= 1000 or not _REPOSITORY.fullmatch(text):
        return False
    try:
        return bool(urlsplit(text).hostname)
    except ValueError:  # brackets without an address
        return False


def encode_file(file: ExtractedFile) -> list[object]:
    """Encode a file as a line: each string once, and the fields of definitions and of calls as columns."""
    strings: dict[str, int] = {}

    def number(text: str | None) -> int:
        return -1 if text is None else strings.setdefault(text, len(strings))

    definitions: tuple[list[int], ...] = ([], [], [], [], [], [], [], [])
    calls: tuple[list[int], ...] = ([], [], [], [])
    before = 0
    for name, key, kind, parameters, line, end_line, is_const, is_broken, sites in file.definitions:
        found = sorted(json.loads(sites), key=lambda site: site[:2]) if sites else []
        flags = CONST_FLAG * bool(is_const) | BROKEN_FLAG * bool(is_broken)
        row = (number(name), number(key), number(kind), number(parameters), line - before, end_line - line, flags)
        _append_row(definitions, (*row, len(found)))
        before = at = line
        for site_line, _, site_kind, callee, *written in found:
            _append_row(calls, (site_line - at, number(site_kind), number(callee), number(*written or (None,))))
            at = site_line
    content = f"{file.content % (1 << 64):016x}"
    return [file.path, file.language, content, file.errors, list(strings), list(definitions), list(calls)]


def decode_file(value: object) -> ExtractedFile:
    """Decode a file from its line. Time, size and columns are 0: no such file exists here. Raises MalformedError."""
    _check(isinstance(value, list) and len(value) == 7, "it is not the entry of a file")
    assert isinstance(value, list)
    path, language, content, errors, strings, definitions, calls = value
    _check(is_path_in_repository(path), "its path leads out of the repository")
    _check(language in _LANGUAGES if isinstance(language, str) else False, "its language is unknown")
    _check(isinstance(content, str) and re.fullmatch(r"[0-9a-f]{16}", content), "its hash is invalid")
    _check(type(errors) is int and 0 <= errors < _MAX_NUMBER, "its number of errors is invalid")
    _check(isinstance(strings, list) and all(type(text) is str for text in strings), "its strings are malformed")
    _check(_is_text("".join(strings)), "a string is not valid text")
    _check_columns(definitions, 8)
    _check_columns(calls, 4)
    rows = tuple(
        _decode_definitions(strings, definitions, _decode_calls(strings, calls, definitions[4], definitions[7]))
    )
    hashed = int(content, 16)
    signed = hashed - (1 << 64) if hashed >= 1 << 63 else hashed
    return ExtractedFile(path, language, 0, 0, signed, errors, rows, ())


def is_path_in_repository(path: object) -> bool:
    """Whether this is a valid path of a source map: inside the repository."""
    return isinstance(path, str) and len(path) < 4096 and _is_text(path) and is_safe_relative_path(path)


def _decode_definitions(
    strings: Sequence[str], columns: Sequence[Sequence[int]], calls: Iterator[str | None]
) -> Iterator[DefinitionRow]:
    names, keys, kinds, parameters, _, lengths, flags, _ = columns
    _check(_are_in_range((*names, *keys, *kinds), 0, len(strings)), "a string is missing")
    _check(_are_in_range(parameters, -1, len(strings)), "a string is missing")
    _check(_are_in_range(flags, 0, 4), "a definition is malformed")
    lines = list(accumulate(columns[4]))
    ends = [line + length for line, length in zip(lines, lengths, strict=True)]
    _check(_are_in_range(lines, 1, _MAX_NUMBER) and _are_in_range(ends, 0, _MAX_NUMBER), "a line is none")
    for name, key, kind, written, line, end, flag in zip(
        names, keys, kinds, parameters, lines, ends, flags, strict=True
    ):
        texts = strings[name], strings[key], strings[kind], None if written < 0 else strings[written]
        yield *texts, line, end, bool(flag & CONST_FLAG), bool(flag & BROKEN_FLAG), next(calls)


def _decode_calls(
    strings: Sequence[str], columns: Sequence[Sequence[int]], lines: Sequence[int], counts: Sequence[int]
) -> Iterator[str | None]:
    """The calls of each definition as JSON for the index."""
    deltas, kinds, callees, written = columns
    _check(_are_in_range(counts, 0, _MAX_NUMBER) and sum(counts) == len(deltas), "a call is missing")
    _check(_are_in_range((*kinds, *callees), 0, len(strings)), "a string is missing")
    _check(_are_in_range(written, -1, len(strings)), "a string is missing")
    end = 0
    for line, count in zip(accumulate(lines), counts, strict=True):
        begin, end = end, end + count
        at = list(accumulate(deltas[begin:end], initial=line))[1:]
        _check(_are_in_range(at, 1, _MAX_NUMBER), "a line is none")
        sites = [
            [place, 0, strings[kind], strings[callee], *([strings[text]] if text >= 0 else [])]
            for place, kind, callee, text in zip(
                at, kinds[begin:end], callees[begin:end], written[begin:end], strict=True
            )
        ]
        yield json.dumps(sites, ensure_ascii=False, separators=(",", ":")) if sites else None


def _check_columns(columns: object, width: int) -> None:
    _check(isinstance(columns, list) and len(columns) == width, "a column is missing")
    assert isinstance(columns, list)
    _check(
        all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns), "a column is too short"
    )
    _check(all(set(map(type, column)) <= {int} for column in columns), "a number is malformed")
    _check(all(_are_in_range(column, -_MAX_NUMBER, _MAX_NUMBER) for column in columns), "a number is too large")


def _are_in_range(numbers: Sequence[int], first: int, end: int) -> bool:
    return not numbers or (first <= min(numbers) and max(numbers) < end)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return False
    return True


def _append_row(columns: Sequence[list[int]], row: Sequence[int]) -> None:
    for column, value in zip(columns, row, strict=True):
        column.append(value)


def _check(condition: object, problem: str) -> None:
    if not condition:
        raise MalformedError(problem)


_SHORT_SSH = re.compile(r"(?:[\w.-]+@)?(?P<host>[\w.-]+):(?!//)(?P<path>[^:]+)")
_SCHEMES = ("http", "https", "ssh", "git", "git+ssh")


def list_tracked_files(folder: Path) -> frozenset[str] | None:
    """The tracked files below a folder, relative to the root of the checkout; None if git fails."""
    names = Git(folder).text("ls-files", "-z", "--full-name", "--", ".")
    return None if names is None else frozenset(filter(None, names.split("\0")))


def find_public_address(folder: Path) -> str | None:
    """The public address of a checkout's `origin`; None if it has none."""
    remote = Git(folder).text("remote", "get-url", "origin")
    return public_address(remote.strip()) if remote else None


def public_address(remote: str) -> str | None:
    """The public address of a remote, without user names and passwords; None for a local one."""
    if match := _SHORT_SSH.fullmatch(remote):
        remote = f"ssh://{match['host']}/{match['path']}"
    try:
        parts = urlsplit(remote)
        number = parts.port
    except ValueError:
        return None
    if parts.scheme not in _SCHEMES or not parts.hostname:
        return None
    port = f":{number}" if number and parts.scheme in ("http", "https") else ""
    scheme = "http" if parts.scheme == "http" else "https"
    return f"{scheme}://{parts.hostname}{port}/{parts.path.strip('/').removesuffix('.git')}"

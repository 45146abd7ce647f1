"""Encode and decode the lines of a source map, with full validation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any
from urllib.parse import urlsplit

from framedex.model import DefinitionRow, ExtractedFile, SourceMapInfo
from framedex.model.places import leads_inside

_COMPONENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REPOSITORY = re.compile(r"https?://[^\s@?#\"'<>\\]+")
_LANGUAGES = ("cpp", "python", "protobuf", "tablegen")
_MOST = 1 << 31

CONST, BROKEN = 1, 2


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
    _check(isinstance(component, str) and _COMPONENT.fullmatch(component), "the name of the component is none")
    _check(isinstance(commit, str) and _COMMIT.fullmatch(commit), "the commit is none")
    _check(repository is None or is_address(repository), "the repository is no address")
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
        flags = CONST * bool(is_const) | BROKEN * bool(is_broken)
        row = (number(name), number(key), number(kind), number(parameters), line - before, end_line - line, flags)
        _append(definitions, (*row, len(found)))
        before = at = line
        for site_line, _, site_kind, callee, *written in found:
            _append(calls, (site_line - at, number(site_kind), number(callee), number(*written or (None,))))
            at = site_line
    content = f"{file.content % (1 << 64):016x}"
    return [file.path, file.language, content, file.errors, list(strings), list(definitions), list(calls)]


def decode_file(value: object) -> ExtractedFile:
    """Decode a file from its line. Time, size and columns are 0: no such file exists here. Raises MalformedError."""
    _check(isinstance(value, list) and len(value) == 7, "it is no file")
    assert isinstance(value, list)
    path, language, content, errors, strings, definitions, calls = value
    _check(is_inside(path), "its path leads elsewhere")
    _check(language in _LANGUAGES if isinstance(language, str) else False, "its language is unknown")
    _check(isinstance(content, str) and re.fullmatch(r"[0-9a-f]{16}", content), "its hash is none")
    _check(type(errors) is int and 0 <= errors < _MOST, "its number of errors is none")
    _check(isinstance(strings, list) and all(type(text) is str for text in strings), "its strings are none")
    _check(_is_text("".join(strings)), "a string is no text")
    _check_columns(definitions, 8)
    _check_columns(calls, 4)
    rows = tuple(_definitions(strings, definitions, _calls(strings, calls, definitions[4], definitions[7])))
    hashed = int(content, 16)
    signed = hashed - (1 << 64) if hashed >= 1 << 63 else hashed
    return ExtractedFile(path, language, 0, 0, signed, errors, rows, ())


def is_inside(path: object) -> bool:
    """Whether this is a valid path of a source map: inside the repository."""
    return isinstance(path, str) and len(path) < 4096 and _is_text(path) and leads_inside(path)


def _definitions(
    strings: Sequence[str], columns: Sequence[Sequence[int]], calls: Iterator[str | None]
) -> Iterator[DefinitionRow]:
    names, keys, kinds, parameters, _, lengths, flags, _ = columns
    _check(_all_within((*names, *keys, *kinds), 0, len(strings)), "a string is missing")
    _check(_all_within(parameters, -1, len(strings)), "a string is missing")
    _check(_all_within(flags, 0, 4), "a definition is none")
    lines = list(accumulate(columns[4]))
    ends = [line + length for line, length in zip(lines, lengths, strict=True)]
    _check(_all_within(lines, 1, _MOST) and _all_within(ends, 0, _MOST), "a line is none")
    for name, key, kind, written, line, end, flag in zip(
        names, keys, kinds, parameters, lines, ends, flags, strict=True
    ):
        texts = strings[name], strings[key], strings[kind], None if written < 0 else strings[written]
        yield *texts, line, end, bool(flag & CONST), bool(flag & BROKEN), next(calls)


def _calls(
    strings: Sequence[str], columns: Sequence[Sequence[int]], lines: Sequence[int], counts: Sequence[int]
) -> Iterator[str | None]:
    """The calls of each definition as JSON for the index."""
    deltas, kinds, callees, written = columns
    _check(_all_within(counts, 0, _MOST) and sum(counts) == len(deltas), "a call is missing")
    _check(_all_within((*kinds, *callees), 0, len(strings)), "a string is missing")
    _check(_all_within(written, -1, len(strings)), "a string is missing")
    end = 0
    for line, count in zip(accumulate(lines), counts, strict=True):
        begin, end = end, end + count
        at = list(accumulate(deltas[begin:end], initial=line))[1:]
        _check(_all_within(at, 1, _MOST), "a line is none")
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
    _check(all(isinstance(column, list) and len(column) == len(columns[0]) for column in columns), "a column is short")
    _check(all(set(map(type, column)) <= {int} for column in columns), "a number is none")
    _check(all(_all_within(column, -_MOST, _MOST) for column in columns), "a number is too large")


def _all_within(numbers: Sequence[int], low: int, end: int) -> bool:
    return not numbers or (min(numbers) >= low and max(numbers) < end)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _append(columns: Sequence[list[int]], row: Sequence[int]) -> None:
    for column, value in zip(columns, row, strict=True):
        column.append(value)


def _check(condition: object, problem: str) -> None:
    if not condition:
        raise MalformedError(problem)

"""Detects recordings in unsupported formats, and names the tool that converts each to a supported one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class UnsupportedFormat(NamedTuple):
    """An unsupported format, and a sentence that says how to convert it."""

    name: str
    remedy: str


_SPEEDSCOPE = "Open it with speedscope (`npx speedscope FILE`), export it there, and import that."
_PPROF = "Convert it: `pprof -proto FILE > FILE.pb.gz`, and import that."
_UNPACK = "Decompress it, and import the content."


def _starts_with(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(starts)


def _matches(pattern: bytes) -> Callable[[bytes], bool]:
    return lambda head: re.search(pattern, head, re.DOTALL) is not None


_UNSUPPORTED_FORMATS = (
    (
        _starts_with(b"PERFILE2", b"2ELIFREP"),
        UnsupportedFormat("data of `perf record`", "Import the output of `perf script -i FILE`."),
    ),
    (
        _starts_with(b"MOJ"),
        UnsupportedFormat("austin's MOJO", "Convert it: `mojo2austin FILE FILE.austin`, of pip's austin-python."),
    ),
    (
        _starts_with(b"\x04\x22\x4d\x18", b"memray"),
        UnsupportedFormat(
            "a compressed recording of `memray run`", "Convert it: `memray transform csv FILE`, and import that."
        ),
    ),
    (_starts_with(b"\x28\xb5\x2f\xfd"), UnsupportedFormat("compressed with zstd", _UNPACK)),
    (_starts_with(b"BZh"), UnsupportedFormat("compressed with bzip2", _UNPACK)),
    (_starts_with(b"\xfd7zXZ"), UnsupportedFormat("compressed with xz", _UNPACK)),
    (
        _starts_with(b"\xff\xfe", b"\xfe\xff"),
        UnsupportedFormat(
            "a text in UTF-16", "Write it in UTF-8 with the recorder's `-o`: PowerShell's `>` writes UTF-16."
        ),
    ),
    (
        # A marshalled dict whose first key is a tuple of three.
        _matches(rb"^[{\xfb][)\xa9]\x03"),
        UnsupportedFormat(
            "a table of cProfile's, without stacks", "Record with py-spy, austin, pyinstrument or viztracer."
        ),
    ),
    (
        _starts_with(b"SQLite format 3\0"),
        UnsupportedFormat(
            "an SQLite database", "Export a supported format with its recorder: docs/how-to/import.md shows how."
        ),
    ),
    (
        _starts_with(b"FLR\0"),
        UnsupportedFormat("a recording of Java Flight Recorder", "Convert it: `jfrconv -o collapsed FILE`."),
    ),
    (
        _matches(rb'^\s*\{\s*"total_num_allocations"\s*:'),
        UnsupportedFormat(
            "memray's statistics, without stacks",
            "Convert the recording: `memray transform csv FILE`.",
        ),
    ),
    (_matches(rb'^\s*\{.*"callFrame"\s*:'), UnsupportedFormat("a profile of V8", _SPEEDSCOPE)),
    (
        _matches(rb'^\s*\{\s*"meta"\s*:.*"(?:stackTable|processType|categories)"'),
        UnsupportedFormat("a Firefox profile", _SPEEDSCOPE),
    ),
    (
        _matches(rb'^\s*\{.*"root_frame"\s*:'),
        UnsupportedFormat("pyinstrument's JSON", "Write it with `pyinstrument -r speedscope`."),
    ),
    (
        _matches(rb"^\s*(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE (?:html|svg)|<html|<svg)"),
        UnsupportedFormat(
            "a page or a picture of a profile", "Export the stacks with its recorder: docs/how-to/import.md says how."
        ),
    ),
    (
        # The first resource, and the first of its attributes (opentelemetry-proto, profiles/v1development).
        _matches(rb"\A\n.{1,9}\n.{1,5}\n.{1,4}\n.(?:service|process|host|os|telemetry|container|k8s|cloud)\."),
        UnsupportedFormat("a profile of OpenTelemetry", "Export pprof with its recorder or its backend."),
    ),
    (_matches(rb"^(?:heap profile: |--- )|\A\0{8}\x03\0{15}"), UnsupportedFormat("a profile of gperftools", _PPROF)),
)


def find_unsupported_format(head: bytes) -> UnsupportedFormat | None:
    """Return the unsupported format with these first bytes; None if it is unknown."""
    return next((what for matches, what in _UNSUPPORTED_FORMATS if matches(head)), None)

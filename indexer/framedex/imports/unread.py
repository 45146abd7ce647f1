"""Detects recordings in unsupported formats, and names the tool that converts each to a supported one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Unread(NamedTuple):
    """An unsupported format and its remedy."""

    name: str
    remedy: str


_SPEEDSCOPE = "Open it with speedscope (`npx speedscope FILE`), export it there, and import that."
_PPROF = "Convert it: `pprof -proto FILE > FILE.pb.gz`, and import that."
_UNPACK = "Decompress it, and import the content."


def _begins(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(starts)


def _has(pattern: bytes) -> Callable[[bytes], bool]:
    return lambda head: re.search(pattern, head, re.DOTALL) is not None


_UNREAD = (
    (_begins(b"PERFILE2", b"2ELIFREP"), Unread("data of `perf record`", "Import the output of `perf script -i FILE`.")),
    (_begins(b"MOJ"), Unread("austin's MOJO", "Convert it: `mojo2austin FILE FILE.austin`, of pip's austin-python.")),
    (
        _begins(b"\x04\x22\x4d\x18", b"memray"),
        Unread("a compressed recording of `memray run`", "Convert it: `memray transform csv FILE`, and import that."),
    ),
    (_begins(b"\x28\xb5\x2f\xfd"), Unread("compressed with zstd", _UNPACK)),
    (_begins(b"BZh"), Unread("compressed with bzip2", _UNPACK)),
    (_begins(b"\xfd7zXZ"), Unread("compressed with xz", _UNPACK)),
    (
        _begins(b"\xff\xfe", b"\xfe\xff"),
        Unread("a text in UTF-16", "Write it in UTF-8 with the recorder's `-o`: PowerShell's `>` writes UTF-16."),
    ),
    (
        # A marshalled dict whose first key is a tuple of three.
        _has(rb"^[{\xfb][)\xa9]\x03"),
        Unread("a table of cProfile's, without stacks", "Record with py-spy, austin, pyinstrument or viztracer."),
    ),
    (
        _begins(b"SQLite format 3\0"),
        Unread("an SQLite database", "Export a supported format with its recorder: docs/how-to/import.md shows how."),
    ),
    (_begins(b"FLR\0"), Unread("a recording of Java Flight Recorder", "Convert it: `jfrconv -o collapsed FILE`.")),
    (
        _has(rb'^\s*\{\s*"total_num_allocations"\s*:'),
        Unread(
            "memray's statistics, without stacks",
            "Convert the recording: `memray transform csv FILE`.",
        ),
    ),
    (_has(rb'^\s*\{.*"callFrame"\s*:'), Unread("a profile of V8", _SPEEDSCOPE)),
    (_has(rb'^\s*\{\s*"meta"\s*:.*"(?:stackTable|processType|categories)"'), Unread("a Firefox profile", _SPEEDSCOPE)),
    (_has(rb'^\s*\{.*"root_frame"\s*:'), Unread("pyinstrument's JSON", "Write it with `pyinstrument -r speedscope`.")),
    (
        _has(rb"^\s*(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE (?:html|svg)|<html|<svg)"),
        Unread(
            "a page or a picture of a profile", "Export the stacks with its recorder: docs/how-to/import.md says how."
        ),
    ),
    (
        # The first resource, and the first of its attributes (opentelemetry-proto, profiles/v1development).
        _has(rb"\A\n.{1,9}\n.{1,5}\n.{1,4}\n.(?:service|process|host|os|telemetry|container|k8s|cloud)\."),
        Unread("a profile of OpenTelemetry", "Export pprof with its recorder or its backend."),
    ),
    (_has(rb"^(?:heap profile: |--- )|\A\0{8}\x03\0{15}"), Unread("a profile of gperftools", _PPROF)),
)


def unread(head: bytes) -> Unread | None:
    """The unsupported format with these first bytes; None if it is unknown."""
    return next((what for fits, what in _UNREAD if fits(head)), None)

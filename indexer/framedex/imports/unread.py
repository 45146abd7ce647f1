"""Files of recorders that are not read as they are: what tells each, and what makes one of it that is read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple


class Unread(NamedTuple):
    """What a file is, and what to do."""

    name: str
    remedy: str


_SPEEDSCOPE = "Open it with speedscope (`npx speedscope FILE`), export it there, and import that."
_PPROF = "Convert it: `pprof -proto FILE > FILE.pb.gz`, and import that."
_UNPACK = "Unpack it, and import what is in it."


def _begins(*starts: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(starts)


def _has(pattern: bytes) -> Callable[[bytes], bool]:
    return lambda head: re.search(pattern, head, re.DOTALL) is not None


_UNREAD = (
    (_begins(b"PERFILE2", b"2ELIFREP"), Unread("data of `perf record`", "Import what `perf script -i FILE` prints.")),
    (_begins(b"MOJ"), Unread("austin's MOJO", "Convert it: `mojo2austin FILE FILE.austin`, of pip's austin-python.")),
    (
        _begins(b"\x04\x22\x4d\x18", b"memray"),
        Unread("packed as `memray run` does it", "Convert it: `memray transform csv FILE`, and import that."),
    ),
    (_begins(b"\x28\xb5\x2f\xfd"), Unread("packed by zstd", _UNPACK)),
    (_begins(b"BZh"), Unread("packed by bzip2", _UNPACK)),
    (_begins(b"\xfd7zXZ"), Unread("packed by xz", _UNPACK)),
    (
        _begins(b"\xff\xfe", b"\xfe\xff"),
        Unread("a text in UTF-16", "Write it in UTF-8: PowerShell's `>` does not, the recorder's own `-o` does."),
    ),
    (
        # Marshalled, a dict of which a key is a tuple of three.
        _has(rb"^[{\xfb][)\xa9]\x03"),
        Unread("a table of cProfile's, without stacks", "Record with py-spy, austin, pyinstrument or viztracer."),
    ),
    (_begins(b"SQLite format 3\0"), Unread("a database", "Have its recorder write one of the formats that are read.")),
    (_begins(b"FLR\0"), Unread("of Java's Flight Recorder", "Convert it: `jfrconv -o collapsed FILE`.")),
    (
        _has(rb'^\s*\{\s*"total_num_allocations"\s*:'),
        Unread("memray's statistics, without stacks", "Import what `memray transform csv` makes of the recording."),
    ),
    (_has(rb'^\s*\{.*"callFrame"\s*:'), Unread("a profile of V8", _SPEEDSCOPE)),
    (_has(rb'^\s*\{\s*"meta"\s*:.*"(?:stackTable|processType|categories)"'), Unread("a Firefox profile", _SPEEDSCOPE)),
    (_has(rb'^\s*\{.*"root_frame"\s*:'), Unread("pyinstrument's JSON", "Write it with `pyinstrument -r speedscope`.")),
    (
        _has(rb"^\s*(?:<\?xml[^>]*>\s*)?(?:<!DOCTYPE (?:html|svg)|<html|<svg)"),
        Unread(
            "a page or a picture of a profile", "Have its recorder write the stacks: docs/how-to/import.md says how."
        ),
    ),
    (
        # The first resource, and the first of its attributes (opentelemetry-proto, profiles/v1development).
        _has(rb"\A\n.{1,9}\n.{1,5}\n.{1,4}\n.(?:service|process|host|os|telemetry|container|k8s|cloud)\."),
        Unread("a profile of OpenTelemetry", "Have its recorder, or the store that they went to, write pprof."),
    ),
    (_has(rb"^(?:heap profile: |--- )|\A\0{8}\x03\0{15}"), Unread("a profile of gperftools", _PPROF)),
)


def unread(head: bytes) -> Unread | None:
    """What the first bytes of a file are of, None where that is not known either."""
    return next((what for fits, what in _UNREAD if fits(head)), None)

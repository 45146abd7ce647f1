"""Parsers of stacks of addresses (absl, glog, folly, tcmalloc), and of memory maps that locate the addresses.

Sources of stacks:
- abseil-cpp, absl/debugging/internal/examine_stack.cc: a size or `(unknown)` between address and symbol; the line
  `PC:` has the program counter, the others return addresses
- glog, src/signalhandler.cc: no size
- folly, folly/debugging/symbolizer/SymbolizePrinter.cpp: 16 digits, and the location on a separate line
- gperftools, src/tcmalloc.cc (ReportLargeAlloc) and src/malloc_hook.cc (heap profiles)

Forms of maps: `/proc/PID/maps` (also in reports of HotSpot and glibc), gdb's `info proc mappings` and
`info sharedlibrary`. A map names the loaded file but not its build. If the file was replaced, Linux appends
` (deleted)` to its path. The words are kept, so that no local file matches.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from framedex.base.lazy import compile_on_use
from framedex.model import Language
from framedex.text_stacks.frames import build_native_frame, build_parts, find_source_spans, find_text_columns
from framedex.text_stacks.model import ParsedLine, PartKind, StackFormat, TextFrame, TextPart, TextStack

_FRAME = compile_on_use(
    r"(?P<pc>PC: )?@ +(?P<address>0x[0-9a-fA-F]{1,16}|[0-9a-f]{16})(?=\s|$)"
    r"(?: +(?P<size>\d+|\(unknown\))(?= |$))?(?: +(?P<function>\S.*))?$"
)
_LIST = compile_on_use(r"@ +(?P<addresses>0x[0-9a-fA-F]{1,16}(?: +0x[0-9a-fA-F]{1,16})+)\s*$")
_ADDRESS = compile_on_use(r"0x[0-9a-fA-F]+")
_HEADING = compile_on_use(r"\*\*\* (?:SIG\w+ |Signal \d+ |Check failure stack trace|Aborted at ).*")
_UNKNOWN = "(unknown)"
_MIN_INDENTATION = 8  # of folly's locations
LINK_TITLE = "symbolizer link"
"""The title of a stack that is only a link."""

# `https://symbolize.stripped_domain/r/?trace=7f01,7f02&map=<build-id>:7f00-7fff`, above and below the frames of a TPU
# crash: the call addresses, and the load address of the binary whose symbols are stored elsewhere.
_LINK = compile_on_use(r"https?://\S*[?&]trace=(?P<trace>[0-9a-f,]+)&map=(?P<map>[0-9a-f:,-]*)")
_MAP = compile_on_use(r"([0-9a-f]{8,64}):([0-9a-f]{1,16})-([0-9a-f]{1,16})")
_MAX_MAPS = 64
_HEX = compile_on_use(r"[0-9a-f]{1,16}")


class _Map(NamedTuple):
    """The address range of a binary, half-open."""

    build_id: str
    start: int
    end: int


def _locate_address(address: int, maps: Sequence[_Map]) -> tuple[str, int | None]:
    """Return the build-id of the binary loaded at an address, and the offset in it."""
    found = next((each for each in maps if each.start <= address < each.end), None)
    return (found.build_id, address - found.start) if found is not None else ("", None)


class AddressLines:
    """Parser of handlers and address lists; one object per text."""

    is_rare = False
    state_attributes = ("_maps",)
    triggers = ("*** ", "@ ", "&map=")

    def __init__(self) -> None:
        self._maps: tuple[_Map, ...] = ()  # from the last link

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the heading with the signal, or a frame."""
        if "@ " in line:
            if (addresses := _LIST.search(line)) is not None:
                title = line[: addresses.start()].strip()
                return ParsedLine(
                    StackFormat.TCMALLOC,
                    tuple(_parse_listed_frames(number, addresses, self._maps)),
                    opening_title=title,
                    closing_title=title,
                    depends_on_values=bool(self._maps),
                )
            match = _FRAME.search(line)
            if match is not None:
                return _parse_frame(number, match, self._maps)
        link = _LINK.search(line) if "&map=" in line else None
        if link is not None:
            found = islice(_MAP.finditer(link["map"]), _MAX_MAPS)
            self._maps = tuple(_Map(each[1], int(each[2], 16), int(each[3], 16)) for each in found)
            return ParsedLine(
                StackFormat.ABSL,
                tuple(_parse_linked_frames(number, link, self._maps)),
                opening_title=LINK_TITLE,
                closing_title=LINK_TITLE,
            )
        heading = _HEADING.search(line) if "*** " in line else None
        # glog prints a second heading below its first frame, which continues the same stack.
        if heading is None or (is_in_stack and "stack trace: ***" in line):
            return None
        return ParsedLine(StackFormat.ABSL, opening_title=heading[0].strip())

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the frame with folly's location below the symbol."""
        start, end = find_text_columns(line)
        if frame.format is not StackFormat.GLOG or frame.place is not None or start < _MIN_INDENTATION:
            return None
        source = find_source_spans(line, start, end)
        is_path = line.startswith(("/", "./", "../"), start)
        if not source or (not is_path and source[PartKind.PATH][0] != start):
            return None
        source[PartKind.PATH] = start, source[PartKind.PATH][1]
        place = build_native_frame(StackFormat.GLOG, number, line, (start, end), source)
        return replace(frame, last_line=number, end=end, parts=(*frame.parts, *place.parts), place=place.place)

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is glog's second heading, or the count of omitted frames."""
        return "stack trace: ***" in line or "@ ... and at least " in line


def _parse_frame(number: int, match: re.Match[str], maps: Sequence[_Map]) -> ParsedLine:
    form = StackFormat.ABSL if match["size"] and match["function"] else StackFormat.GLOG
    function = (match["function"] or "").rstrip()
    address = int(match["address"], 16)
    build_id, offset = _locate_address(address, maps)
    frame = TextFrame(
        form,
        number,
        match.start(),
        number,
        match.start("function") + len(function) if function else match.end(),
        build_parts(number, match),
        function="" if function == _UNKNOWN else function,
        language=Language.NATIVE,
        address=address,
        is_return_address=match["pc"] is None,
        offset=offset,
        build_id=build_id,
    )
    return ParsedLine(form, (frame,), depends_on_values=bool(maps))


def _parse_listed_frames(number: int, addresses: re.Match[str], maps: Sequence[_Map]) -> Iterator[TextFrame]:
    for match in _ADDRESS.finditer(addresses["addresses"]):
        start, end = (addresses.start("addresses") + column for column in match.span())
        yield replace(
            _build_address_frame(StackFormat.TCMALLOC, number, start, end, int(match[0], 16), maps),
            is_return_address=True,
        )


def _parse_linked_frames(number: int, link: re.Match[str], maps: Sequence[_Map]) -> Iterator[TextFrame]:
    for match in _HEX.finditer(link["trace"]):
        start, end = (link.start("trace") + column for column in match.span())
        yield _build_address_frame(StackFormat.ABSL, number, start, end, int(match[0], 16), maps)


def _build_address_frame(
    form: StackFormat, number: int, start: int, end: int, address: int, maps: Sequence[_Map]
) -> TextFrame:
    """Return a frame that has only an address."""
    build_id, offset = _locate_address(address, maps)
    return TextFrame(
        form,
        number,
        start,
        number,
        end,
        (TextPart(PartKind.ADDRESS, number, start, end),),
        language=Language.NATIVE,
        address=address,
        offset=offset,
        build_id=build_id,
    )


_MAPS = compile_on_use(
    r"(?<![\w-])(?P<start>[0-9a-f]{6,16})-(?P<end>[0-9a-f]{6,16}) [r-][w-][x-][ps-] (?P<offset>[0-9a-f]{1,16})"
    r" [0-9a-f]{2,4}:[0-9a-f]{2,4} \d{1,20}[ \t]+(?P<path>/[^\n]{1,4096}?)[ \t\r]*$",
    re.MULTILINE,
)
_PROC_MAPPINGS = compile_on_use(
    r"(?<!\S)0x(?P<start>[0-9a-f]{1,16})[ \t]{1,40}0x(?P<end>[0-9a-f]{1,16})[ \t]{1,40}0x[0-9a-f]{1,16}[ \t]{1,40}"
    r"0x(?P<offset>[0-9a-f]{1,16})[ \t]{1,40}(?:[r-][w-][x-][ps-][ \t]{1,40})?(?P<path>/[^\n]{1,4096}?)[ \t\r]*$",
    re.MULTILINE,
)
_SHARED_LIBRARIES = compile_on_use(
    r"(?<!\S)0x(?P<start>[0-9a-f]{16})[ \t]{1,40}0x(?P<end>[0-9a-f]{16})[ \t]{1,40}(?:Yes|No)[ \t]{1,40}"
    r"(?:\(\*\)[ \t]{1,40})?(?P<path>/[^\n]{1,4096}?)[ \t\r]*$",
    re.MULTILINE,
)
_MARKS = (" r--p ", " r-xp ", " rw-p ", " 0x0 ", " Yes ")
_MAX_RANGES = 50_000
_MAX_COMPARED_RANGES = 256  # maximum number of ranges examined per address
_LOWEST_RELOCATED = 1 << 28  # fixed executables begin at 0x400000, relocated ones far above


class _Range(NamedTuple):
    """The addresses of a loaded part of a binary, half-open; offsets count from `base`."""

    start: int
    end: int
    path: str
    base: int
    is_section: bool


class MemoryMaps:
    """All maps of a text. An address with contradicting maps is treated as unmapped."""

    def __init__(self, text: str) -> None:
        is_quoted = any(mark in text for mark in _MARKS)
        self._ranges = sorted(set(_parse_ranges(text))) if is_quoted else []
        self._starts = [each.start for each in self._ranges]
        self._longest = max((each.end - each.start for each in self._ranges), default=0)

    def add_binaries(self, stacks: Sequence[TextStack]) -> Sequence[TextStack]:
        """Return the stacks, with binary and offset added to native frames that have an address but no source."""
        return [self._add_binaries_to_stack(stack) for stack in stacks] if self._ranges else stacks

    def _add_binaries_to_stack(self, stack: TextStack) -> TextStack:
        frames = tuple(self._add_binary(frame) for frame in stack.frames)
        return replace(stack, frames=frames) if frames != stack.frames else stack

    def _add_binary(self, frame: TextFrame) -> TextFrame:
        is_known = frame.offset is not None or frame.build_id or frame.place is not None
        if frame.address is None or frame.language is not Language.NATIVE or is_known:
            return frame
        found = self._find_range(frame.address - frame.is_return_address)
        if found is None or (frame.module and _file_name(frame.module) != _file_name(found.path)):
            return frame
        distance, module = frame.address - found.base, frame.module or found.path
        if found.is_section:
            return replace(frame, module=module, text_offset=distance)
        return replace(frame, module=module, offset=distance)

    def _find_range(self, address: int) -> _Range | None:
        """Return the part of a binary at an address, preferably one with offsets in the file instead of a section."""
        found: dict[bool, _Range] = {}
        last = bisect_right(self._starts, address) - 1
        for i in range(last, max(last - _MAX_COMPARED_RANGES, -1), -1):
            each = self._ranges[i]
            if each.start + self._longest <= address:
                break
            if not each.start <= address < each.end:
                continue
            other = found.setdefault(each.is_section, each)
            if (other.path, other.base) != (each.path, each.base):
                return None
        return found.get(False) or found.get(True)


def _parse_ranges(text: str) -> Iterator[_Range]:
    bases: dict[str, int] = {}  # load address of the first byte of each file
    for pattern in (_MAPS, _PROC_MAPPINGS):
        for match in islice(pattern.finditer(text), _MAX_RANGES):
            start, end, offset = (int(match[name], 16) for name in ("start", "end", "offset"))
            path = match["path"]
            if not offset:
                bases[path] = start
            base = bases.get(path)
            if base is not None and base <= start < end:
                yield _Range(start, end, path, base if base >= _LOWEST_RELOCATED else 0, False)
    for match in islice(_SHARED_LIBRARIES.finditer(text), _MAX_RANGES):
        start, end = int(match["start"], 16), int(match["end"], 16)
        yield _Range(start, end, match["path"], start, True)


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]

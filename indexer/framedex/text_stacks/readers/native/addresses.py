"""Parser of failure handlers with an address and a symbol per line: absl, glog, folly, and the link in TPU crashes.

Also tcmalloc's lists of addresses (gperftools, src/tcmalloc.cc, ReportLargeAlloc; src/malloc_hook.cc's heap profiles).

Sources:
- abseil-cpp, absl/debugging/internal/examine_stack.cc: a size or `(unknown)` between address and symbol; the line
  `PC:` has the program counter, the others return addresses
- glog, src/signalhandler.cc: no size
- folly, folly/debugging/symbolizer/SymbolizePrinter.cpp: 16 digits, and the location on a separate line
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Part, PartKind, Piece, TextFrame
from framedex.text_stacks.readers.native.frames import native_frame, source_spans
from framedex.text_stacks.text.spans import bounds, parts

_FRAME = compiled_on_use(
    r"(?P<pc>PC: )?@ +(?P<address>0x[0-9a-fA-F]{1,16}|[0-9a-f]{16})(?=\s|$)"
    r"(?: +(?P<size>\d+|\(unknown\))(?= |$))?(?: +(?P<function>\S.*))?$"
)
_LIST = compiled_on_use(r"@ +(?P<addresses>0x[0-9a-fA-F]{1,16}(?: +0x[0-9a-fA-F]{1,16})+)\s*$")
_ADDRESS = compiled_on_use(r"0x[0-9a-fA-F]+")
_HEADING = compiled_on_use(r"\*\*\* (?:SIG\w+ |Signal \d+ |Check failure stack trace|Aborted at ).*")
_UNKNOWN = "(unknown)"
_LEAST_INDENTATION = 8  # of folly's locations
LINK = "symbolizer link"
"""The title of a stack that is only a link."""

# `https://symbolize.stripped_domain/r/?trace=7f01,7f02&map=<build-id>:7f00-7fff`, above and below the frames of a TPU
# crash: the call addresses, and the load address of the binary whose symbols are stored elsewhere.
_LINK = compiled_on_use(r"https?://\S*[?&]trace=(?P<trace>[0-9a-f,]+)&map=(?P<map>[0-9a-f:,-]*)")
_MAP = compiled_on_use(r"([0-9a-f]{8,64}):([0-9a-f]{1,16})-([0-9a-f]{1,16})")
_MOST_MAPS = 64
_HEX = compiled_on_use(r"[0-9a-f]{1,16}")


class _Map(NamedTuple):
    """The address range of a binary, half-open."""

    build_id: str
    start: int
    end: int


def _located(address: int, maps: Sequence[_Map]) -> tuple[str, int | None]:
    """Return the build-id of the binary loaded at an address, and the offset in it."""
    found = next((each for each in maps if each.start <= address < each.end), None)
    return (found.build_id, address - found.start) if found is not None else ("", None)


class AddressLines:
    """Parser of handlers and address lists; one object per text."""

    is_seldom = False
    remembers = ("_maps",)
    triggers = ("*** ", "@ ", "&map=")

    def __init__(self) -> None:
        self._maps: tuple[_Map, ...] = ()  # from the last link

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the heading with the signal, or a frame."""
        if "@ " in line:
            if (addresses := _LIST.search(line)) is not None:
                title = line[: addresses.start()].strip()
                return Piece(
                    Format.TCMALLOC,
                    tuple(_listed(number, addresses, self._maps)),
                    begins=title,
                    ends=title,
                    depends_on_values=bool(self._maps),
                )
            match = _FRAME.search(line)
            if match is not None:
                return _frame(number, match, self._maps)
        link = _LINK.search(line) if "&map=" in line else None
        if link is not None:
            found = islice(_MAP.finditer(link["map"]), _MOST_MAPS)
            self._maps = tuple(_Map(each[1], int(each[2], 16), int(each[3], 16)) for each in found)
            return Piece(Format.ABSL, tuple(_linked(number, link, self._maps)), begins=LINK, ends=LINK)
        heading = _HEADING.search(line) if "*** " in line else None
        # glog prints a second heading below its first frame, which continues the same stack.
        if heading is None or (inside and "stack trace: ***" in line):
            return None
        return Piece(Format.ABSL, begins=heading[0].strip())

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return the frame with folly's location below the symbol."""
        start, end = bounds(line)
        if frame.format is not Format.GLOG or frame.place is not None or start < _LEAST_INDENTATION:
            return None
        source = source_spans(line, start, end)
        is_path = line.startswith(("/", "./", "../"), start)
        if not source or (not is_path and source[PartKind.PATH][0] != start):
            return None
        source[PartKind.PATH] = start, source[PartKind.PATH][1]
        place = native_frame(Format.GLOG, number, line, (start, end), source)
        return replace(frame, last_line=number, end=end, parts=(*frame.parts, *place.parts), place=place.place)

    def belongs(self, line: str) -> bool:
        """Whether the line is glog's second heading, or the count of omitted frames."""
        return "stack trace: ***" in line or "@ ... and at least " in line


def _frame(number: int, match: re.Match[str], maps: Sequence[_Map]) -> Piece:
    form = Format.ABSL if match["size"] and match["function"] else Format.GLOG
    function = (match["function"] or "").rstrip()
    address = int(match["address"], 16)
    build_id, offset = _located(address, maps)
    frame = TextFrame(
        form,
        number,
        match.start(),
        number,
        match.start("function") + len(function) if function else match.end(),
        parts(number, match),
        function="" if function == _UNKNOWN else function,
        language=Language.NATIVE,
        address=address,
        is_return_address=match["pc"] is None,
        offset=offset,
        build_id=build_id,
    )
    return Piece(form, (frame,), depends_on_values=bool(maps))


def _listed(number: int, addresses: re.Match[str], maps: Sequence[_Map]) -> Iterator[TextFrame]:
    for match in _ADDRESS.finditer(addresses["addresses"]):
        start, end = (addresses.start("addresses") + column for column in match.span())
        yield replace(_bare(Format.TCMALLOC, number, start, end, int(match[0], 16), maps), is_return_address=True)


def _linked(number: int, link: re.Match[str], maps: Sequence[_Map]) -> Iterator[TextFrame]:
    for match in _HEX.finditer(link["trace"]):
        start, end = (link.start("trace") + column for column in match.span())
        yield _bare(Format.ABSL, number, start, end, int(match[0], 16), maps)


def _bare(form: Format, number: int, start: int, end: int, address: int, maps: Sequence[_Map]) -> TextFrame:
    """Return a frame that has only an address."""
    build_id, offset = _located(address, maps)
    return TextFrame(
        form,
        number,
        start,
        number,
        end,
        (Part(PartKind.ADDRESS, number, start, end),),
        language=Language.NATIVE,
        address=address,
        offset=offset,
        build_id=build_id,
    )

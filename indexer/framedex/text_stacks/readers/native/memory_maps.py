"""Memory maps quoted in a text: the binary loaded at an address, and the offset from its start.

Forms: `/proc/PID/maps` (also in reports of HotSpot and glibc), gdb's `info proc mappings` and `info sharedlibrary`.
A map names the loaded file but not its build. If the file was replaced, Linux appends ` (deleted)` to its path. The
words are kept, so that no local file matches.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import TextFrame, TextStack

_MAPS = compiled_on_use(
    r"(?<![\w-])(?P<start>[0-9a-f]{6,16})-(?P<end>[0-9a-f]{6,16}) [r-][w-][x-][ps-] (?P<offset>[0-9a-f]{1,16})"
    r" [0-9a-f]{2,4}:[0-9a-f]{2,4} \d{1,20}[ \t]+(?P<path>/[^\n]{1,4096}?)[ \t\r]*$",
    re.MULTILINE,
)
_PROC_MAPPINGS = compiled_on_use(
    r"(?<!\S)0x(?P<start>[0-9a-f]{1,16})[ \t]{1,40}0x(?P<end>[0-9a-f]{1,16})[ \t]{1,40}0x[0-9a-f]{1,16}[ \t]{1,40}"
    r"0x(?P<offset>[0-9a-f]{1,16})[ \t]{1,40}(?:[r-][w-][x-][ps-][ \t]{1,40})?(?P<path>/[^\n]{1,4096}?)[ \t\r]*$",
    re.MULTILINE,
)
_SHARED_LIBRARIES = compiled_on_use(
    r"(?<!\S)0x(?P<start>[0-9a-f]{16})[ \t]{1,40}0x(?P<end>[0-9a-f]{16})[ \t]{1,40}(?:Yes|No)[ \t]{1,40}"
    r"(?:\(\*\)[ \t]{1,40})?(?P<path>/[^\n]{1,4096}?)[ \t\r]*$",
    re.MULTILINE,
)
_MARKS = (" r--p ", " r-xp ", " rw-p ", " 0x0 ", " Yes ")
_MOST_RANGES = 50_000
_MOST_COMPARED = 256  # maximum number of ranges examined per address
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
        self._ranges = sorted(set(_ranges(text))) if is_quoted else []
        self._starts = [each.start for each in self._ranges]
        self._longest = max((each.end - each.start for each in self._ranges), default=0)

    def place(self, stacks: Sequence[TextStack]) -> Sequence[TextStack]:
        """Return the stacks, with binary and offset added to native frames that have an address but no source."""
        return [self._place_stack(stack) for stack in stacks] if self._ranges else stacks

    def _place_stack(self, stack: TextStack) -> TextStack:
        frames = tuple(self._place_frame(frame) for frame in stack.frames)
        return replace(stack, frames=frames) if frames != stack.frames else stack

    def _place_frame(self, frame: TextFrame) -> TextFrame:
        is_known = frame.offset is not None or frame.build_id or frame.place is not None
        if frame.address is None or frame.language is not Language.NATIVE or is_known:
            return frame
        found = self._loaded_at(frame.address - frame.is_return_address)
        if found is None or (frame.module and _file_name(frame.module) != _file_name(found.path)):
            return frame
        distance, module = frame.address - found.base, frame.module or found.path
        if found.is_section:
            return replace(frame, module=module, text_offset=distance)
        return replace(frame, module=module, offset=distance)

    def _loaded_at(self, address: int) -> _Range | None:
        """Return the part of a binary at an address, preferably one with offsets in the file instead of a section."""
        found: dict[bool, _Range] = {}
        last = bisect_right(self._starts, address) - 1
        for i in range(last, max(last - _MOST_COMPARED, -1), -1):
            each = self._ranges[i]
            if each.start + self._longest <= address:
                break
            if not each.start <= address < each.end:
                continue
            other = found.setdefault(each.is_section, each)
            if (other.path, other.base) != (each.path, each.base):
                return None
        return found.get(False) or found.get(True)


def _ranges(text: str) -> Iterator[_Range]:
    bases: dict[str, int] = {}  # load address of the first byte of each file
    for pattern in (_MAPS, _PROC_MAPPINGS):
        for match in islice(pattern.finditer(text), _MOST_RANGES):
            start, end, offset = (int(match[name], 16) for name in ("start", "end", "offset"))
            path = match["path"]
            if not offset:
                bases[path] = start
            base = bases.get(path)
            if base is not None and base <= start < end:
                yield _Range(start, end, path, base if base >= _LOWEST_RELOCATED else 0, False)
    for match in islice(_SHARED_LIBRARIES.finditer(text), _MOST_RANGES):
        start, end = int(match["start"], 16), int(match["end"], 16)
        yield _Range(start, end, match["path"], start, True)


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]

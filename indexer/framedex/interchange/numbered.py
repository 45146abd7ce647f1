"""Stacks whose frames begin with `#N`: gdb's `bt` and the sanitizers'.

Sources: gdb/stack.c (print_frame); compiler-rt, lib/sanitizer_common/sanitizer_stacktrace_printer.cpp and
sanitizer_symbolizer_report.cpp. gdb wraps long frames and indents what follows.
"""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.interchange.model import Format, Part, PartKind, Piece, Place, TextFrame
from framedex.interchange.spans import argument_list, parts, source_at_end
from framedex.model import Language

_FRAME = re.compile(r"(?:^|[\s\]|])#(?P<number>\d{1,6})\s+(?:(?P<address>0x[0-9a-fA-F]{1,16})\s+)?(?P<in>in )?(?=\S)")
_MODULE = re.compile(
    r"\((?P<module>[^()]+)\+(?P<offset>0x[0-9a-fA-F]{1,16})\)(?: \(BuildId: (?P<build_id>[0-9a-fA-F]{2,64})\))?$"
)
_RUNTIME_ERROR = re.compile(
    r"(?:^|(?<=:))\s*(?P<path>[^\s:][^:]*):(?P<line>\d{1,9}):(?P<column>\d{1,9}): runtime error: "
)
_REPORT = re.compile(r"==\d+==\s?(?:ERROR|WARNING): \w+Sanitizer: .*|WARNING: ThreadSanitizer: .*")
_FURTHER = re.compile(r"(?:allocated|freed) by thread [TM]\d+.* here:$")
_ACCESS = re.compile(r" *(?:READ|WRITE|Read|Write|Atomic \w+) of size |\[Switching to ")
_MOST_WRAPPED = 64


class NumberedLines:
    """Reads both; one object reads one text."""

    triggers = (*(f"#{digit}" for digit in range(10)), ": runtime error: ", "Sanitizer: ", " by thread ")

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """A frame, a sanitizer's headline, or the line that UBSan is about."""
        if "#" in line:
            match = _FRAME.search(line)
            found = self._frame(number, line, match, inside) if match is not None else None
            if found is not None:
                return found
        if ": runtime error: " in line:
            return _runtime_error(number, line)
        report = _REPORT.search(line) if "Sanitizer: " in line else None
        if report is not None:
            return Piece(Format.SANITIZER, begins=report[0].strip())
        # The stacks of one report: where the memory came from, and where it was freed.
        return Piece(Format.SANITIZER, begins=line.strip()) if _FURTHER.search(line) else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """What gdb has wrapped; it ends with the place or the library."""
        is_wrapped = frame.format is Format.GDB and line.startswith("    ") and line.strip()
        if not is_wrapped or frame.place or frame.module or number - frame.first_line > _MOST_WRAPPED:
            return None
        longer = replace(frame, last_line=number, end=len(line.rstrip()))
        return _with_gdb_place(longer, number, line.rstrip(), 0) or longer

    def belongs(self, line: str) -> bool:
        """gdb's last words, and what a sanitizer's report says of the access."""
        return line.startswith(("Backtrace stopped", "(More stack frames follow")) or _ACCESS.match(line) is not None

    def _frame(self, number: int, line: str, match: re.Match[str], inside: bool) -> Piece | None:
        text, begin = line.rstrip(), match.start("number") - 1
        bare = TextFrame(
            Format.GDB,
            number,
            begin,
            number,
            len(text),
            _head_parts(number, match),
            number=int(match["number"]),
            language=Language.NATIVE,
            address=int(match["address"], 16) if match["address"] else None,
            # gdb prints return addresses, the sanitizers take one off beforehand; frame 0 is where it stopped.
            is_return_address=match["number"] != "0",
        )
        frame = _with_gdb_place(
            _with_name(bare, line, match.end(), argument_list(text[match.end() :])), number, text, match.end()
        ) or _sanitizer(bare, number, text, match.end())
        if frame is None and (match["address"] or inside):
            arguments = argument_list(text[match.end() :])
            if arguments > 0 or text[match.end() :].startswith("<") or match["in"]:
                frame = _with_name(bare, line, match.end(), arguments)
        return Piece(frame.format, (frame,)) if frame is not None else None


def _head_parts(number: int, match: re.Match[str]) -> tuple[Part, ...]:
    number_part = Part(PartKind.NUMBER, number, match.start("number") - 1, match.end("number"))
    if match["address"] is None:
        return (number_part,)
    return number_part, Part(PartKind.ADDRESS, number, *match.span("address"))


def _with_name(frame: TextFrame, line: str, start: int, length: int) -> TextFrame:
    end = start + length if length > 0 else len(line.rstrip())
    name = line[start:end]
    if name in ("", "??"):
        return frame
    part = Part(PartKind.FUNCTION, frame.first_line, start, end)
    return replace(frame, function=name, parts=(*frame.parts, part))


def _with_gdb_place(frame: TextFrame, number: int, text: str, start: int) -> TextFrame | None:
    """The frame with the place or library that ends a text of gdb; None where it ends with neither."""
    at = max(text.rfind(") at "), -1)
    at = at + 1 if at >= 0 else (start + 3 if text[start:].startswith("    at ") else -1)
    if at >= start and (found := source_at_end(text)) is not None and not found[2][2]:
        path, line = (at + 4, found[1]), found[2].span(1)
        pieces = Part(PartKind.PATH, number, *path), Part(PartKind.LINE, number, *line)
        place = Place(text[slice(*path)], int(text[slice(*line)])) if int(text[slice(*line)]) else None
        return replace(frame, parts=(*frame.parts, *pieces), place=place)
    library = text.rfind(") from ")
    library = library + 1 if library >= 0 else (start + 3 if text[start:].startswith("    from ") else -1)
    if library >= start and text[library + 6 :].strip():
        part = Part(PartKind.MODULE, number, library + 6, len(text))
        return replace(frame, parts=(*frame.parts, part), module=text[library + 6 :])
    return None


def _sanitizer(frame: TextFrame, number: int, text: str, start: int) -> TextFrame | None:
    end = len(text)
    frame = replace(frame, format=Format.SANITIZER, is_return_address=False)
    module = _MODULE.search(text, start)
    pieces = list(frame.parts)
    if module is not None:
        end = module.start()
        pieces.append(Part(PartKind.MODULE, number, *module.span("module")))
        frame = replace(
            frame,
            module=module["module"],
            offset=int(module["offset"], 16),
            build_id=(module["build_id"] or "").lower(),
        )
    head = text[start:end].rstrip()
    found = source_at_end(head)
    if found is not None:
        begin, stop, tail = found
        path = head[begin:stop]
        pieces.append(Part(PartKind.PATH, number, start + begin, start + stop))
        pieces.append(Part(PartKind.LINE, number, start + tail.start(1), start + tail.end(1)))
        if tail[2]:
            pieces.append(Part(PartKind.COLUMN, number, start + tail.start(2), start + tail.end(2)))
        frame = replace(frame, place=Place(path, int(tail[1]), int(tail[2] or 0)) if int(tail[1]) else None)
        head = head[:begin].rstrip()
    if module is None and found is None:
        return None
    if head:
        pieces.append(Part(PartKind.FUNCTION, number, start, start + len(head)))
    return replace(frame, function=head, parts=tuple(sorted(pieces, key=lambda part: part.start)))


def _runtime_error(number: int, line: str) -> Piece | None:
    match = _RUNTIME_ERROR.search(line)
    if match is None:
        return None
    place = Place(match["path"], int(match["line"]), int(match["column"]))
    frame = TextFrame(
        Format.SANITIZER,
        number,
        match.start("path"),
        number,
        match.end("column"),
        parts(number, match),
        place=place,
        language=Language.NATIVE,
    )
    return Piece(Format.SANITIZER, (frame,), begins=line.strip())

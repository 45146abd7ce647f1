"""Build native frames from column spans. Tools print many different words for unknown values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from framedex.model import Language
from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Part, PartKind, Place, TextFrame
from framedex.text_stacks.text.spans import source_at_end

Span = tuple[int, int]
Spans = Mapping[PartKind, Span]

_NO_NAMES = frozenset(
    (
        *("", "??", "???", "n/a", "(null)", "<null>", "(unknown)", "<unknown>", "<unknown function>"),
        *("<unknown module>", "[unknown]", "<unknown symbol>", "unknown"),
    )
)

_ADDRESS = compiled_on_use(r"0x[0-9a-fA-F]+")


def native_frame(
    form: Format, line_number: int, line: str, bounds: Span, spans: Spans, *, number: int | None = None
) -> TextFrame:
    """Return a frame on one line, with a part for each span that has a known value. Source line 0 means no location."""
    known = {kind: span for kind, span in spans.items() if line[slice(*span)] not in _NO_NAMES}
    name = known.get(PartKind.FUNCTION)
    if name is not None and line.startswith("0x", name[0]) and _ADDRESS.fullmatch(line, *name):
        del known[PartKind.FUNCTION]
    texts = {kind: line[slice(*span)] for kind, span in known.items()}
    parts = [Part(kind, line_number, *span) for kind, span in known.items()]
    place = None
    if PartKind.PATH in texts and int(texts.get(PartKind.LINE, "0")):
        place = Place(texts[PartKind.PATH], int(texts[PartKind.LINE]), int(texts.get(PartKind.COLUMN, "0")))
    return TextFrame(
        form,
        line_number,
        *(bounds[0], line_number, bounds[1]),
        tuple(sorted(parts, key=lambda part: part.start)),
        number=number,
        function=texts.get(PartKind.FUNCTION, ""),
        place=place,
        language=Language.NATIVE,
        address=int(texts[PartKind.ADDRESS], 16) if PartKind.ADDRESS in texts else None,
        module=texts.get(PartKind.MODULE, ""),
    )


def source_spans(line: str, start: int, end: int) -> dict[PartKind, Span]:
    """Return the spans of the location `PATH:LINE[:COLUMN]` at the end of a piece of a line; empty if there is none."""
    found = source_at_end(line[start:end])
    if found is None:
        return {}
    first, stop, tail = found
    spans = {PartKind.PATH: (start + first, start + stop), PartKind.LINE: _moved(tail.span(1), start)}
    if tail[2]:
        spans[PartKind.COLUMN] = _moved(tail.span(2), start)
    return spans


def at_offset(frame: TextFrame, offset: int, *, build_id: str = "") -> TextFrame:
    """Return the frame with its offset in its binary."""
    return replace(frame, offset=offset, build_id=build_id.lower())


def behind(frame: TextFrame, offset: str | None) -> TextFrame:
    """Return the frame with its offset (hex) from its function, or from its binary if it has no name."""
    if offset is None:
        return frame
    return replace(frame, function_offset=int(offset, 16)) if frame.function else at_offset(frame, int(offset, 16))


def opening(text: str, closing: int, least: int = 0) -> int:
    """Return the column of the parenthesis that matches the one at `closing`; -1 if none from column `least` on."""
    depth = 0
    for column in range(closing, least - 1, -1):
        if text[column] == ")":
            depth += 1
        elif text[column] == "(":
            depth -= 1
            if not depth:
                return column
    return -1


def without_blanks(text: str, start: int, end: int) -> Span:
    """Return a span of a text without surrounding blanks."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()) if piece.strip() else start


def _moved(span: Span, by: int) -> Span:
    return span[0] + by, span[1] + by

"""Parser of source locations in HLO text: `metadata={...}` of instructions, and stack frame tables of newer modules.

Source: XLA's hlo_module.cc and hlo_instruction.cc at jaxlib 0.10. In the text, a frame's `parent_frame_id` is its
parent's number plus one (a root prints 1). The protocol buffer has the number itself. Ids begin at 1, 0 is none.
"""

from __future__ import annotations

import re
from dataclasses import replace

from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Part, PartKind, Piece, Place, TextFrame
from framedex.text_stacks.readers.compiler.strings import unescaped
from framedex.text_stacks.text.spans import bounds

_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_ROW = compiled_on_use(r'(?P<id>\d{1,9}) (?:"(?P<text>(?:[^"\\]|\\.)*)"|\{(?P<fields>[^{}]*)\})$')
_FIELD = compiled_on_use(r'(?<!\w)(?P<key>\w{1,64})=(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<number>\d{1,9})(?!\d))')
_BODY = compiled_on_use(
    r"\s*(?:ROOT |%|ENTRY |\}|\d+ [\"{]|\w[\w.-]* = |FileNames|FunctionNames|FileLocations|StackFrames|$)"
)
_NAME = compiled_on_use(r"(?:ROOT )?%?(?P<label>[\w.-]+) = ")
_MOST_OUTWARD = 64
_MOST_ROWS = 200_000  # with their numbers they take about 80 MB
_LONGEST_TEXT = 4096


class HloText:
    """Parser of HLO modules; one object per text. Tables precede their references."""

    is_seldom = False
    remembers = ("_table",)
    triggers = ("metadata={", "HloModule ", *_TABLES)

    def __init__(self) -> None:
        self._table = ""
        self._texts: dict[tuple[str, int], str] = {}
        self._rows: dict[tuple[str, int], dict[str, int]] = {}

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the head of a module, a row of a table, or an instruction with a location."""
        found = self._piece(number, line, inside)
        return replace(found, depends_on_values=True) if found is not None else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: an instruction has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line is another line of a module."""
        return _BODY.match(line) is not None

    def _piece(self, number: int, line: str, inside: bool) -> Piece | None:
        if line.startswith("HloModule "):
            self._table = ""
            self._texts.clear()
            self._rows.clear()
            return Piece(Format.HLO, begins=line.partition(",")[0])
        if line.rstrip() in _TABLES:
            self._table = line.rstrip()
            return Piece(Format.HLO)
        if inside and self._table and line[:1].isdigit():
            return self._row(number, line)
        start = line.find("metadata={")
        return self._instruction(number, line, start) if start >= 0 else None

    def _row(self, number: int, line: str) -> Piece | None:
        match = _ROW.match(line.rstrip())
        if match is None:
            return None
        key = self._table, int(match["id"])
        if len(self._texts) + len(self._rows) >= _MOST_ROWS:
            return Piece(Format.HLO)
        if match["text"] is not None:
            self._texts[key] = unescaped(match["text"][:_LONGEST_TEXT])
            return Piece(Format.HLO)
        self._rows[key] = {
            each["key"]: int(each["number"]) for each in _FIELD.finditer(match["fields"]) if each["number"]
        }
        place = self._location(int(match["id"])) if self._table == "FileLocations" else None
        return self._frame(number, line, [place] if place else self._chain_of_row(match), (), ())

    def _chain_of_row(self, match: re.Match[str]) -> list[Place]:
        return self._chain(int(match["id"])) if self._table == "StackFrames" else []

    def _instruction(self, number: int, line: str, start: int) -> Piece | None:
        fields = {match["key"]: match for match in _FIELD.finditer(line, start)}
        texts = {key: unescaped(match["text"]) for key, match in fields.items() if match["text"] is not None}
        numbers = {key: int(match["number"]) for key, match in fields.items() if match["number"]}
        parts = [
            Part(kind, number, *fields[key].span(group))
            for key, kind, group in (
                ("op_name", PartKind.FUNCTION, "text"),
                ("source_file", PartKind.PATH, "text"),
                ("source_line", PartKind.LINE, "number"),
                ("stack_frame_id", PartKind.NUMBER, "number"),
            )
            if key in fields and fields[key][group] is not None
        ]
        places = self._chain(numbers.get("stack_frame_id", 0))
        if not places and texts.get("source_file") and numbers.get("source_line"):
            places = [Place(texts["source_file"], numbers["source_line"], numbers.get("source_column", 0))]
        labels = (texts["op_name"],) if texts.get("op_name") else ()
        return self._frame(number, line, places, tuple(sorted(parts, key=lambda part: part.start)), labels)

    def _frame(
        self, number: int, line: str, places: list[Place], parts: tuple[Part, ...], labels: tuple[str, ...]
    ) -> Piece:
        if not places:
            return Piece(Format.HLO)
        name = _NAME.match(line.strip())
        start, end = bounds(line)
        if name is not None:
            parts = (Part(PartKind.LABEL, number, start + name.start("label"), start + name.end("label")), *parts)
        frame = TextFrame(
            Format.HLO,
            number,
            start,
            number,
            end,
            parts,
            function=places[0].function,
            place=places[0],
            labels=labels,
            outward=tuple(places[1:]),
        )
        return Piece(Format.HLO, (frame,))

    def _chain(self, identifier: int) -> list[Place]:
        """Return the locations from a frame outwards. Cycles in a damaged table end the chain."""
        places: list[Place] = []
        seen: set[int] = set()
        while identifier not in seen and len(places) < _MOST_OUTWARD:
            seen.add(identifier)
            row = self._rows.get(("StackFrames", identifier))
            if row is None:
                break
            place = self._location(row.get("file_location_id", 0))
            if place is not None:
                places.append(place)
            identifier = row.get("parent_frame_id", 0) - 1
        return places

    def _location(self, identifier: int) -> Place | None:
        row = self._rows.get(("FileLocations", identifier))
        path = self._texts.get(("FileNames", row.get("file_name_id", 0))) if row else None
        if row is None or not path or not row.get("line"):
            return None
        function = self._texts.get(("FunctionNames", row.get("function_name_id", 0)), "")
        return Place(path, row["line"], row.get("column", 0), function)

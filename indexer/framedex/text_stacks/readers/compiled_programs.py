"""Parsers of source locations in compiled programs: MLIR (StableHLO) and HLO.

JAX prints MLIR locations with `debug_info=True`. A location is a file, a name with a location, a call site, several
fused ones, or an alias (`#loc12`). Aliases are defined at the end of the text. HLO has `metadata={...}` at
instructions, and newer modules have tables of stack frames. In the text, a frame's `parent_frame_id` is its parent's
number plus one (a root prints 1). The protocol buffer has the number itself. Ids begin at 1, 0 is none.

Sources: mlir/lib/AsmParser/LocationParser.cpp; XLA's hlo_module.cc and hlo_instruction.cc at jaxlib 0.10.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from framedex.base.lazy import compile_on_use
from framedex.text_stacks.frames import find_text_columns
from framedex.text_stacks.model import ParsedLine, PartKind, StackFormat, TextFrame, TextLocation, TextPart

_TOKEN = compile_on_use(
    r'\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<alias>#\w+)|(?P<number>\d{1,9})(?!\d)|(?P<word>[A-Za-z_]\w*)|(?P<other>\S))'
)
_ALIAS = compile_on_use(r"^(?P<name>#\w+) = (?=loc\()", re.MULTILINE)
_BODY = compile_on_use(r"\s*(?:%|\}|\^|return\b|func\.|module\b|#\w+ = |\"|[a-z_]\w*\.[a-z_])")
_DIAGNOSTIC = compile_on_use(r"(?:^\s*|(?<=[\s\]|]))(?:error|warning|note|remark): (?=\")|^\s*(?=\")")
# In a log line such as `ERROR error: "f"`, the second word may be a logger's name instead of MLIR's severity.
_MAX_DEPTH = 64
_MAX_CALLERS = 64


@dataclass(frozen=True, slots=True)
class Node:
    """A parsed location: a file has a `place`; a name, a call site and fused ones have `inner` locations."""

    kind: str
    text: str = ""
    place: TextLocation | None = None
    inner: tuple[Node, ...] = ()


_UNKNOWN = Node("unknown")


class MlirText:
    """Parser of MLIR modules. `text` is the whole text, for the aliases at its end; without it they stay unresolved."""

    is_rare = False
    state_attributes = ()
    triggers = ("loc(", *(f'{severity}: "' for severity in ("error", "warning", "note", "remark")))

    def __init__(self, text: str = "") -> None:
        self._aliases: dict[str, Node] = {}
        for match in _ALIAS.finditer(text) if "#loc" in text else ():
            end = text.find("\n", match.end())
            length = min(end - match.end() if end >= 0 else len(text), _MAX_LENGTH)
            self._aliases[match["name"]] = _Parser(text, match.end() + len("loc("), limit=length).location()
        self._known: dict[str, list[TextLocation]] = {}

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the locations on a line."""
        begins = line.strip(" {\r") if line.startswith("module") else None
        if "loc(" not in line:
            if '":' in line and (diagnostic := self._parse_diagnostic(number, line)) is not None:
                return ParsedLine(StackFormat.MLIR, (diagnostic,))
            return (
                ParsedLine(StackFormat.MLIR, opening_title=begins)
                if begins is not None and line.rstrip().endswith("{")
                else None
            )
        frames = tuple(self._parse_frames(number, line))
        return ParsedLine(StackFormat.MLIR, frames, opening_title=begins) if frames or is_in_stack else None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None, because each location is on a single line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is another line of a module."""
        return _BODY.match(line) is not None

    def _parse_frames(self, number: int, line: str) -> Iterator[TextFrame]:
        position = 0
        while (start := line.find("loc(", position)) >= 0:
            position = start + len("loc(")
            if start and (line[start - 1].isalnum() or line[start - 1] == "_"):  # malloc(
                continue
            parser = _Parser(line, position, number=number)
            node = parser.location()
            position = parser.position
            places = self._find_locations(node, 0)
            if places:
                yield _build_mlir_frame((number, start, min(position + 1, len(line))), parser, node, places)

    def _parse_diagnostic(self, number: int, line: str) -> TextFrame | None:
        """Return the location after `error: `, as exceptions of MLIR's Python bindings print it: without `loc(`."""
        match = _DIAGNOSTIC.search(line)
        if match is None:
            return None
        parser = _Parser(line, match.end(), number=number)
        node = parser.location()
        places = self._find_locations(node, 0)
        is_sure = node.kind != "file" or (bool(places) and places[0].column > 0)
        if not places or not is_sure or not line.startswith(":", parser.position):
            return None
        return _build_mlir_frame((number, match.end(), parser.position), parser, node, places)

    def _find_locations(self, node: Node, depth: int) -> list[TextLocation]:
        """Return the source locations of an MLIR location, innermost first."""
        if depth > _MAX_DEPTH:
            return []
        if node.kind == "file":
            return [node.place] if node.place else []
        if node.kind == "alias":
            return self._resolve_alias(node.text, depth)
        if node.kind == "name":
            places = self._find_locations(node.inner[0], depth + 1) if node.inner else []
            named = places and not places[0].function
            return [replace(places[0], function=node.text), *places[1:]] if named else places
        if node.kind == "call":
            return [place for each in node.inner for place in self._find_locations(each, depth + 1)][:_MAX_CALLERS]
        return next((places for each in node.inner if (places := self._find_locations(each, depth + 1))), [])

    def _resolve_alias(self, name: str, depth: int) -> list[TextLocation]:
        if name not in self._known:
            self._known[name] = []  # the result for a cycle of aliases
            self._known[name] = self._find_locations(self._aliases.get(name, _UNKNOWN), depth + 1)
        return self._known[name]


def _build_mlir_frame(
    span: tuple[int, int, int], parser: _Parser, node: Node, locations: list[TextLocation]
) -> TextFrame:
    number, start, end = span
    name = node.text if node.kind == "name" else ""
    return TextFrame(
        StackFormat.MLIR,
        *(number, start, number, end),
        tuple(parser.parts),
        function=locations[0].function,
        place=locations[0],
        outward=tuple(locations[1:]),
        labels=(name,) if name and name != locations[0].function else (),
    )


_MAX_LENGTH = 1 << 16


class _Parser:
    """Parser of the location at `position`, after `loc(`; it leaves `position` at the closing parenthesis."""

    def __init__(self, text: str, position: int, number: int = 0, limit: int = _MAX_LENGTH) -> None:
        self._text = text
        self._end = min(len(text), position + limit)
        self._number = number
        self.position = position
        self.parts: list[TextPart] = []

    def location(self, depth: int = 0) -> Node:
        """Parse one location; `_UNKNOWN` if malformed."""
        token = self._take_token()
        if token is None or depth > _MAX_DEPTH:
            return _UNKNOWN
        if token["alias"]:
            self._add_part(PartKind.LABEL, token, "alias")
            return Node("alias", token["alias"])
        if token["text"] is not None:
            return self._parse_string(token, depth)
        if token["word"] == "callsite" and self._skip_text("("):
            callee = self.location(depth + 1)
            caller = self.location(depth + 1) if self._skip_text("at") else _UNKNOWN
            self._skip_text(")")
            return Node("call", inner=(callee, caller))
        if token["word"] == "fused":
            return self._parse_fused(depth)
        return _UNKNOWN

    def _parse_string(self, token: re.Match[str], depth: int) -> Node:
        text = unescape(token["text"])
        if not self._skip_text(":"):
            self._add_part(PartKind.FUNCTION, token, "text")
            inner: tuple[Node, ...] = ()
            if self._skip_text("("):
                inner = (self.location(depth + 1),)
                self._skip_text(")")
            return Node("name", text, inner=inner)
        self._add_part(PartKind.PATH, token, "text")
        line = self._parse_number(PartKind.LINE)
        column = self._parse_number(PartKind.COLUMN) if self._skip_text(":") else 0
        if self._skip_text("to"):
            self._parse_number(None)
            if self._skip_text(":"):
                self._parse_number(None)
        return Node("file", place=TextLocation(text, line, column) if line and text not in ("-", "") else None)

    def _parse_fused(self, depth: int) -> Node:
        if self._skip_text("<"):
            while (token := self._take_token()) is not None and token["other"] != ">":
                pass
        inner = []
        if self._skip_text("["):
            inner.append(self.location(depth + 1))
            while self._skip_text(","):
                inner.append(self.location(depth + 1))
            self._skip_text("]")
        return Node("fused", inner=tuple(inner))

    def _parse_number(self, kind: PartKind | None) -> int:
        token = self._peek_token()
        if token is None or token["number"] is None:
            # `to :19` has no line
            return 0
        self.position = token.end()
        if kind is not None:
            self._add_part(kind, token, "number")
        return int(token["number"])

    def _skip_text(self, text: str) -> bool:
        token = self._peek_token()
        if token is None or text not in (token["word"], token["other"]):
            return False
        self.position = token.end()
        return True

    def _take_token(self) -> re.Match[str] | None:
        token = self._peek_token()
        if token is not None:
            self.position = token.end()
        return token

    def _peek_token(self) -> re.Match[str] | None:
        return _TOKEN.match(self._text, self.position, self._end)

    def _add_part(self, kind: PartKind, token: re.Match[str], group: str) -> None:
        self.parts.append(TextPart(kind, self._number, *token.span(group)))


_ESCAPE = re.compile(rb"\\(?:([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPES = {b"n": b"\n", b"t": b"\t"}


def unescape(text: str) -> str:
    """Return the text between the quotes with its escapes replaced; hex escapes are UTF-8 bytes."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_decode_character, text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


def _decode_character(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)]) if match[1] else _ESCAPES.get(match[2], match[2])


_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
_ROW = compile_on_use(r'(?P<id>\d{1,9}) (?:"(?P<text>(?:[^"\\]|\\.)*)"|\{(?P<fields>[^{}]*)\})$')
_FIELD = compile_on_use(r'(?<!\w)(?P<key>\w{1,64})=(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<number>\d{1,9})(?!\d))')
_HLO_BODY = compile_on_use(
    r"\s*(?:ROOT |%|ENTRY |\}|\d+ [\"{]|\w[\w.-]* = |FileNames|FunctionNames|FileLocations|StackFrames|$)"
)
_NAME = compile_on_use(r"(?:ROOT )?%?(?P<label>[\w.-]+) = ")
_MAX_ROWS = 200_000  # with their numbers they take about 80 MB
_MAX_TEXT_LENGTH = 4096


_ALLOCATIONS_TITLE = compile_on_use(r"\s*(?:Largest program allocations in \w+:|Peak buffers:)")
_ALLOCATION_SIZE = compile_on_use(r"\s*(?:\d+\. )?Size: (?P<size>[\d.]+\w*)")
_ALLOCATION_BODY = compile_on_use(
    r"\s*(?:\d+\. Size:|Size:|Operator:|Shape:|Unpadded size:|XLA [Ll]abel:|Allocation type:|Buffer \d+:|=====|$)"
)
_OPERATOR = "Operator: op_name="
_SLOW_MODULE = compile_on_use(
    r"\[Compiling module (?P<module>[^\s\]]{1,1000}?)(?:\.\d+)?(?: for \w+)?\] Very slow compile\?"
)


class HloText:
    """Parser of HLO modules, of XLA's largest allocations when memory is exhausted, and of its slow compile alarms.

    One object parses one text. Tables precede their references.
    """

    is_rare = False
    state_attributes = ("_table", "_allocation_size")
    triggers = (
        *("metadata={", "HloModule ", "Size: ", _OPERATOR, "program allocations in", "Peak buffers:"),
        *("[Compiling module ", *_TABLES),
    )

    def __init__(self) -> None:
        self._table = ""
        self._allocation_size = ""
        self._texts: dict[tuple[str, int], str] = {}
        self._rows: dict[tuple[str, int], dict[str, int]] = {}

    def parse_line(self, number: int, line: str, *, is_in_stack: bool) -> ParsedLine | None:
        """Return the head of a module, a row of a table, or an instruction with a location."""
        found = self._parse_line(number, line, is_in_stack)
        return replace(found, depends_on_values=True) if found is not None else None

    def extend_frame(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: an instruction has one line."""
        return None

    def belongs_to_stack(self, line: str) -> bool:
        """Whether the line is another line of a module or of a list of allocations."""
        return _HLO_BODY.match(line) is not None or _ALLOCATION_BODY.match(line) is not None

    def _parse_line(self, number: int, line: str, is_in_stack: bool) -> ParsedLine | None:
        if line.startswith("HloModule "):
            self._table = ""
            self._texts.clear()
            self._rows.clear()
            return ParsedLine(StackFormat.HLO, opening_title=line.partition(",")[0])
        if line.rstrip() in _TABLES:
            self._table = line.rstrip()
            return ParsedLine(StackFormat.HLO)
        if is_in_stack and self._table and line[:1].isdigit():
            return self._parse_row(number, line)
        if _ALLOCATIONS_TITLE.match(line):
            return ParsedLine(StackFormat.HLO, opening_title=line.strip().removesuffix(":"))
        if is_in_stack and (size := _ALLOCATION_SIZE.match(line)):
            self._allocation_size = size["size"]
            return ParsedLine(StackFormat.HLO)
        if is_in_stack and (start := line.find(_OPERATOR)) >= 0:
            return self._parse_instruction(number, line, start, self._allocation_size)
        if (slow := _SLOW_MODULE.search(line)) is not None:
            return _slow_module_line(number, slow)
        start = line.find("metadata={")
        return self._parse_instruction(number, line, start) if start >= 0 else None

    def _parse_row(self, number: int, line: str) -> ParsedLine | None:
        match = _ROW.match(line.rstrip())
        if match is None:
            return None
        key = self._table, int(match["id"])
        if len(self._texts) + len(self._rows) >= _MAX_ROWS:
            return ParsedLine(StackFormat.HLO)
        if match["text"] is not None:
            self._texts[key] = unescape(match["text"][:_MAX_TEXT_LENGTH])
            return ParsedLine(StackFormat.HLO)
        self._rows[key] = {
            each["key"]: int(each["number"]) for each in _FIELD.finditer(match["fields"]) if each["number"]
        }
        place = self._find_location(int(match["id"])) if self._table == "FileLocations" else None
        return self._frame(number, line, [place] if place else self._chain_of_row(match), (), ())

    def _chain_of_row(self, match: re.Match[str]) -> list[TextLocation]:
        return self._find_chain(int(match["id"])) if self._table == "StackFrames" else []

    def _parse_instruction(self, number: int, line: str, start: int, label: str = "") -> ParsedLine | None:
        fields = {match["key"]: match for match in _FIELD.finditer(line, start)}
        texts = {key: unescape(match["text"]) for key, match in fields.items() if match["text"] is not None}
        numbers = {key: int(match["number"]) for key, match in fields.items() if match["number"]}
        parts = [
            TextPart(kind, number, *fields[key].span(group))
            for key, kind, group in (
                ("op_name", PartKind.FUNCTION, "text"),
                ("source_file", PartKind.PATH, "text"),
                ("source_line", PartKind.LINE, "number"),
                ("stack_frame_id", PartKind.NUMBER, "number"),
            )
            if key in fields and fields[key][group] is not None
        ]
        places = self._find_chain(numbers.get("stack_frame_id", 0))
        if not places and texts.get("source_file") and numbers.get("source_line"):
            places = [TextLocation(texts["source_file"], numbers["source_line"], numbers.get("source_column", 0))]
        op_name = texts.get("op_name", "")
        labels = tuple(filter(None, (label, op_name if places else "")))
        op_names = tuple(filter(None, op_name.split(";")))
        return self._frame(number, line, places, tuple(sorted(parts, key=lambda part: part.start)), labels, op_names)

    def _frame(
        self,
        number: int,
        line: str,
        locations: list[TextLocation],
        parts: tuple[TextPart, ...],
        labels: tuple[str, ...],
        op_names: tuple[str, ...] = (),
    ) -> ParsedLine:
        if not locations and not op_names:
            return ParsedLine(StackFormat.HLO)
        name = _NAME.match(line.strip())
        start, end = find_text_columns(line)
        if name is not None:
            parts = (TextPart(PartKind.LABEL, number, start + name.start("label"), start + name.end("label")), *parts)
        frame = TextFrame(
            StackFormat.HLO,
            number,
            start,
            number,
            end,
            parts,
            function=locations[0].function if locations else ";".join(op_names),
            place=locations[0] if locations else None,
            labels=labels,
            outward=tuple(locations[1:]),
            op_names=op_names,
        )
        return ParsedLine(StackFormat.HLO, (frame,))

    def _find_chain(self, identifier: int) -> list[TextLocation]:
        """Return the locations from a frame outwards. Cycles in a damaged table end the chain."""
        places: list[TextLocation] = []
        seen: set[int] = set()
        while identifier not in seen and len(places) < _MAX_CALLERS:
            seen.add(identifier)
            row = self._rows.get(("StackFrames", identifier))
            if row is None:
                break
            place = self._find_location(row.get("file_location_id", 0))
            if place is not None:
                places.append(place)
            identifier = row.get("parent_frame_id", 0) - 1
        return places

    def _find_location(self, identifier: int) -> TextLocation | None:
        row = self._rows.get(("FileLocations", identifier))
        path = self._texts.get(("FileNames", row.get("file_name_id", 0))) if row else None
        if row is None or not path or not row.get("line"):
            return None
        function = self._texts.get(("FunctionNames", row.get("function_name_id", 0)), "")
        return TextLocation(path, row["line"], row.get("column", 0), function)


def _slow_module_line(number: int, match: re.Match[str]) -> ParsedLine:
    """Return the module of a slow compile alarm, as slow_operation_alarm.cc prints it."""
    module = match["module"]
    frame = TextFrame(
        StackFormat.HLO,
        *(number, match.start(), number, match.end()),
        (TextPart(PartKind.FUNCTION, number, *match.span("module")),),
        function=module,
        compiled_module=module,
    )
    return ParsedLine(StackFormat.HLO, (frame,))

"""Parser of locations in MLIR (StableHLO as printed by JAX with `debug_info=True`).

Source: mlir/lib/AsmParser/LocationParser.cpp. A location is a file, a name with a location, a call site, several fused
ones, or an alias (`#loc12`). Aliases are defined at the end of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from framedex.patterns import compiled_on_use
from framedex.text_stacks.model import Format, Part, PartKind, Piece, Place, TextFrame
from framedex.text_stacks.readers.compiler.strings import unescaped

_TOKEN = compiled_on_use(
    r'\s*(?:"(?P<text>(?:[^"\\]|\\.)*)"|(?P<alias>#\w+)|(?P<number>\d{1,9})(?!\d)|(?P<word>[A-Za-z_]\w*)|(?P<other>\S))'
)
_ALIAS = compiled_on_use(r"^(?P<name>#\w+) = (?=loc\()", re.MULTILINE)
_BODY = compiled_on_use(r"\s*(?:%|\}|\^|return\b|func\.|module\b|#\w+ = |\"|[a-z_]\w*\.[a-z_])")
_DIAGNOSTIC = compiled_on_use(r"(?:^\s*|(?<=[\s\]|]))(?:error|warning|note|remark): (?=\")|^\s*(?=\")")
# In a log line such as `ERROR error: "f"`, the second word may be a logger's name instead of MLIR's severity.
_DEEPEST = 64
_MOST_OUTWARD = 64


@dataclass(frozen=True, slots=True)
class Node:
    """A parsed location: a file has a `place`; a name, a call site and fused ones have `inner` locations."""

    kind: str
    text: str = ""
    place: Place | None = None
    inner: tuple[Node, ...] = ()


_UNKNOWN = Node("unknown")


class MlirText:
    """Parser of MLIR modules. `text` is the whole text, for the aliases at its end; without it they stay unresolved."""

    is_seldom = False
    remembers = ()
    triggers = ("loc(", *(f'{severity}: "' for severity in ("error", "warning", "note", "remark")))

    def __init__(self, text: str = "") -> None:
        self._aliases: dict[str, Node] = {}
        for match in _ALIAS.finditer(text) if "#loc" in text else ():
            end = text.find("\n", match.end())
            length = min(end - match.end() if end >= 0 else len(text), _LONGEST)
            self._aliases[match["name"]] = _Parser(text, match.end() + len("loc("), limit=length).location()
        self._known: dict[str, list[Place]] = {}

    def piece(self, number: int, line: str, *, inside: bool) -> Piece | None:
        """Return the locations on a line."""
        begins = line.strip(" {\r") if line.startswith("module") else None
        if "loc(" not in line:
            if '":' in line and (diagnostic := self._diagnostic(number, line)) is not None:
                return Piece(Format.MLIR, (diagnostic,))
            return Piece(Format.MLIR, begins=begins) if begins is not None and line.rstrip().endswith("{") else None
        frames = tuple(self._frames(number, line))
        return Piece(Format.MLIR, frames, begins=begins) if frames or inside else None

    def extended(self, frame: TextFrame, number: int, line: str) -> TextFrame | None:
        """Return None: a location has one line."""
        return None

    def belongs(self, line: str) -> bool:
        """Whether the line is another line of a module."""
        return _BODY.match(line) is not None

    def _frames(self, number: int, line: str) -> Iterator[TextFrame]:
        position = 0
        while (start := line.find("loc(", position)) >= 0:
            position = start + len("loc(")
            if start and (line[start - 1].isalnum() or line[start - 1] == "_"):  # malloc(
                continue
            parser = _Parser(line, position, number=number)
            node = parser.location()
            position = parser.position
            places = self._places(node, 0)
            if places:
                yield _frame((number, start, min(position + 1, len(line))), parser, node, places)

    def _diagnostic(self, number: int, line: str) -> TextFrame | None:
        """Return the location after `error: `, as exceptions of MLIR's Python bindings print it: without `loc(`."""
        match = _DIAGNOSTIC.search(line)
        if match is None:
            return None
        parser = _Parser(line, match.end(), number=number)
        node = parser.location()
        places = self._places(node, 0)
        is_sure = node.kind != "file" or (bool(places) and places[0].column > 0)
        if not places or not is_sure or not line.startswith(":", parser.position):
            return None
        return _frame((number, match.end(), parser.position), parser, node, places)

    def _places(self, node: Node, depth: int) -> list[Place]:
        """Return the source locations of an MLIR location, innermost first."""
        if depth > _DEEPEST:
            return []
        if node.kind == "file":
            return [node.place] if node.place else []
        if node.kind == "alias":
            return self._of_alias(node.text, depth)
        if node.kind == "name":
            places = self._places(node.inner[0], depth + 1) if node.inner else []
            named = places and not places[0].function
            return [replace(places[0], function=node.text), *places[1:]] if named else places
        if node.kind == "call":
            return [place for each in node.inner for place in self._places(each, depth + 1)][:_MOST_OUTWARD]
        return next((places for each in node.inner if (places := self._places(each, depth + 1))), [])

    def _of_alias(self, name: str, depth: int) -> list[Place]:
        if name not in self._known:
            self._known[name] = []  # the result for a cycle of aliases
            self._known[name] = self._places(self._aliases.get(name, _UNKNOWN), depth + 1)
        return self._known[name]


def _frame(span: tuple[int, int, int], parser: _Parser, node: Node, places: list[Place]) -> TextFrame:
    number, start, end = span
    name = node.text if node.kind == "name" else ""
    return TextFrame(
        Format.MLIR,
        *(number, start, number, end),
        tuple(parser.parts),
        function=places[0].function,
        place=places[0],
        outward=tuple(places[1:]),
        labels=(name,) if name and name != places[0].function else (),
    )


_LONGEST = 1 << 16


class _Parser:
    """Parser of the location at `position`, after `loc(`; it leaves `position` at the closing parenthesis."""

    def __init__(self, text: str, position: int, number: int = 0, limit: int = _LONGEST) -> None:
        self._text = text
        self._end = min(len(text), position + limit)
        self._number = number
        self.position = position
        self.parts: list[Part] = []

    def location(self, depth: int = 0) -> Node:
        """Parse one location; `_UNKNOWN` if malformed."""
        token = self._take()
        if token is None or depth > _DEEPEST:
            return _UNKNOWN
        if token["alias"]:
            self._part(PartKind.LABEL, token, "alias")
            return Node("alias", token["alias"])
        if token["text"] is not None:
            return self._string(token, depth)
        if token["word"] == "callsite" and self._skip("("):
            callee = self.location(depth + 1)
            caller = self.location(depth + 1) if self._skip("at") else _UNKNOWN
            self._skip(")")
            return Node("call", inner=(callee, caller))
        if token["word"] == "fused":
            return self._fused(depth)
        return _UNKNOWN

    def _string(self, token: re.Match[str], depth: int) -> Node:
        text = unescaped(token["text"])
        if not self._skip(":"):
            self._part(PartKind.FUNCTION, token, "text")
            inner: tuple[Node, ...] = ()
            if self._skip("("):
                inner = (self.location(depth + 1),)
                self._skip(")")
            return Node("name", text, inner=inner)
        self._part(PartKind.PATH, token, "text")
        line = self._number_of(PartKind.LINE)
        column = self._number_of(PartKind.COLUMN) if self._skip(":") else 0
        if self._skip("to"):
            self._number_of(None)
            if self._skip(":"):
                self._number_of(None)
        return Node("file", place=Place(text, line, column) if line and text not in ("-", "") else None)

    def _fused(self, depth: int) -> Node:
        if self._skip("<"):
            while (token := self._take()) is not None and token["other"] != ">":
                pass
        inner = []
        if self._skip("["):
            inner.append(self.location(depth + 1))
            while self._skip(","):
                inner.append(self.location(depth + 1))
            self._skip("]")
        return Node("fused", inner=tuple(inner))

    def _number_of(self, kind: PartKind | None) -> int:
        token = self._peek()
        if token is None or token["number"] is None:
            # `to :19` has no line
            return 0
        self.position = token.end()
        if kind is not None:
            self._part(kind, token, "number")
        return int(token["number"])

    def _skip(self, text: str) -> bool:
        token = self._peek()
        if token is None or text not in (token["word"], token["other"]):
            return False
        self.position = token.end()
        return True

    def _take(self) -> re.Match[str] | None:
        token = self._peek()
        if token is not None:
            self.position = token.end()
        return token

    def _peek(self) -> re.Match[str] | None:
        return _TOKEN.match(self._text, self.position, self._end)

    def _part(self, kind: PartKind, token: re.Match[str], group: str) -> None:
        self.parts.append(Part(kind, self._number, *token.span(group)))

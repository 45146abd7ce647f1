"""MLIR's locations as text: `loc("jit(f)/sin"("f"("train.py":3:4)))`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from framedex.model.programs import ProgramFrame
from framedex.programs.locations import Line, LocationSequence, NamedLocation, Node, OpLocations

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|callsite\(|fused(?:<[^>]*>)?\[|[(),\]]|:\d+|\bat\b|[^\s"(),\]:]+')
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)")
_MAX_DEPTH = 200


def find_op_in_text(text: str) -> tuple[str, tuple[ProgramFrame, ...]]:
    """Return the name of an op, and its lines, the innermost first, from the text of its location."""
    nodes: list[Node] = []
    tokens = _Tokens(text.removeprefix("loc(").removesuffix(")"))
    root = _read(tokens, nodes, 0)
    return OpLocations(lambda number: nodes[number]).find_op(root)


class _Tokens:
    def __init__(self, text: str) -> None:
        self._found: Iterator[str] = (match[0] for match in _TOKEN.finditer(text))
        self.next = next(self._found, "")

    def advance(self) -> str:
        """Return the next token and advance."""
        taken, self.next = self.next, next(self._found, "")
        return taken


def _read(tokens: _Tokens, nodes: list[Node], depth: int) -> int:
    """Parse a location into `nodes`, and return its number there."""
    number = len(nodes)
    nodes.append(None)
    token = tokens.advance()
    if depth > _MAX_DEPTH:
        return number
    if token.startswith('"'):
        text = _unescape(token[1:-1])
        if tokens.next.startswith(":"):
            nodes[number] = Line(text, int(tokens.advance()[1:]))
            _skip_range(tokens)
        elif tokens.next == "(":
            tokens.advance()
            nodes[number] = NamedLocation(text, _read(tokens, nodes, depth + 1))
            tokens.advance()
        else:
            nodes[number] = NamedLocation(text, _read(_Tokens(""), nodes, depth + 1))
    elif token == "callsite(":
        callee = _read(tokens, nodes, depth + 1)
        tokens.advance()  # at
        nodes[number] = LocationSequence((callee, _read(tokens, nodes, depth + 1)))
        tokens.advance()
    elif token.startswith("fused"):
        parts = []
        while tokens.next not in ("]", ""):
            parts.append(_read(tokens, nodes, depth + 1))
            if tokens.next == ",":
                tokens.advance()
        tokens.advance()
        nodes[number] = LocationSequence(tuple(parts))
    return number


def _skip_range(tokens: _Tokens) -> None:
    while tokens.next.startswith(":") or tokens.next == "to" or tokens.next.isdigit():
        tokens.advance()


def _unescape(text: str) -> str:
    """Undo MLIR's escapes: two hexadecimal digits, or the character itself."""
    if "\\" not in text:
        return text

    def decode(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if len(match[1]) == 2 else match[1]

    return _ESCAPE.sub(decode, text).encode("latin-1", "replace").decode("utf-8", "replace")

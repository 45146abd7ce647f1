"""LLVM's string literals in HLO and MLIR: a backslash escapes two hex digits or one other character."""

from __future__ import annotations

import re

_ESCAPE = re.compile(rb"\\(?:([0-9a-fA-F]{2})|(.))", re.DOTALL)
_SHORT = {b"n": b"\n", b"t": b"\t"}


def unescaped(text: str) -> str:
    """Return the text between the quotes with its escapes replaced; hex escapes are UTF-8 bytes."""
    if "\\" not in text:
        return text
    return _ESCAPE.sub(_character, text.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")


def _character(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)]) if match[1] else _SHORT.get(match[2], match[2])

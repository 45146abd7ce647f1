"""Text that is safe to print. Names and paths from captures may contain anything, such as terminal escapes.

`make_printable` shows control characters, escapes, line breaks, bidirectional marks and lone surrogates as `\\xNN`,
`\\uNNNN` or `\\UNNNNNNNN`. `restore` is its inverse, so a path read back from a trace document still opens.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
import unicodedata

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8}))")


def make_printable(text: str) -> str:
    """The text on one line, with all characters escaped except visible ones and plain spaces."""
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    return "".join(_escape_hidden(character, text[index + 1 : index + 2]) for index, character in enumerate(text))


def make_visible(text: str) -> str:
    """The text for display only: like `make_printable`, but existing escape sequences stay unchanged."""
    return text if text.isascii() and text.isprintable() else "".join(map(_escape_hidden, text))


def restore(text: str) -> str:
    """The original text that `make_printable` escaped."""
    return _ESCAPE.sub(_unescape, text)


def truncate(text: str, limit: int) -> str:
    """The text with at most `limit` characters; an ellipsis replaces the end of a longer text."""
    return text if len(text) <= limit else f"{text[: max(limit - 1, 0)]}…"


def quote_shell_word(text: str) -> str:
    """A string quoted as a shell word, safe inside backquotes; `$'...'` if it has invisible characters."""
    if make_printable(text) == text and "`" not in text:
        return shlex.quote(text)
    return "$'" + "".join(_escape_shell_byte(byte) for byte in os.fsencode(text)) + "'"


def _escape_shell_byte(byte: int) -> str:
    character = chr(byte)
    return character if character.isascii() and (character.isalnum() or character in "/._- ") else f"\\x{byte:02x}"


def _unescape(escape: re.Match[str]) -> str:
    point = int(escape[1] or escape[2] or escape[3], 16)
    return chr(point) if point <= sys.maxunicode else escape[0]  # not an escape that `make_printable` writes


def _escape_hidden(character: str, following: str = "") -> str:
    # Escape a backslash that could be read as the start of an escape: this makes `make_printable` reversible.
    starts_escape = character == "\\" and following in {"x", "u", "U"}
    if not starts_escape and unicodedata.category(character) not in _HIDDEN_CATEGORIES:
        return character
    point = ord(character)
    if point < 0x100:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"

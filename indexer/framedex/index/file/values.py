"""Python values that SQLite lacks: undecodable text, addresses beyond 63 bits, and locations."""

from __future__ import annotations

from framedex.model import How, Location

_WORD = 1 << 64


def storable(text: str) -> str:
    """Return the text with undecodable bytes (lone surrogates) as `\\udcNN`, which `plaintext.restore` reverses."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def signed(address: int) -> int:
    """Return a 64-bit address as the signed integer that SQLite stores."""
    address %= _WORD
    return address - _WORD if address >= _WORD >> 1 else address


def unsigned(stored: int) -> int:
    """Return the address that was stored with `signed`."""
    return stored % _WORD


def location(path: str | None, line: int | None, how: str | None) -> Location | None:
    """Return a location as recorded or indexed, from its columns, or None if they are NULL."""
    return None if path is None or not line or how is None else Location(path, line, How(how))

"""Values that Python has and SQLite has not: undecodable text, addresses beyond 63 bits, and places."""

from __future__ import annotations

from framedex.model import How, Location

_WORD = 1 << 64


def storable(text: str) -> str:
    """The text with bytes that were no UTF-8 (lone surrogates) as `\\udcNN`, which `plaintext.restore` undoes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def signed(address: int) -> int:
    """A 64-bit address as the signed integer that SQLite stores."""
    address %= _WORD
    return address - _WORD if address >= _WORD >> 1 else address


def unsigned(stored: int) -> int:
    """The address that was stored with `signed`."""
    return stored % _WORD


def location(path: str | None, line: int | None, how: str | None) -> Location | None:
    """A place as it was recorded or indexed, from its columns; None where they are NULL."""
    return None if path is None or not line or how is None else Location(path, line, How(how))

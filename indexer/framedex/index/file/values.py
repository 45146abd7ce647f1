"""Values that Python has and SQLite has not: undecodable text, and addresses beyond 63 bits."""

from __future__ import annotations

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

"""Conversions between Python values and columns: text, addresses, locations, durations in buckets, and source texts.

A duration below 128 ns is a bucket of its own. Above that, a bucket has the durations with the same first seven binary
digits, so none is farther than 0.8 percent from its middle.
"""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import replace

from framedex.model import Location, LocationEvidence

_WORD = 1 << 64
_MAX_TEXT_BYTES = 1 << 26  # recorded source files are smaller
_BUCKET_BITS = 7  # significant binary digits of a bucket
_BUCKETS_PER_SHIFT = 1 << (_BUCKET_BITS - 1)


def to_storable(text: str) -> str:
    """Return the text with undecodable bytes (lone surrogates) as `\\udcNN`, which `plaintext.restore` reverses."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text


def to_signed(address: int) -> int:
    """Return a 64-bit address as the signed integer that SQLite stores."""
    address %= _WORD
    return address - _WORD if address >= _WORD >> 1 else address


def to_unsigned(stored: int) -> int:
    """Return the address that `to_signed` stored."""
    return stored % _WORD


def build_location(path: str | None, line: int | None, how: str | None) -> Location | None:
    """Build a location from its columns; None if they are NULL."""
    return None if path is None or not line or how is None else Location(path, line, LocationEvidence(how))


def fold_range(location: Location | None, candidates: Sequence[Location]) -> tuple[Location | None, Sequence[Location]]:
    """Return the location of a frame and its candidates, with the last line of a range in the location.

    The index stores this line as the only candidate.
    """
    if location is None or location.how is not LocationEvidence.BETWEEN or not candidates:
        return location, candidates
    return replace(location, last_line=candidates[0].line), ()


def convert_duration_to_bucket(duration: int) -> int:
    """Return the bucket of a duration in ns."""
    shift = max(duration.bit_length() - _BUCKET_BITS, 0)
    return duration if shift == 0 else shift * _BUCKETS_PER_SHIFT + (duration >> shift)


def convert_bucket_to_duration(bucket: int) -> int:
    """Return the middle of a bucket in ns."""
    shift = max(bucket // _BUCKETS_PER_SHIFT - 1, 0)
    if shift == 0:
        return bucket
    return ((bucket - shift * _BUCKETS_PER_SHIFT) << shift) + ((1 << shift) - 1) // 2


def pack_text(content: bytes) -> bytes:
    """Return a source text in the compressed form of the column `file_versions.text`."""
    return zlib.compress(content)


def _unpack_text(packed: bytes) -> bytes:
    """Return a stored text. Raises zlib.error if it is damaged or over `_MAX_TEXT_BYTES`, and TypeError."""
    stream = zlib.decompressobj()
    content = stream.decompress(packed, _MAX_TEXT_BYTES)
    if not stream.eof:
        raise zlib.error("it is truncated or too large")
    return content


def read_stored_text(connection: sqlite3.Connection, blob: str) -> bytes | None:
    """Return the source text of a git blob; None if it is missing or damaged."""
    query = "SELECT text FROM file_versions WHERE blob = ? AND text IS NOT NULL"
    row = connection.execute(query, (blob,)).fetchone()
    try:
        return None if row is None else _unpack_text(row[0])
    except (zlib.error, TypeError):
        return None

"""Name completion by prefix: each query reads a bounded range of one database index.

FFI targets are the exception: a process registers only a few dozen.
"""

from __future__ import annotations

from dataclasses import dataclass

from framedex.index.read.rows import Reader

_AFTER_ALL = chr(0x10FFFF)
_MOST_LOOKED_AT = 20_000  # files below a folder: a source tree may have many files with few recorded ones


@dataclass(frozen=True, slots=True)
class Beginnings:
    """Names with a case-sensitive prefix, in alphabetical order, at most `limit` per kind."""

    reader: Reader

    def functions(self, text: str, limit: int) -> list[str]:
        """Return the names of recorded functions: without scopes, and also with scopes if the prefix has one."""
        short = self._range(
            "SELECT DISTINCT short_name FROM functions WHERE short_name >= ?1 AND short_name < ?2", text, limit
        )
        if "." not in text and "::" not in text:
            return short
        return short + self._range("SELECT DISTINCT name FROM functions WHERE name >= ?1 AND name < ?2", text, limit)

    def boundaries(self, text: str, limit: int) -> list[str]:
        """Return the names of boundary functions with a recorded call, such as those of the PJRT table."""
        return self._range(
            "SELECT DISTINCT name FROM boundaries b WHERE name >= ?1 AND name < ?2"
            " AND EXISTS (SELECT 1 FROM call_kinds WHERE boundary = b.id)",
            text,
            limit,
        )

    def ffi_targets(self, text: str, limit: int) -> list[str]:
        """Return the names of FFI targets of all captures."""
        return self._range("SELECT DISTINCT name FROM ffi_targets WHERE name >= ?1 AND name < ?2", text, limit)

    def recorded_files(self, text: str, limit: int) -> list[str]:
        """Return the paths of files with a recorded frame."""
        return self._range(
            f"SELECT path FROM (SELECT id, path FROM files WHERE path >= ?1 AND path < ?2 LIMIT {_MOST_LOOKED_AT}) f"
            " WHERE EXISTS (SELECT 1 FROM frames WHERE file = f.id)"
            " OR EXISTS (SELECT 1 FROM frames WHERE recorded_file = f.id)",
            text,
            limit,
        )

    def _range(self, query: str, text: str, limit: int) -> list[str]:
        return [name for (name,) in self.reader.rows(f"{query} LIMIT ?3", text, text + _AFTER_ALL, limit) if name]

"""The lines of statements. A frame has only one line of its statement, but users may query any of the lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Lock

from framedex.base.lazy import TextCache
from framedex.base.nativepart import NoNativePartError
from framedex.base.regularfile import read_regular
from framedex.path_resolution.files import FoundFile
from framedex.sources.files import find_language

_MAX_PARSED_BYTES = 4 << 20  # bytes; as in native/extractor, a larger file is generated data
_BYTES_PER_LINE = 100  # bytes of memory, roughly


class Statements:
    """The statements of files, cached until a file changes. Thread-safe."""

    def __init__(self, max_bytes: int = 32 << 20) -> None:
        """`most` limits the memory for statements, in bytes, approximately."""
        self._statements: TextCache[str, tuple[FoundFile, Mapping[int, tuple[int, ...]]]] = TextCache(max_bytes)
        self._lock = Lock()

    def lines_of_statements(self, file: FoundFile, line: int, macros: Callable[[], str]) -> tuple[int, ...]:
        """The lines (1-based) of the multi-line statements that include this line; empty if no statement does.

        Also empty for an unreadable file or a statement that cannot be parsed. `macros` returns the macros of the tree,
        as `find_macros` does.
        """
        cached = self._statements.get(file.path)
        if cached is None or cached[0] != file:
            cached = file, _group_by_line(_read_statements(file, macros()))
            with self._lock:
                self._statements.store(file.path, cached, _BYTES_PER_LINE * len(cached[1]))
        return cached[1].get(line, ())


def _read_statements(file: FoundFile, macros: str) -> list[list[tuple[int, int]]]:
    language = find_language(Path(file.path))
    if language is None or file.size > _MAX_PARSED_BYTES:
        return []
    try:
        from framedex.sources.extraction import find_long_statements

        return find_long_statements(read_regular(Path(file.path)), language, macros)
    except (OSError, NoNativePartError):  # each line is then its own statement
        return []


def _group_by_line(statements: Iterable[list[tuple[int, int]]]) -> dict[int, tuple[int, ...]]:
    found: dict[int, tuple[int, ...]] = {}
    for ranges in statements:
        lines = tuple(line for first, last in ranges for line in range(first, last + 1))
        for line in lines:
            # One statement may end on the line on which another begins.
            found[line] = tuple(sorted({*found[line], *lines})) if line in found else lines
    return found

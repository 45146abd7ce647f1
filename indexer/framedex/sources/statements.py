"""The lines of statements: a frame has one line of its statement, and a reader may query any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from threading import Lock

from framedex.nativepart import NoNativePartError
from framedex.path_resolution.files import FoundFile
from framedex.recall import Recall
from framedex.regularfile import read_regular
from framedex.sources.files import language_of

_LARGEST = 4 << 20  # bytes; as in native/extractor, a larger file is generated data
_OF_A_LINE = 100  # bytes of memory, roughly


class Statements:
    """The statements of files, cached until a file changes. Thread-safe."""

    def __init__(self, most: int = 32 << 20) -> None:
        """`most` limits the memory for statements, in bytes, approximately."""
        self._kept: Recall[str, tuple[FoundFile, Mapping[int, tuple[int, ...]]]] = Recall(most)
        self._lock = Lock()

    def lines_with(self, file: FoundFile, line: int, macros: Callable[[], str]) -> tuple[int, ...]:
        """The lines (1-based) of the multi-line statements that include this line; empty if there are none.

        Also empty for an unreadable file or a statement that cannot be parsed. `macros` returns the macros of the tree,
        as `learn_macros` does.
        """
        kept = self._kept.get(file.path)
        if kept is None or kept[0] != file:
            kept = file, _by_line(_read(file, macros()))
            with self._lock:
                self._kept.keep(file.path, kept, _OF_A_LINE * len(kept[1]))
        return kept[1].get(line, ())


def _read(file: FoundFile, macros: str) -> list[list[tuple[int, int]]]:
    language = language_of(Path(file.path))
    if language is None or file.size > _LARGEST:
        return []
    try:
        from framedex.sources.extraction import long_statements

        return long_statements(read_regular(Path(file.path)), language, macros)
    except (OSError, NoNativePartError):  # each line is then its own statement
        return []


def _by_line(statements: Iterable[list[tuple[int, int]]]) -> dict[int, tuple[int, ...]]:
    found: dict[int, tuple[int, ...]] = {}
    for ranges in statements:
        lines = tuple(line for first, last in ranges for line in range(first, last + 1))
        for line in lines:
            # One statement may end on the line on which another begins.
            found[line] = tuple(sorted({*found[line], *lines})) if line in found else lines
    return found

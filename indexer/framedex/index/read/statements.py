"""The lines of statements in the current files; a frame is on one line of its statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # imports the extractor, which most queries do not need
    from framedex.path_resolution.files import FoundFile
    from framedex.sources.statements import Statements


class StatementLines:
    """The statements of source files; a file is parsed at the first query for one of its lines."""

    def __init__(self) -> None:
        self._statements: Statements | None = None

    def lines_with(self, file: FoundFile, line: int, macros: Callable[[], str]) -> tuple[int, ...]:
        """Return the lines of the statements that include this line; empty if these have only this line."""
        if self._statements is None:
            from framedex.sources.statements import Statements

            self._statements = Statements()
        return self._statements.lines_with(file, line, macros)

"""Which lines a statement has, of files as they are now: frames stand on one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # with the extractor, which most questions do without
    from framedex.sources.statements import Statements
    from framedex.whereabouts.files import FoundFile


class StatementLines:
    """The statements of source files; a file is parsed when the first line of it is asked for."""

    def __init__(self) -> None:
        self._statements: Statements | None = None

    def lines_with(self, file: FoundFile, line: int, macros: Callable[[], str]) -> tuple[int, ...]:
        """The lines of the statements that have a part on this one; none where they are on it alone."""
        if self._statements is None:
            from framedex.sources.statements import Statements

            self._statements = Statements()
        return self._statements.lines_with(file, line, macros)

"""Progress bars on stderr while someone is watching."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from framedex.ingest import Progress, Silence

if TYPE_CHECKING:
    from rich.progress import Progress as Bars


@contextmanager
def progress_on_terminal() -> Iterator[Progress]:
    """A listener that draws bars where stderr is a terminal, and is silent elsewhere."""
    if not sys.stderr.isatty():
        yield Silence()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        yield _Drawn(bars)


class _Drawn:
    def __init__(self, bars: Bars) -> None:
        self._bars = bars

    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Draw one bar for the length of the work."""
        task = self._bars.add_task(description, total=total)
        yield lambda amount: self._bars.advance(task, amount)
        self._bars.remove_task(task)

    def note(self, text: str) -> None:
        """Print a line above the bars."""
        self._bars.console.print(text, highlight=False, markup=False)

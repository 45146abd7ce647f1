"""Progress bars on stderr while someone is watching."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import click

from framedex.commands.output.layout import cut
from framedex.progress import Advance, Progress, Silence

_BESIDE_LABEL = 40  # columns for the counts, the time that is left, and something of a bar
_STEPS = 200  # in which a bar grows: drawing it costs more than reading a small file
_UNCOUNTED_STEP = 100
_UP_AND_ERASE = "\x1b[A\x1b[2K"


@contextmanager
def progress_on_terminal() -> Iterator[Progress]:
    """A listener that draws bars where stderr is a terminal, and is silent elsewhere."""
    is_watched = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    yield _Drawn() if is_watched else Silence()


class _Drawn:
    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[Advance]:
        """Draw a bar for the length of the work; without the time that is left where it would not fit its line."""
        columns = shutil.get_terminal_size().columns
        counted = _Calls()
        items: Iterator[Any] | None = count() if total is None else None  # texts are shown beside the bar
        with click.progressbar(
            items,
            length=total,
            label=cut(description, columns - _BESIDE_LABEL),
            show_pos=True,
            show_eta=columns >= _BESIDE_LABEL,
            width=0,
            update_min_steps=_UNCOUNTED_STEP if total is None else max(total // _STEPS, 1),
            item_show_func=lambda calls: calls,
            file=sys.stderr,
        ) as bar:

            def advance(amount: int, /, calls: int = 0) -> None:
                text = counted.added(calls) if calls else None
                if text is not None and columns >= _BESIDE_LABEL + len(text) + len(description):
                    bar.show_pos = False  # calls say more than the units of the work
                    bar.update(amount, text)
                else:
                    bar.update(amount)

            yield advance
        click.echo(_UP_AND_ERASE, file=sys.stderr, nl=False)

    def note(self, text: str) -> None:
        """Print a line between two bars."""
        click.echo(text, err=True)


class _Calls:
    """How many calls have come, and how many of them in a second."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._calls = 0

    def added(self, calls: int) -> str:
        """The counts as a text, with so many calls more."""
        self._calls += calls
        rate = self._calls / max(time.monotonic() - self._began, 1e-3)
        return f"{self._calls:,} calls, {rate:,.0f}/s"

"""Progress bars on stderr while someone is watching."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count

import click

from framedex.commands.output.layout import cut
from framedex.ingest import Progress, Silence

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
    def task(self, description: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """Draw a bar for the length of the work; without the time that is left where it would not fit its line."""
        columns = shutil.get_terminal_size().columns
        with click.progressbar(
            count() if total is None else None,
            length=total,
            label=cut(description, columns - _BESIDE_LABEL),
            show_pos=True,
            show_eta=columns >= _BESIDE_LABEL,
            width=0,
            update_min_steps=_UNCOUNTED_STEP if total is None else max(total // _STEPS, 1),
            file=sys.stderr,
        ) as bar:
            yield bar.update
        click.echo(_UP_AND_ERASE, file=sys.stderr, nl=False)

    def note(self, text: str) -> None:
        """Print a line between two bars."""
        click.echo(text, err=True)

"""Progress bars on stderr, if stderr is a terminal."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import Any

import click

from framedex import words
from framedex.plaintext import truncate
from framedex.progress import Advance, Progress, Silence

_BESIDE_LABEL = 40  # columns for the counts, the remaining time, and a short bar
_STEPS = 200  # steps of a bar: drawing costs more than reading a small file
_UNCOUNTED_STEP = 100
_AT_ONCE = 1.0  # seconds
_BETWEEN = 0.1  # seconds between two drawings of one bar
_UP_AND_ERASE = "\x1b[A\x1b[2K"


@contextmanager
def progress_on_terminal() -> Iterator[Progress]:
    """A listener that draws bars if stderr is a terminal, and is silent otherwise."""
    yield _Drawn() if _is_watched() else Silence()


def progress_of_questions() -> Progress:
    """A listener for queries, which are usually fast: it draws a bar after one second."""
    return _DrawnLate() if _is_watched() else Silence()


def is_output_seen() -> bool:
    """Whether printed rows appear at once, on a terminal or through a pipe.

    A progress bar would then appear between the rows.
    """
    try:
        return sys.stdout.isatty() or stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):  # closed, or not a file
        return False


def _is_watched() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class _Drawn:
    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[Advance]:
        """Draw a bar for the duration of the work."""
        steps = _UNCOUNTED_STEP if total is None else max(total // _STEPS, 1)
        with self.bar(description, total, steps, time.monotonic()) as advance:
            yield advance

    @contextmanager
    def bar(self, description: str, total: int | None, steps: int, began: float) -> Iterator[Advance]:
        """Draw a bar of work that began at `began` (monotonic seconds), and redraw it every `steps` steps.

        The remaining time is omitted in a narrow terminal.
        """
        columns = shutil.get_terminal_size().columns
        counted = _Calls(began)
        items: Iterator[Any] | None = count() if total is None else None  # texts appear beside the bar
        with click.progressbar(
            items,
            length=total,
            label=truncate(description, columns - _BESIDE_LABEL),
            show_pos=True,
            show_eta=columns >= _BESIDE_LABEL,
            width=0,
            update_min_steps=steps,
            item_show_func=lambda calls: calls,
            file=sys.stderr,
        ) as bar:
            bar.start -= time.monotonic() - began

            def advance(amount: int, /, calls: int = 0) -> None:
                text = counted.added(calls) if calls else None
                if text is not None and columns >= _BESIDE_LABEL + len(text) + len(description):
                    bar.show_pos = False  # calls say more than units of work
                    bar.update(amount, text)
                else:
                    bar.update(amount)

            yield advance
        click.echo(_UP_AND_ERASE, file=sys.stderr, nl=False)

    def note(self, text: str) -> None:
        """Print a line between two bars."""
        click.echo(text, err=True)


class _DrawnLate(Silence):
    """A listener that draws a bar for work of more than one second.

    It redraws by the clock, because steps may have any duration.
    """

    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[Advance]:
        """Draw a bar after one second."""
        began = time.monotonic()
        due = began + _AT_ONCE
        done, seen = 0, 0
        drawn: Advance | None = None
        with ExitStack() as stack:

            def advance(amount: int, /, calls: int = 0) -> None:
                nonlocal done, seen, drawn, due
                done, seen = done + amount, seen + calls
                if (now := time.monotonic()) < due:
                    return
                due = now + _BETWEEN
                if drawn is None:
                    drawn = stack.enter_context(_Drawn().bar(description, total, 1, began))
                drawn(done, seen)
                done, seen = 0, 0

            yield advance


class _Calls:
    """The number of calls since a time, and the calls per second."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._calls = 0

    def added(self, calls: int) -> str:
        """Add calls, and return the counts as text."""
        self._calls += calls
        rate = self._calls / max(time.monotonic() - self._began, 1e-3)
        return f"{words.count(self._calls, 'call')}, {rate:,.0f}/s"

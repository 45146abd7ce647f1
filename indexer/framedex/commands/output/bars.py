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

from framedex.base import words
from framedex.base.plaintext import truncate
from framedex.base.progress import AdvanceCallback, Progress, SilentProgress

_COUNTS_WIDTH = 40  # columns for the counts, the remaining time, and a short bar
_STEPS = 200  # maximum number of redraws: one takes longer than reading a small file
_UNCOUNTED_STEP = 100
_FIRST_DRAWING_S = 1.0  # delay before the bar of a query appears
_REDRAW_INTERVAL_S = 0.1
_UP_AND_ERASE = "\x1b[A\x1b[2K"


@contextmanager
def progress_on_terminal() -> Iterator[Progress]:
    """Yield a progress listener that draws bars if stderr is a terminal, and is silent otherwise."""
    yield _BarProgress() if _can_draw_bars() else SilentProgress()


def query_progress() -> Progress:
    """A progress listener for queries, which are usually fast: it draws a bar after one second."""
    return _DelayedBarProgress() if _can_draw_bars() else SilentProgress()


def is_output_live() -> bool:
    """Whether the user sees rows as they are printed: stdout is a terminal or a pipe.

    A progress bar would then appear between the rows.
    """
    try:
        return sys.stdout.isatty() or stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode)
    except (OSError, ValueError):  # stdout is closed, or is not a file
        return False


def _can_draw_bars() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


class _BarProgress:
    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[AdvanceCallback]:
        """Draw a bar for the duration of the work."""
        steps = _UNCOUNTED_STEP if total is None else max(total // _STEPS, 1)
        with self.bar(description, total, steps, time.monotonic()) as advance:
            yield advance

    @contextmanager
    def bar(self, description: str, total: int | None, steps: int, began: float) -> Iterator[AdvanceCallback]:
        """Draw a bar of work that began at `began` (monotonic seconds), and redraw it every `steps` steps.

        The remaining time is omitted in a narrow terminal.
        """
        columns = shutil.get_terminal_size().columns
        call_rate = _CallRate(began)
        items: Iterator[Any] | None = count() if total is None else None  # without a total, texts appear beside the bar
        with click.progressbar(
            items,
            length=total,
            label=truncate(description, columns - _COUNTS_WIDTH),
            show_pos=True,
            show_eta=columns >= _COUNTS_WIDTH,
            width=0,
            update_min_steps=steps,
            item_show_func=lambda calls: calls,
            file=sys.stderr,
        ) as bar:
            bar.start -= time.monotonic() - began

            def advance(amount: int, /, calls: int = 0) -> None:
                text = call_rate.add(calls) if calls else None
                if text is not None and columns >= _COUNTS_WIDTH + len(text) + len(description):
                    bar.show_pos = False  # the number of calls is more useful than units of work
                    bar.update(amount, text)
                else:
                    bar.update(amount)

            yield advance
        click.echo(_UP_AND_ERASE, file=sys.stderr, nl=False)

    def note(self, text: str) -> None:
        """Print a line between two bars."""
        click.echo(text, err=True)


class _DelayedBarProgress(SilentProgress):
    """A progress listener that draws a bar for work that takes more than one second.

    It redraws by the clock, because steps may have any duration.
    """

    @contextmanager
    def task(self, description: str, total: int | None) -> Iterator[AdvanceCallback]:
        """Draw a bar after one second."""
        began = time.monotonic()
        due = began + _FIRST_DRAWING_S
        done, calls_done = 0, 0
        bar: AdvanceCallback | None = None
        with ExitStack() as stack:

            def advance(amount: int, /, calls: int = 0) -> None:
                nonlocal done, calls_done, bar, due
                done, calls_done = done + amount, calls_done + calls
                if (now := time.monotonic()) < due:
                    return
                due = now + _REDRAW_INTERVAL_S
                if bar is None:
                    bar = stack.enter_context(_BarProgress().bar(description, total, 1, began))
                bar(done, calls_done)
                done, calls_done = 0, 0

            yield advance


class _CallRate:
    """A counter of calls, and of calls per second since it began."""

    def __init__(self, began: float) -> None:
        self._began = began
        self._calls = 0

    def add(self, calls: int) -> str:
        """Add calls, and format the count and the rate."""
        self._calls += calls
        rate = self._calls / max(time.monotonic() - self._began, 1e-3)
        return f"{words.count(self._calls, 'call')}, {rate:,.0f}/s"

"""`framedex resolve`: copy a log while it is written, with source locations appended to its frames."""

from __future__ import annotations

import os
import select
import signal
import stat
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framedex.commands.inputs.known import settings_here
from framedex.commands.inputs.logs import (
    NO_INDEX,
    notes_of_release,
    opened_resolver,
    problems_of_builds,
    resolver_by,
    standard_input,
    unreadable,
)
from framedex.commands.output.console import note, print_error
from framedex.commands.output.notes import SourceNotes
from framedex.commands.output.terminal import Terminal
from framedex.errors import FramedexError
from framedex.model import Language
from framedex.releases.stated import StatedReleases
from framedex.text_stacks.placing.released import NAMESPACES
from framedex.text_stacks.placing.resolve import Found, Resolver
from framedex.text_stacks.stream import NotedLog

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.text_stacks.model import TextFrame

_BLOCK = 1 << 20
"""Maximum number of bytes per read; a pipe holds 64 KiB."""


@click.command()
@click.argument("file", metavar="[FILE|-]", default="-")
@click.pass_obj
def resolve(index_path: Path | None, file: str) -> None:
    """Copy a log and append source locations to its frames.

    \b
        python -u train.py 2>&1 | framedex resolve

    (Use -u or PYTHONUNBUFFERED=1: Python buffers output into a pipe.)

    A frame with only a symbol, a binary and an offset, or a path of another machine gets its place at the end of the
    line: " → /path:line", with a label unless it is exact, as a link where the terminal supports links. All other
    bytes pass unchanged, as soon as they are written, also a line without an end such as a progress bar.

    The formats are those of `framedex explain`, which reads the whole text and knows a little more. Ctrl-C ends the
    program before the pipe, and its last lines still pass. A pipe has the status of its last command; use `set -o
    pipefail` to get the program's.
    """
    terminal = Terminal.of_stdout()
    with _opened(file) as source, _interrupts_left_to_the_producer(source):
        with _Sources(index_path, file) as sources:
            notes = SourceNotes(sources.find, terminal, sys.stdout.encoding, sources.releases, sources)
            try:
                _pass_on(source, file, NotedLog(notes, sources.releases, notes))
            except BrokenPipeError:
                _end_as_others_do_in_a_broken_pipe()
        for remark in sources.remarks():
            note(remark)


@contextmanager
def _opened(file: str) -> Iterator[int]:
    """The file descriptor of the log. Raises FramedexError if it cannot be opened."""
    if file == "-":
        yield standard_input().fileno()
        return
    try:
        source = os.open(file, os.O_RDONLY)
    except (OSError, ValueError) as error:
        raise unreadable(file, error) from error
    try:
        yield source
    finally:
        os.close(source)


@contextmanager
def _interrupts_left_to_the_producer(source: int) -> Iterator[None]:
    """Ignore Ctrl-C if the log is a pipe: all processes get the signal, and the producer's last output must pass."""
    if not stat.S_ISFIFO(os.fstat(source).st_mode):
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _Sources:
    """Finds the sources of frames. Its modules are imported at the first frame; until then lines just pass.

    An error is printed and ends only the notes: if a filter exits, the program before it in the pipe fails. Without a
    readable index, the paths of the log still lead to files.
    """

    def __init__(self, index_path: Path | None, file: str) -> None:
        self._index_path = index_path
        self._file = file
        self._stack = ExitStack()
        self._resolver: Resolver | None = None
        self._index: Index | None = None
        self._failed = False
        self._names_of: object = None  # the state of the index at the time its names were read
        self._has_bad_index = False
        self.releases = StatedReleases()
        """The releases stated in the log so far."""
        self.missed = False
        """Whether a frame was not found that an index might have, if there is no index."""

    def __enter__(self) -> _Sources:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def remarks(self) -> Iterator[str]:
        """Notes about the sources, for the end of the log."""
        if self._resolver is not None:
            yield from notes_of_release(self._resolver.released)
            yield from problems_of_builds(self._resolver.builds)
        if self.missed:
            yield NO_INDEX

    def find(self, frame: TextFrame, inward: TextFrame | None = None) -> Found:
        """The source of a frame; `inward` is its callee, if the log has it."""
        nothing = Found(frame, frame.function, None)
        if self._failed:
            return nothing
        try:
            found = self._found(frame, inward)
        except Exception:
            self._failed = True
            traceback.print_exc()
            return nothing
        is_unknown = found.location is None and frame.language is Language.NATIVE
        self.missed = self.missed or (is_unknown and self._index is None and not self._has_bad_index)
        return found

    def names(self) -> Sequence[str] | None:
        """All names with a source and their namespaces, if they changed since the last call; otherwise None."""
        if self._resolver is None or self._failed:
            return None
        if self._index is None:
            names, self._names_of = (NAMESPACES if self._names_of != "" else None), ""
            return names
        try:
            with self._index.reading():
                state = self._index.state()
                if state == self._names_of:
                    return None
                self._names_of = state
                return [*NAMESPACES, *self._index.names.all_names()]
        except FramedexError:  # reported with the next frame
            return None

    def leads_nowhere(self, path: str) -> bool:
        """Whether a path has neither a matching file nor a public address."""
        if self._resolver is None or self._failed:
            return False
        try:
            with self._index.reading() if self._index is not None else nullcontext():
                return self._resolver.leads_nowhere(path)
        except FramedexError:
            return False

    def _found(self, frame: TextFrame, inward: TextFrame | None) -> Found:
        try:
            resolver = self._resolver = self._resolver or self._opened()
            with self._index.reading() if self._index is not None else nullcontext():
                return resolver.find(frame, inward=inward)
        except FramedexError as error:
            print_error(error)
            self._stack.close()
            self._index, self._has_bad_index = None, True
            self._resolver = resolver_by(settings_here()[0], self._file, None, self.releases)
            return self._resolver.find(frame, inward=inward)

    def _opened(self) -> Resolver:
        resolver, self._index = self._stack.enter_context(opened_resolver(self._index_path, self._file, self.releases))
        return resolver


def _pass_on(source: int, file: str, log: NotedLog) -> None:
    while block := _read(source, file):
        for piece in log.take(block):
            _write(piece)
    for piece in log.end():
        _write(piece)


def _read(source: int, file: str) -> bytes:
    while True:
        try:
            return os.read(source, _BLOCK)
        except BlockingIOError:  # another process has made a shared terminal or pipe non-blocking
            select.select([source], [], [])
        except OSError as error:
            raise unreadable(file, error) from error


def _write(piece: bytes) -> None:
    rest = memoryview(piece)
    while rest:
        try:
            rest = rest[os.write(1, rest) :]
        except BlockingIOError:
            select.select([], [1], [])
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FramedexError(f"stdout cannot be written: {error.strerror or error}.") from error


def _end_as_others_do_in_a_broken_pipe() -> None:
    """End by SIGPIPE without a message, as `cat` does: shells expect that of a filter."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)

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

from framedex.base.errors import FramedexError
from framedex.commands.inputs.logs import (
    NO_INDEX,
    build_problems,
    build_release_notes,
    make_resolver,
    open_resolver,
    standard_input,
    unreadable_error,
)
from framedex.commands.inputs.project_index import read_settings_here
from framedex.commands.output.console import note, print_error
from framedex.commands.output.notes import SourceNotes
from framedex.commands.output.terminal import Terminal
from framedex.model import Language
from framedex.sources.releases.statements import StatedReleases
from framedex.text_stacks.source_lookup.frame_context import FoundFrame
from framedex.text_stacks.source_lookup.released import NAMESPACES
from framedex.text_stacks.source_lookup.resolve import Resolver
from framedex.text_stacks.stream import AnnotatedLog

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.text_stacks.model import TextFrame

_MAX_READ_BYTES = 1 << 20  # per read; a pipe holds 64 KiB


@click.command()
@click.argument("file", metavar="[FILE|-]", default="-")
@click.pass_obj
def resolve(index_path: Path | None, file: str) -> None:
    """Copy a log and append source locations to its frames.

    \b
        python -u train.py 2>&1 | framedex resolve

    (Use -u or PYTHONUNBUFFERED=1: Python buffers output into a pipe.)

    A frame with only a symbol, a binary and an offset, or a path of another machine gets its location: the line ends
    with " → /path:line". The location is a link if the terminal supports links, and has a label unless it is exact.
    All other bytes pass unchanged, as soon as they are written, including unfinished lines such as progress bars.

    The formats are those of `framedex explain`, which reads the whole text and finds a little more. Ctrl-C ends the
    program before the pipe, and its last lines still pass. A pipe has the status of its last command; use `set -o
    pipefail` to get the status of the program.
    """
    terminal = Terminal.of_stdout()
    with _open_log(file) as source, _ignore_interrupts_in_pipe(source):
        with _FrameSources(index_path, file) as sources:
            notes = SourceNotes(sources.find, terminal, sys.stdout.encoding, sources.releases, sources)
            try:
                _copy_log(source, file, AnnotatedLog(notes, sources.releases, notes))
            except BrokenPipeError:
                _exit_by_sigpipe()
        for remark in sources.remarks():
            note(remark)


@contextmanager
def _open_log(file: str) -> Iterator[int]:
    """The file descriptor of the log. Raises FramedexError if it cannot be opened."""
    if file == "-":
        yield standard_input().fileno()
        return
    try:
        source = os.open(file, os.O_RDONLY)
    except (OSError, ValueError) as error:
        raise unreadable_error(file, error) from error
    try:
        yield source
    finally:
        os.close(source)


@contextmanager
def _ignore_interrupts_in_pipe(source: int) -> Iterator[None]:
    """Ignore Ctrl-C if the log is a pipe: the program before the pipe also gets it, and its last output must pass."""
    if not stat.S_ISFIFO(os.fstat(source).st_mode):
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _FrameSources:
    """Finds the sources of frames. The first frame imports its modules; lines before that pass unchanged.

    An error is printed and ends only the notes, because a filter that exits makes the program before it in the pipe
    fail. Without a readable index, the paths of the log still lead to files.
    """

    def __init__(self, index_path: Path | None, file: str) -> None:
        self._index_path = index_path
        self._file = file
        self._stack = ExitStack()
        self._resolver: Resolver | None = None
        self._index: Index | None = None
        self._failed = False
        self._names_state: object = None  # the state of the index at the time its names were read
        self._has_bad_index = False
        self.releases = StatedReleases()
        """The releases stated in the log so far."""
        self.is_index_needed = False
        """Whether an index might have a frame that was not found; False if there is an index."""

    def __enter__(self) -> _FrameSources:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def remarks(self) -> Iterator[str]:
        """Notes about the sources, for the end of the log."""
        if self._resolver is not None:
            yield from build_release_notes(self._resolver.released)
            yield from build_problems(self._resolver.builds)
        if self.is_index_needed:
            yield NO_INDEX

    def find(self, frame: TextFrame, callee_frame: TextFrame | None = None) -> FoundFrame:
        """The source of a frame; `callee_frame` is its callee, if the log has it."""
        nothing = FoundFrame(frame, frame.function, None)
        if self._failed:
            return nothing
        try:
            found = self._find_or_recover(frame, callee_frame)
        except Exception:
            self._failed = True
            traceback.print_exc()
            return nothing
        is_unknown = found.location is None and frame.language is Language.NATIVE
        self.is_index_needed = self.is_index_needed or (is_unknown and self._index is None and not self._has_bad_index)
        return found

    def names(self) -> Sequence[str] | None:
        """All names with a source and their namespaces, if they changed since the last call; otherwise None."""
        if self._resolver is None or self._failed:
            return None
        if self._index is None:
            names, self._names_state = (NAMESPACES if self._names_state != "" else None), ""
            return names
        try:
            with self._index.reading():
                state = self._index.state()
                if state == self._names_state:
                    return None
                self._names_state = state
                return [*NAMESPACES, *self._index.names.all_names()]
        except FramedexError:  # reported with the next frame
            return None

    def is_unresolvable(self, path: str) -> bool:
        """Whether a path has neither a matching file nor a public address."""
        if self._resolver is None or self._failed:
            return False
        try:
            with self._index.reading() if self._index is not None else nullcontext():
                return self._resolver.is_unresolvable(path)
        except FramedexError:
            return False

    def _find_or_recover(self, frame: TextFrame, callee_frame: TextFrame | None) -> FoundFrame:
        try:
            resolver = self._resolver = self._resolver or self._open_resolver()
            with self._index.reading() if self._index is not None else nullcontext():
                return resolver.find(frame, callee_frame=callee_frame)
        except FramedexError as error:
            print_error(error)
            self._stack.close()
            self._index, self._has_bad_index = None, True
            self._resolver = make_resolver(read_settings_here()[0], self._file, None, self.releases)
            return self._resolver.find(frame, callee_frame=callee_frame)

    def _open_resolver(self) -> Resolver:
        resolver, self._index = self._stack.enter_context(open_resolver(self._index_path, self._file, self.releases))
        return resolver


def _copy_log(source: int, file: str, log: AnnotatedLog) -> None:
    while block := _read_block(source, file):
        for piece in log.annotate(block):
            _write_stdout(piece)
    for piece in log.finish():
        _write_stdout(piece)


def _read_block(source: int, file: str) -> bytes:
    while True:
        try:
            return os.read(source, _MAX_READ_BYTES)
        except BlockingIOError:  # another process has made a shared terminal or pipe non-blocking
            select.select([source], [], [])
        except OSError as error:
            raise unreadable_error(file, error) from error


def _write_stdout(piece: bytes) -> None:
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


def _exit_by_sigpipe() -> None:
    """End by SIGPIPE without a message, as shells expect from a filter."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGPIPE)

"""Records parts of a process that JAX runs in: each block of code into captures of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from framedex.captures import captures_below
from framedex.errors import FramedexError
from framedex.nativepart import framedex_native

_STARTED_BY_FRAMEDEX = "FRAMEDEX_METADATA"  # what `framedex run` tells of itself


def can_record_here() -> bool:
    """Whether JAX enters its runtime through framedex in this process: started so, JAX stays with it.

    Raises NoNativePartError where nothing can be recorded at all.
    """
    native = framedex_native.library_path()
    library = os.environ.get("TPU_LIBRARY_PATH", "")
    return _STARTED_BY_FRAMEDEX in os.environ or os.path.realpath(library) == os.path.realpath(native)


class Recorder:
    """Cuts what this process does into captures: a block has those between its beginning and its end.

    Blocks may stand in one another. Where all of the process is recorded, its blocks' captures lie beside the others,
    and recording goes on behind them.
    """

    def __init__(self, folder: Path) -> None:
        """Captures go below `folder`, where nothing else is recorded."""
        self._folder = folder
        self._captures: list[Path] = []
        self._depth = 0
        self._lost: FramedexError | None = None

    @contextmanager
    def block(self, settings: Mapping[str, str] | None = None) -> Iterator[list[Path]]:
        """Record what runs inside; once it has ended, the list has its captures. Raises FramedexError if it cannot.

        `settings` are variables of the recorder, for this block in place of those of the environment.
        """
        around = None if self._depth else _folder_of_all()
        framedex_native.stop()
        first = len(self._captures)
        found: list[Path] = []
        try:
            folder = self._captures[-1].parent if self._depth else around or self._folder
            with _environment(settings or {}):
                self._captures.append(_start(folder))
            self._depth += 1
            try:
                yield found
            finally:
                self._depth -= 1
                framedex_native.stop()
                found += self._captures[first:]
        except BaseException:
            try:
                self._go_on(around)
            except FramedexError as error:  # what came first is to be told; the block around is not whole
                self._lost = error
            raise
        self._go_on(around)

    def _go_on(self, around: Path | None) -> None:
        """Record what is around the block again. Raises FramedexError if it cannot, or could not before."""
        if self._lost is not None:
            raise self._lost
        if self._depth:
            self._captures.append(_start(self._captures[-1].parent))
        elif around is not None:
            _start(around)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Have these variables within the block: the recorder looks at them when it starts."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _start(folder: Path) -> Path:
    """Begin a capture in a folder."""
    try:
        return framedex_native.start(folder)
    except RuntimeError as error:
        raise FramedexError(f"Nothing can be recorded: {error}.") from None


def _folder_of_all() -> Path | None:
    """Where all of this process is recorded to, now or from the moment when JAX opens its runtime; None: it is not."""
    running = framedex_native.current_capture()
    if running is not None:
        return running.parent
    wanted, named = os.environ.get("FRAMEDEX_RECORD", ""), os.environ.get("FRAMEDEX_OUT", "")
    if wanted == "0" or not (named or wanted == "1"):
        return None
    return Path(named) if named else captures_below(Path.cwd())

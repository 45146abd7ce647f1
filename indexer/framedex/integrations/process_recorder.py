"""Record parts of the current process: each block of code into captures of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.nativepart import framedex_native
from framedex.captures import project_captures_folder

_STARTED_BY_FRAMEDEX = "FRAMEDEX_METADATA"  # set by `framedex run`


def can_record_here() -> bool:
    """Whether JAX loads its runtime through framedex in this process; JAX then keeps it until exit.

    Raises NoNativePartError if recording is unsupported here.
    """
    native = framedex_native.library_path()
    library = os.environ.get("TPU_LIBRARY_PATH", "")
    return _STARTED_BY_FRAMEDEX in os.environ or os.path.realpath(library) == os.path.realpath(native)


class Recorder:
    """Divides the work of this process into captures; a block has the captures between its start and its end.

    Blocks may be nested. If the whole process is recorded, the captures of blocks are stored next to the others, and
    recording continues after each block.
    """

    def __init__(self, folder: Path) -> None:
        """Store captures below `folder`, which no other recording uses."""
        self._folder = folder
        self._captures: list[Path] = []
        self._depth = 0
        self._resume_error: FramedexError | None = None

    @contextmanager
    def block(self, settings: Mapping[str, str] | None = None) -> Iterator[list[Path]]:
        """Record the code in the block. The returned list has its captures once the block has ended.

        Raises FramedexError if recording fails. `settings` are variables of the recorder that override the environment
        in this block.
        """
        around = None if self._depth else _process_recording_folder()
        framedex_native.stop()
        first = len(self._captures)
        found: list[Path] = []
        try:
            folder = self._captures[-1].parent if self._depth else around or self._folder
            with _set_environment_variables(settings or {}):
                self._captures.append(_start_capture(folder))
            self._depth += 1
            try:
                yield found
            finally:
                self._depth -= 1
                framedex_native.stop()
                found += self._captures[first:]
        except BaseException:
            try:
                self._resume_recording(around)
            except FramedexError as error:  # the block's own exception is raised; the outer block stays incomplete
                self._resume_error = error
            raise
        self._resume_recording(around)

    def _resume_recording(self, around: Path | None) -> None:
        """Resume recording the outer block. Raises FramedexError if that fails, or failed before."""
        if self._resume_error is not None:
            raise self._resume_error
        if self._depth:
            self._captures.append(_start_capture(self._captures[-1].parent))
        elif around is not None:
            _start_capture(around)


@contextmanager
def _set_environment_variables(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables within the block: the recorder reads them when it starts."""
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


def _start_capture(folder: Path) -> Path:
    """Start a capture in a folder. Raises FramedexError if recording is impossible."""
    try:
        return framedex_native.start(folder)
    except RuntimeError as error:
        raise FramedexError(f"Nothing can be recorded: {error}.") from None


def _process_recording_folder() -> Path | None:
    """The folder that records all of this process, now or once JAX opens its runtime; None if not recorded."""
    running = framedex_native.current_capture()
    if running is not None:
        return running.parent
    wanted, named = os.environ.get("FRAMEDEX_RECORD", ""), os.environ.get("FRAMEDEX_OUT", "")
    if wanted == "0" or not (named or wanted == "1"):
        return None
    return Path(named) if named else project_captures_folder(Path.cwd())

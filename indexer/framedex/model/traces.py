"""A call with its stack, and what had it made."""

from __future__ import annotations

from dataclasses import dataclass

from framedex.model.places import Join, LinkHow, Location
from framedex.model.rows import CallRow, CaptureRow, FrameRow, PythonLine


@dataclass(frozen=True, slots=True)
class FfiSite:
    """A place in Python from which a target is called, with its whole stack, outermost frame first.

    `lines` are those of the program, innermost first: that of the `ffi_call` (the first outside of JAX), and of what
    led to it those outside of installed packages. `key` is the same in every capture. `from_metadata`: the stack is
    that of the compiled program, without JAX's own frames. All is empty where no capture has met the site.
    """

    id: int
    key: str
    target: str
    lines: tuple[PythonLine, ...]
    frames: tuple[FrameRow, ...]
    from_metadata: bool


@dataclass(frozen=True, slots=True)
class Origin:
    """The `ffi_call` that a run of a handler is of; several sites, any of which it may be, where `how` is ambiguous."""

    how: Join
    sites: tuple[FfiSite, ...]


@dataclass(frozen=True, slots=True)
class Dispatch:
    """What had a call made: the frames, outermost first, in which a thread with Python waited for it.

    What JAX told has no frames and no thread, only a `location`; the others have none but those of their frames.
    """

    how: LinkHow
    thread: str = ""
    frames: tuple[FrameRow, ...] = ()
    location: Location | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A call and its stack, outermost frame first. `python` and `reason` are set only where merging failed.

    `dispatched` is what had the call made, where that is not on its stack or JAX told it. `origin` is
    the `ffi_call` that the run of an FFI handler is of, as far as it is known.
    """

    call: CallRow
    capture: CaptureRow
    frames: tuple[FrameRow, ...]
    python: tuple[FrameRow, ...] = ()
    reason: str | None = None
    dispatched: tuple[Dispatch, ...] = ()
    origin: Origin | None = None

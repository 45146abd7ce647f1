"""A call with its stack, and what had it made."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from framedex.model.missing import MergeOutcome
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
    """The `ffi_call` that a run of a handler is of: one site, or all that it may be where `how` is ambiguous."""

    how: Join
    sites: tuple[FfiSite, ...]


@dataclass(frozen=True, slots=True)
class Dispatch:
    """The Python that had a call made: the frames, outermost first, in which a thread waited for it.

    What JAX told has a `location` and neither frames nor a thread; the others have those and no `location`.
    """

    how: LinkHow
    thread: str = ""
    frames: tuple[FrameRow, ...] = ()
    location: Location | None = None


class SectionKind(StrEnum):
    """What the frames of a section are."""

    MERGED = "merged"  # the whole stack of the call
    NATIVE = "native"  # its native frames, where they could not be merged with the Python ones
    PYTHON = "python"  # its Python frames then
    FFI_CALL = "ffi-call"  # the stack of an `ffi_call` that it is, or may be, the run of
    DISPATCHED = "dispatched"  # the stack on another thread that had it made


@dataclass(frozen=True, slots=True)
class Section:
    """One stack of a trace, outermost frame first; of an `ffi_call` with `join` and `site`."""

    kind: SectionKind
    frames: tuple[FrameRow, ...]
    join: Join | None = None
    site: FfiSite | None = None
    dispatch: Dispatch | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A call and its stack, outermost frame first. `python` is apart from `frames` only where merging failed.

    `is_truncated`: the outermost frames are missing. `dispatched` is what had the call made, where that is not on its
    stack or JAX told it. `origin` is the `ffi_call` that the run of an FFI handler is of, as far as it is known.
    """

    call: CallRow
    capture: CaptureRow
    frames: tuple[FrameRow, ...]
    python: tuple[FrameRow, ...] = ()
    outcome: MergeOutcome = MergeOutcome.MERGED
    is_truncated: bool = False
    dispatched: tuple[Dispatch, ...] = ()
    origin: Origin | None = None

    def sections(self) -> tuple[Section, ...]:
        """The call's own stack, then those of `ffi_call`s, then those on other threads that had the call made."""
        sites = () if self.origin is None else ((self.origin.how, site) for site in self.origin.sites)
        return (
            *self.own_sections(),
            *(Section(SectionKind.FFI_CALL, site.frames, join, site) for join, site in sites),
            *(Section(SectionKind.DISPATCHED, each.frames, dispatch=each) for each in self.dispatched if each.frames),
        )

    def own_sections(self) -> tuple[Section, ...]:
        """The call's own stack: one section, or two where its native and Python frames stand apart."""
        if self.outcome is MergeOutcome.MERGED:
            return (Section(SectionKind.MERGED, self.frames),)
        return Section(SectionKind.NATIVE, self.frames), Section(SectionKind.PYTHON, self.python)

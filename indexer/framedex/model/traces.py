"""A call with its stack, and its cause."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from framedex.model.locations import LinkEvidence, Location, SiteEvidence
from framedex.model.rows import CallRow, CaptureRow, FrameRow, MergeOutcome, PythonLine


@dataclass(frozen=True, slots=True)
class FfiSite:
    """A call site of an FFI target in Python, with its whole stack, outermost frame first.

    `lines` are lines of the program, innermost first: the line of the `ffi_call` (the first outside JAX), then its
    callers outside installed packages. `key` is the same in every capture. `from_metadata`: the stack comes from the
    compiled program, without JAX's own frames. All fields are empty if no capture recorded the site.
    """

    id: int
    key: str
    target: str
    lines: tuple[PythonLine, ...]
    frames: tuple[FrameRow, ...]
    from_metadata: bool


@dataclass(frozen=True, slots=True)
class HandlerOrigin:
    """The `ffi_call` of a handler run: one site, or all possible ones if `how` is ambiguous."""

    how: SiteEvidence
    sites: tuple[FfiSite, ...]


@dataclass(frozen=True, slots=True)
class CallDispatch:
    """The Python code that caused a call: the frames, outermost first, in which a thread waited for it.

    An origin that JAX reported has a `location`, without frames or thread. The others have frames and thread, without
    `location`.
    """

    how: LinkEvidence
    thread: str = ""
    frames: tuple[FrameRow, ...] = ()
    location: Location | None = None


class SectionKind(StrEnum):
    """The kind of frames in a section."""

    MERGED = "merged"  # the whole stack of the call
    NATIVE = "native"  # its native frames, if they could not be merged with the Python ones
    PYTHON = "python"  # its Python frames, if not merged
    FFI_CALL = "ffi-call"  # the stack of the `ffi_call` that it runs, or may run
    DISPATCHED = "dispatched"  # the stack on another thread that caused it


@dataclass(frozen=True, slots=True)
class Section:
    """One stack of a trace, outermost frame first; `join` and `site` are set for an `ffi_call`."""

    kind: SectionKind
    frames: tuple[FrameRow, ...]
    join: SiteEvidence | None = None
    site: FfiSite | None = None
    dispatch: CallDispatch | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A call and its stack, outermost frame first. `python` is only separate from `frames` if merging failed.

    `is_truncated`: the outermost frames are missing. `dispatched` has the call's causes that are not on its stack, or
    that JAX reported. `origin` is the `ffi_call` of an FFI handler run, if known.
    """

    call: CallRow
    capture: CaptureRow
    frames: tuple[FrameRow, ...]
    python: tuple[FrameRow, ...] = ()
    outcome: MergeOutcome = MergeOutcome.MERGED
    is_truncated: bool = False
    dispatched: tuple[CallDispatch, ...] = ()
    origin: HandlerOrigin | None = None

    def sections(self) -> tuple[Section, ...]:
        """The call's own stack, then those of `ffi_call`s, then those on other threads that caused the call."""
        sites = () if self.origin is None else ((self.origin.how, site) for site in self.origin.sites)
        return (
            *self.own_sections(),
            *(Section(SectionKind.FFI_CALL, site.frames, join, site) for join, site in sites),
            *(Section(SectionKind.DISPATCHED, each.frames, dispatch=each) for each in self.dispatched if each.frames),
        )

    def own_sections(self) -> tuple[Section, ...]:
        """The sections of the call's own stack: one, or two if its native and Python frames are not merged."""
        if self.outcome is MergeOutcome.MERGED:
            return (Section(SectionKind.MERGED, self.frames),)
        return Section(SectionKind.NATIVE, self.frames), Section(SectionKind.PYTHON, self.python)

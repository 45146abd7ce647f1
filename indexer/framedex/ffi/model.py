"""What the index knows of FFI targets: small types, as in `framedex.model`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model import FfiSite, FunctionRow, Join, Location, PythonLine


@dataclass(frozen=True, slots=True)
class Signature:
    """What an FFI handler takes, decoded from its C++ type: dtypes with ranks (`f32`, `f32 of rank 2`, `any`), types of
    attributes (`f32`, `string`) in the order in which the handler binds them. Of what follows an argument or result
    that may be there or not (`...`), nothing is known.
    """

    arguments: tuple[str, ...]
    results: tuple[str, ...]
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FfiHandler:
    """The native function that is a stage of a target, and the function that it was made from, where that is known."""

    stage: str
    function: FunctionRow
    location: Location | None
    implementation: FunctionRow | None
    signature: Signature | None


@dataclass(frozen=True, slots=True)
class FfiRegistration:
    """A registration of a target for a platform, with the line of the program that made it, if the program did."""

    platform: str
    api_version: int
    stages: tuple[str, ...]
    is_wrapped: bool
    line: PythonLine | None


@dataclass(frozen=True, slots=True)
class RunTotals:
    """What some runs of a handler came to; times in nanoseconds, of those that returned."""

    runs: int
    errors: int
    never_returned: int
    total: int
    median: int
    p99: int


@dataclass(frozen=True, slots=True)
class FfiSiteTotals:
    """The runs of a site. An ambiguous run counts with every site that it may be of, and apart from the sure ones."""

    site: FfiSite
    how: Join
    totals: RunTotals
    latest_call: int | None


@dataclass(frozen=True, slots=True)
class FfiShapes:
    """A way in which a handler was run: dtypes and shapes, and attributes, as text; how often and with which errors."""

    stage: str
    arguments: str
    results: str
    attributes: str
    runs: int
    errors: int


@dataclass(frozen=True, slots=True)
class FfiTrouble:
    """What went wrong with a target, the sites that caused it, and what to do about it.

    `call` is the latest run that it happened in, None where the program was not even compiled.
    """

    message: str
    explanation: str
    remedy: str
    count: int
    sites: tuple[FfiSite, ...]
    call: int | None


@dataclass(frozen=True, slots=True)
class FfiTarget:
    """An FFI target in one capture. `unjoined` counts the runs without any site."""

    name: str
    registrations: tuple[FfiRegistration, ...]
    handlers: tuple[FfiHandler, ...]
    sites: tuple[FfiSiteTotals, ...]
    totals: RunTotals
    unjoined: int
    shapes: tuple[FfiShapes, ...]
    troubles: tuple[FfiTrouble, ...]


@dataclass(frozen=True, slots=True)
class FfiUse:
    """A target that is called on a line of source, or that has a handler whose source is there.

    `runs` are those of all captures that count, `recent` the latest of them; `shapes` are a few ways in which those
    were run, most often first. `sites` are all from which it was run, or may have been. `error` is the message of the
    latest of these runs that failed, empty without any.
    """

    target: str
    handlers: tuple[FfiHandler, ...]
    sites: tuple[FfiSite, ...]
    runs: int
    recent: RunTotals
    shapes: tuple[str, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class UnfinishedRun:
    """A run of a handler that had not returned when the recording ended, and the sites that it can be of.

    `given` has the dtypes, shapes and attributes as text, empty where they were not recorded.
    """

    call: int
    sites: tuple[FfiSite, ...]
    given: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A target that XLA did not know when a program was compiled; `sites` are the keys of those that called it."""

    target: str
    platform: str
    registered_for: tuple[str, ...]
    sites: tuple[str, ...]
    message: str

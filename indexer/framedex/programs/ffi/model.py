"""The index's model of FFI targets: small types, as in `framedex.model`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framedex.model import FfiSite, FunctionRow, Location, PythonLine, SiteEvidence


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of an FFI handler, decoded from its C++ type.

    Arguments and results are dtypes with ranks (`f32`, `f32 of rank 2`, `any`). Attributes are types (`f32`, `string`)
    in binding order. Everything after an optional argument or result (`...`) is unknown.
    """

    arguments: tuple[str, ...]
    results: tuple[str, ...]
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FfiHandler:
    """The native function of a target's stage, and the author's function inside it, if known."""

    stage: str
    function: FunctionRow
    location: Location | None
    implementation: FunctionRow | None
    signature: Signature | None


@dataclass(frozen=True, slots=True)
class FfiRegistration:
    """A registration of a target for a platform, with its program line, if the program itself registered it."""

    platform: str
    api_version: int
    stages: tuple[str, ...]
    is_wrapped: bool
    line: PythonLine | None


@dataclass(frozen=True, slots=True)
class RunTotals:
    """Totals of some runs of a handler; times in ns, of runs that returned."""

    runs: int
    errors: int
    never_returned: int
    total: int
    median: int
    p99: int


@dataclass(frozen=True, slots=True)
class FfiSiteTotals:
    """The runs of a site. An ambiguous run is counted at every possible site, separately from the certain runs."""

    site: FfiSite
    how: SiteEvidence
    totals: RunTotals
    latest_call: int | None


@dataclass(frozen=True, slots=True)
class FfiShapes:
    """A variant of a handler's runs: dtypes, shapes and attributes as text, with the number of runs and errors."""

    stage: str
    arguments: str
    results: str
    attributes: str
    runs: int
    errors: int


@dataclass(frozen=True, slots=True)
class FfiProblem:
    """An error of a target, the sites that caused it, and a remedy.

    `call` is the latest failed run, None if the program was not even compiled.
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
    troubles: tuple[FfiProblem, ...]


@dataclass(frozen=True, slots=True)
class FfiUse:
    """A target that is called on a source line, or that has a handler defined there.

    `runs` counts the runs in all counted captures, `recent` has the totals of the latest ones. `shapes` are the most
    frequent variants of those. `sites` are all certain or possible call sites. `error` is the message of the latest
    failed run among those, empty if none failed.
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
    """A handler run that had not returned when the recording ended, and its possible sites.

    `given` has the dtypes, shapes and attributes as text, empty if not recorded.
    """

    call: int
    sites: tuple[FfiSite, ...]
    given: str


@dataclass(frozen=True, slots=True)
class UnknownTarget:
    """A target unknown to XLA when a program was compiled; `sites` are the keys of its call sites."""

    target: str
    platform: str
    registered_for: tuple[str, ...]
    sites: tuple[str, ...]
    message: str

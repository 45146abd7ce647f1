"""Checks and their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from framedex.plugins.conformance.client import Client
    from framedex.plugins.conformance.plugin import Plugin

    Body = Callable[..., str | None]


class Status(StrEnum):
    """The result of a check. Only the last three are failures."""

    PASS = "pass"
    UNSUPPORTED = "unsupported"  # the plug-in lacks a function or a feature
    SKIPPED = "skipped"  # a check that this one needs did not pass
    FAIL = "fail"
    CRASH = "crash"
    HANG = "hang"


FAILURES = frozenset({Status.FAIL, Status.CRASH, Status.HANG})


class Stage(StrEnum):
    """The starting point of a check: a loaded library, an initialised plug-in, a client, or a client and a program."""

    TABLE = "table"
    PLUGIN = "plugin"
    CLIENT = "client"
    PROGRAM = "program"


_CREATION = "clients.create"  # its detail is the platform
PREREQUISITES = {Stage.CLIENT: _CREATION, Stage.PROGRAM: "compiling.add"}  # of the checks from these stages


@dataclass(frozen=True, slots=True)
class Check:
    """A check: its name such as `events.set_once`, the functions that it covers, and the rule that it verifies."""

    name: str
    covers: tuple[str, ...]
    rule: str
    stage: Stage
    body: Body
    parameters: tuple[Any, ...] = ()

    @property
    def group(self) -> str:
        """The first part of the name."""
        return self.name.partition(".")[0]

    def matches(self, only: Sequence[str]) -> bool:
        """Whether its name, its group or a covered function matches a pattern, or there is no pattern."""
        names = (self.name, self.group, self.name.partition("[")[0], *self.covers)
        return not only or any(fnmatchcase(name, pattern) for name in names for pattern in only)

    def run(self, subject: Plugin | Client) -> str:
        """Run the check, and return its detail. Raises PluginError, UnsupportedError or BrokenRuleError."""
        return self.body(subject, *self.parameters) or ""


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A native frame: its function (empty if unknown), its binary, and its address there."""

    function: str
    binary: str
    address: int


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of a check. `outcomes` are the error codes (OK, null) by called function.

    `signal` and `stack` describe a crash or a hang, innermost frame first. `output` is the end of stderr.
    """

    check: Check
    status: Status
    detail: str = ""
    seconds: float = 0.0
    outcomes: dict[str, list[str]] = field(default_factory=dict)
    signal: str = ""
    stack: tuple[StackFrame, ...] = ()
    output: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All results for a plug-in, with the version and the extensions of its table.

    `missing` has the functions that cannot be called, with the reason.
    """

    plugin: str
    version: tuple[int, int]
    missing: dict[str, str]
    extensions: tuple[str, ...]
    results: tuple[CheckResult, ...]

    @property
    def platform(self) -> str:
        """The platform's name and version; empty without a client."""
        created = (each for each in self.results if each.check.name == _CREATION and each.status is Status.PASS)
        return next((each.detail for each in created), "")

    @property
    def failed(self) -> list[CheckResult]:
        """The results that are failures."""
        return [result for result in self.results if result.status in FAILURES]

    def counts(self) -> dict[Status, int]:
        """The number of results by status."""
        return {status: sum(result.status is status for result in self.results) for status in Status}

    def outcomes(self) -> dict[str, set[str]]:
        """The error codes that each function returned in any check, `OK` or `null`."""
        found: dict[str, set[str]] = {}
        for result in self.results:
            for name, codes in result.outcomes.items():
                found.setdefault(name, set()).update(codes)
        return found


REGISTRY: list[Check] = []


def check(*covers: str, stage: Stage = Stage.CLIENT, each: Iterable[Any] = ()) -> Callable[[Body], Body]:
    """Register a function as a check. Its docstring is the rule that it verifies.

    `covers` names the functions of the C API that it is about. With `each`, there is a check for every value (or tuple
    of values), which the function gets as arguments.
    """

    def register(body: Body) -> Body:
        group = body.__module__.rpartition(".")[2]
        rule = " ".join((body.__doc__ or "").split())
        name = f"{group}.{body.__name__.strip('_')}"
        for value in each:
            values = value if isinstance(value, tuple) else (value,)
            label = "-".join(str(getattr(part, "name", part)) for part in values)
            REGISTRY.append(Check(f"{name}[{label}]", covers, rule, stage, body, values))
        if not each:
            REGISTRY.append(Check(name, covers, rule, stage, body))
        return body

    return register

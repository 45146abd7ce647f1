"""Judge a replay: differences from the recording, from another plug-in or between repetitions, and NaN.

Each judge reads the report of one or two replays while they run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter

from framedex.base import words
from framedex.captures import read_stored_buffer
from framedex.plugins.replay.comparison import Comparison, Tolerance, compare, count_non_finite
from framedex.plugins.replay.origins import Origin
from framedex.plugins.replay.plan import UNKNOWN, Action, Operation, Plan
from framedex.plugins.replay.runner import Array, Options, Record, ReplayCrashedError, Target, run_plan

_MAX_DIFFERENCES = 1000
_NO_HANDLER = ("No FFI handler registered", "untyped custom call")  # XLA's errors


@dataclass(frozen=True, slots=True)
class Difference:
    """A content that differs. `row` is the read, or the execution with this result; `execution` computed it.

    `comparison` is None if only the hash of the recorded content is known.
    """

    row: int
    execution: int | None
    device: int
    index: int
    type: str
    shape: str
    comparison: Comparison | None


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call that fails in the replay, with the API's error code. `other`: the plug-in is that of --against."""

    row: int
    code: int
    message: str
    other: bool = False


@dataclass(frozen=True, slots=True)
class Crash:
    """The end of a replay's process: the operation that it ran, the reason, and the plug-in's last output."""

    row: int | None
    reason: str
    output: str
    other: bool = False
    is_hang: bool = False


@dataclass(frozen=True, slots=True)
class NonFinite:
    """An output with NaN or infinities, and their numbers."""

    row: int
    device: int
    index: int
    type: str
    shape: str
    nans: int
    infinities: int


@dataclass(frozen=True, slots=True)
class Bisection:
    """The op where the first difference or NaN begins, in a result of the execution `row`; or why that is unknown."""

    row: int
    origin: Origin | None
    problem: str = ""


@dataclass(slots=True)
class Verdict:
    """The result of a replay.

    `platforms` and numbers of `devices` are those of the plug-ins. `executions` counts the executions that ran,
    `compared` the compared contents, and `incomparable` the reads without a recorded content. `skipped` counts calls
    that depend on others, which failed or cannot be replayed. `inexact` counts answers of FFI handlers to other
    arguments than the recorded ones. `unsteady` are the rows of reads that differ between repetitions.
    """

    platforms: list[str] = field(default_factory=list)
    devices: list[int] = field(default_factory=list)
    executions: int = 0
    compared: int = 0
    incomparable: int = 0
    skipped: int = 0
    inexact: int = 0
    differences: list[Difference] = field(default_factory=list)
    failed: list[FailedCall] = field(default_factory=list)
    crashes: list[Crash] = field(default_factory=list)
    non_finite: list[NonFinite] = field(default_factory=list)
    unsteady: list[int] = field(default_factory=list)
    bisection: Bisection | None = None

    @property
    def first_difference(self) -> Difference | None:
        """The difference with the earliest execution. A difference that no execution computed comes last."""
        return min(
            self.differences,
            key=lambda each: (each.execution is None, each.execution or 0, each.row),
            default=None,
        )

    @property
    def inexact_note(self) -> str:
        """A note about the inexact answers; empty if there are none."""
        answers = words.count(self.inexact, "answer")
        return f"{answers} in recorded order, because an FFI handler got other arguments" if self.inexact else ""

    @property
    def status(self) -> int:
        """The exit status: 0 if nothing differs, 1 if something does, 2 if the replay failed."""
        if self.differences or self.non_finite or self.unsteady:
            return 1
        return 2 if self.failed or self.crashes else 0


class _Replay:
    """The report of one replay. Its failures are added to the verdict."""

    def __init__(
        self, plan: Plan, target: Target, options: Options, verdict: Verdict, *, is_other: bool = False
    ) -> None:
        self._actions = {each.row: each.action for each in plan.operations}
        self._plan = plan
        self._reports = run_plan(plan, target, options)
        self._verdict = verdict
        self._is_other = is_other
        self._running: int | None = None  # the row of the last operation that may crash

    def close(self) -> None:
        """End the process."""
        self._reports.close()

    def arrays(self) -> Iterator[tuple[int, list[Array]]]:
        """Yield the contents of each read or execution, in order."""
        for row, records in groupby(self._iter_contents(), attrgetter("row")):
            yield row, [Array.parse(each) for each in records]

    def _iter_contents(self) -> Iterator[Record]:
        try:
            for record in self._reports:
                if record.kind in ("read", "output"):
                    yield record
                else:
                    self._add_record(record)
        except ReplayCrashedError as error:
            crash = Crash(self._running, error.reason, error.output, self._is_other, error.is_hang)
            self._verdict.crashes.append(crash)

    def _add_record(self, record: Record) -> None:
        verdict = self._verdict
        if record.kind == "client":
            verdict.platforms.append(record.message)
            verdict.devices.append(int(record.words[0]))
        elif record.kind == "begin":
            self._running = record.row
            verdict.executions += self._actions.get(record.row) is Action.EXECUTE and not self._is_other
        elif record.kind == "failed":
            message = record.message + self._remedy(record.message)
            verdict.failed.append(FailedCall(record.row, int(record.words[0]), message, self._is_other))
        elif record.kind == "inexact" and not self._is_other:
            verdict.inexact += int(record.words[0])
        elif record.kind == "skipped" and not self._is_other:
            action = self._actions.get(record.row)
            verdict.skipped += action in (Action.EXECUTE, Action.READ, Action.COPY)

    def _remedy(self, message: str) -> str:
        """The reason why the FFI handler that an error names cannot answer; empty for other errors."""
        if not any(phrase in message for phrase in _NO_HANDLER):
            return ""
        names = set(message.split())
        unanswered = next((f": {why}" for target, why in self._plan.unanswered.items() if target in names), "")
        if not unanswered and any(each.target in names for each in self._plan.handler_results):
            return ": this plug-in does not accept handlers that answer from the recording"
        return unanswered


def judge_reads(
    plan: Plan,
    target: Target,
    tolerance: Tolerance,
    *,
    seed: int = 0,
    repetitions: int = 1,
    limit_s: float | None = None,
) -> Verdict:
    """Compare each read with the recorded content, and the repetitions of the replay with each other."""
    verdict = Verdict()
    operations = {each.row: each for each in plan.operations}
    first_names: dict[int, str] = {}
    for repetition in range(repetitions):
        later = verdict if repetition == 0 else Verdict()
        with closing(_Replay(plan, target, Options(seed=seed, limit_s=limit_s), later)) as replay:
            for row, (array,) in replay.arrays():
                if first_names.setdefault(row, array.name) != array.name and row not in verdict.unsteady:
                    verdict.unsteady.append(row)
                if repetition == 0:
                    _compare_read(plan, operations[row], array, tolerance, verdict)
        if repetition:
            verdict.failed += later.failed
            verdict.crashes += later.crashes
            verdict.inexact = max(verdict.inexact, later.inexact)
    return verdict


def _compare_read(plan: Plan, read: Operation, array: Array, tolerance: Tolerance, verdict: Verdict) -> None:
    expected = plan.reads.get(read.row, UNKNOWN)
    if expected == UNKNOWN or not plan.is_faithful(read):
        verdict.incomparable += 1
        return
    verdict.compared += 1
    if array.name == expected:
        return
    recorded = read_stored_buffer(plan.capture, expected)
    comparison = None if recorded is None else compare(array.type, recorded, array.content, tolerance)
    if comparison is None or comparison.differing:
        producer = plan.producer(read)
        execution = producer.row if producer is not None else None
        _add_difference(verdict, Difference(read.row, execution, 0, 0, array.type, array.shape, comparison))


def judge_against(
    plan: Plan, target: Target, other: Target, tolerance: Tolerance, *, seed: int = 0, every_output: bool = False
) -> Verdict:
    """Compare the reads of two plug-ins, or all results of each execution."""
    verdict = Verdict()
    options = Options(reads_outputs=True, seed=seed)
    operations = {each.row: each for each in plan.operations}
    with ExitStack() as open_replays:
        sides = [
            open_replays.enter_context(closing(_Replay(plan, each, options, verdict, is_other=each is other)))
            for each in (target, other)
        ]
        for row, one, two in _pair_rows(sides[0].arrays(), sides[1].arrays()):
            operation = operations[row]
            if operation.action is not Action.READ and not every_output:
                continue
            for expected, actual in zip(two, one, strict=False):
                _compare_arrays(plan, operation, expected, actual, tolerance, verdict)
    return verdict


def _pair_rows(
    first: Iterator[tuple[int, list[Array]]], second: Iterator[tuple[int, list[Array]]]
) -> Iterator[tuple[int, list[Array], list[Array]]]:
    """Yield the contents of the rows that both replays report. Rows increase in both."""
    one, two = next(first, None), next(second, None)
    while one is not None and two is not None:
        if one[0] == two[0]:
            yield one[0], one[1], two[1]
            one, two = next(first, None), next(second, None)
        elif one[0] < two[0]:
            one = next(first, None)
        else:
            two = next(second, None)
    for rest in (first, second):  # records the failures of the replay that continues
        for _ in rest:
            pass


def _compare_arrays(
    plan: Plan, operation: Operation, expected: Array, actual: Array, tolerance: Tolerance, verdict: Verdict
) -> None:
    verdict.compared += 1
    if (expected.name, expected.type, expected.shape) == (actual.name, actual.type, actual.shape):
        return
    if expected.type != actual.type or expected.shape != actual.shape:
        comparison = Comparison(1, 1, None, f"{expected.type}[{expected.shape}]", f"{actual.type}[{actual.shape}]")
    else:
        comparison = compare(actual.type, expected.content, actual.content, tolerance)
    if comparison.differing:
        producer = operation if operation.action is Action.EXECUTE else plan.producer(operation)
        execution = producer.row if producer is not None else None
        place = (operation.row, execution, actual.device, actual.index)
        _add_difference(verdict, Difference(*place, actual.type, actual.shape, comparison))


def _add_difference(verdict: Verdict, difference: Difference) -> None:
    if len(verdict.differences) < _MAX_DIFFERENCES:
        verdict.differences.append(difference)


def judge_values(plan: Plan, target: Target, *, seed: int = 0) -> Verdict:
    """Find the first execution with NaN among its results; without one, the first with an infinity."""
    verdict = Verdict()
    infinite: list[NonFinite] = []
    with closing(_Replay(plan, target, Options(reads_outputs=True, seed=seed), verdict)) as replay:
        actions = {each.row: each.action for each in plan.operations}
        for row, arrays in replay.arrays():
            if actions[row] is not Action.EXECUTE:
                continue
            found = list(_find_non_finite(row, arrays))
            verdict.compared += len(arrays)
            verdict.non_finite = [each for each in found if each.nans]
            if verdict.non_finite:
                return verdict
            infinite = infinite or found
    verdict.non_finite = infinite
    return verdict


def _find_non_finite(row: int, arrays: Iterable[Array]) -> Iterator[NonFinite]:
    for array in arrays:
        nans, infinities = count_non_finite(array.type, array.content)
        if nans or infinities:
            yield NonFinite(row, array.device, array.index, array.type, array.shape, nans, infinities)

"""Reduce a plan to a small one that still shows a fault: executions first, then the ops of the program.

Each try is a replay, so it runs in a process of its own.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import count
from pathlib import Path

from framedex.captures import write_stored_buffer, write_stored_program
from framedex.plugins.replay.bisection import build_difference_mask, build_non_finite_mask, find_first_differing_result
from framedex.plugins.replay.comparison import Tolerance
from framedex.plugins.replay.isolation import CannotProbeError, IsolatedExecution, isolate, read_buffers
from framedex.plugins.replay.judging import Verdict, judge_against, judge_reads, judge_values
from framedex.plugins.replay.origins import (
    ALL_ITERATIONS,
    BRANCHES,
    LOOP,
    Measure,
    Site,
    count_iterations,
    find_executed_branch,
    find_origin,
)
from framedex.plugins.replay.plan import UNKNOWN, Action, Operation, Plan
from framedex.plugins.replay.probes import Edit, EditedProgram, Prober
from framedex.plugins.replay.runner import Array, Target

_EXECUTABLE = 0


class Fault(StrEnum):
    """The faults that a reduction keeps."""

    ERROR = "error"
    NAN = "nan"
    DIFFERS = "differs"
    CRASH = "crash"


class NoFaultError(Exception):
    """The whole plan does not show the fault, or no part of it does: the reason."""


Failure = tuple[Action | None, str | int]
"""The operation that fails, and the end of the process or the API's error code."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduced plan. `ops` are the numbers of ops of its program before and after; None if the program is unchanged.

    `problem` says why it is unchanged. `text` is the StableHLO of a reduced program, which has these `arguments`. The
    reference gives the `expected` result.
    """

    plan: Plan
    ops: tuple[int, int] | None
    problem: str
    text: str = ""
    arguments: tuple[Array, ...] = ()
    expected: Array | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """The settings of each trial: the fault, the targets (the plug-in under test, and its reference) and options.

    `failure` is the failure of the whole plan, which its parts must show too.
    """

    fault: Fault
    targets: tuple[Target, Target]
    tolerance: Tolerance
    seed: int
    is_recorded: bool
    failure: Failure | None = None

    def judge(self, plan: Plan) -> Verdict:
        """Replay a plan."""
        target, reference = self.targets
        if self.fault is Fault.NAN:
            return judge_values(plan, target, seed=self.seed)
        if self.fault is Fault.DIFFERS and not self.is_recorded:
            return judge_against(plan, target, reference, self.tolerance, seed=self.seed)
        return judge_reads(plan, target, self.tolerance, seed=self.seed)

    def faulty_row(self, verdict: Verdict) -> int | None:
        """The row of the operation that shows the fault; None if none does."""
        first = verdict.first_difference
        if self.fault is Fault.NAN:
            return verdict.non_finite[0].row if verdict.non_finite else None
        if self.fault is Fault.DIFFERS:
            return None if first is None else first.row if first.execution is None else first.execution
        if self.fault is Fault.CRASH:
            return next((each.row for each in verdict.crashes if not each.other), None)
        return next((each.row for each in verdict.failed if not each.other), None)

    def find_failure(self, plan: Plan, verdict: Verdict) -> Failure | None:
        """The first error or crash, if the fault is of this kind."""
        actions = {each.row: each.action for each in plan.operations}
        row = self.faulty_row(verdict)
        if row is None or self.fault not in (Fault.ERROR, Fault.CRASH):
            return None
        if self.fault is Fault.CRASH:
            return actions.get(row), next(each.reason for each in verdict.crashes if each.row == row)
        return actions.get(row), next(each.code for each in verdict.failed if each.row == row)

    def shows(self, plan: Plan) -> bool:
        """Whether the replay of a plan shows the fault."""
        verdict = self.judge(plan)
        if self.failure is not None:
            return self.find_failure(plan, verdict) == self.failure
        return self.faulty_row(verdict) is not None


def reduce_plan(plan: Plan, trial: Trial, folder: Path) -> Reduction:
    """Reduce a plan. `folder` becomes the capture of the reduced plan. Raises NoFaultError."""
    verdict = trial.judge(plan)
    row = trial.faulty_row(verdict)
    if row is None:
        raise NoFaultError(f"The replay does not show this fault: {trial.fault}.")
    trial = replace(trial, failure=trial.find_failure(plan, verdict))
    executable = plan.executables.get(row)
    execution = next((each for each in plan.executions if each.row == row), None)
    if execution is None:
        return _reduce_to_operation(plan, trial, row, executable, folder)
    result, find_wrong = 0, build_difference_mask(trial.tolerance)
    if verdict.non_finite:
        found = verdict.non_finite[0]
        result, find_wrong = found.index, build_non_finite_mask(has_nan=found.nans > 0)
    if trial.fault is Fault.DIFFERS and verdict.first_difference is not None:
        first = verdict.first_difference
        differing = find_first_differing_result(
            plan, trial.targets, trial.tolerance, first, trial.seed, is_recorded=trial.is_recorded
        )
        if isinstance(differing, str):
            raise NoFaultError(differing)
        row, result = differing
        execution = next(each for each in plan.executions if each.row == row)
    try:
        isolated = isolate(plan, execution, trial.targets[1], trial.seed, folder)
        return _reduce_execution(isolated, trial, result, find_wrong)
    except CannotProbeError as error:
        number = plan.executions.index(execution) + 1
        restricted = plan.restrict(number, number)
        return Reduction(restricted if trial.shows(restricted) else plan, None, str(error))


def _reduce_to_operation(plan: Plan, trial: Trial, row: int, executable: int | None, folder: Path) -> Reduction:
    """Reduce to one operation, such as a compilation, and its dependencies. Then reduce the compiled program."""
    operations = plan.with_dependencies(row)
    executes = any(each.action is Action.EXECUTE for each in operations)
    reduced = replace(
        plan,
        operations=operations,
        reads={each.row: plan.reads[each.row] for each in operations if each.row in plan.reads},
        handler_results=plan.handler_results if executes else (),
    )
    if not trial.shows(reduced):
        return Reduction(plan, None, "the operation alone does not show the fault")
    execution = next((each for each in plan.executions if each.executable == executable), None)
    if executable is None or execution is None:
        return Reduction(reduced, None, "the fault is not in a program that the recording executes")
    try:
        isolated = isolate(plan, execution, trial.targets[1], trial.seed, folder)
        cut = _reduce_execution(isolated, trial, 0, build_difference_mask(trial.tolerance))
    except CannotProbeError as error:
        return Reduction(reduced, None, str(error))
    compilations = tuple(each for each in cut.plan.operations if each.action is Action.COMPILE)
    alone = replace(cut.plan, operations=compilations, reads={}, handler_results=())
    return replace(cut, plan=alone) if trial.shows(alone) else cut


def _reduce_execution(isolated: IsolatedExecution, trial: Trial, result: int, find_wrong: Measure) -> Reduction:
    whole = _add_reads(isolated, trial)
    if not trial.shows(whole):
        raise CannotProbeError("the execution alone does not show the fault")
    if isolated.devices != 1:
        return Reduction(whole, None, "its program runs on several devices")
    try:
        if trial.failure is not None:
            cut = _reduce_failing_program(isolated, trial)
        else:
            cut = _reduce_program(isolated, trial, result, find_wrong)
    except CannotProbeError as error:
        return Reduction(whole, None, str(error))
    return cut or Reduction(whole, None, "no part of its program shows the fault")


def _reduce_program(isolated: IsolatedExecution, trial: Trial, result: int, find_wrong: Measure) -> Reduction | None:
    """Reduce to the fewest ops that show the fault; None if no part does. Raises CannotProbeError."""
    targets = trial.targets if trial.fault is Fault.DIFFERS else trial.targets[:1]
    with Prober(isolated, targets) as prober:
        _, site = find_origin(prober, result, find_wrong)
        return _cut_at(isolated, trial, prober, site)


def _reduce_failing_program(isolated: IsolatedExecution, trial: Trial) -> Reduction | None:
    """Reduce a program without results at the target: the reference computes the arguments of its last ops.

    Raises CannotProbeError.
    """
    with Prober(isolated, trial.targets[1:]) as prober:
        program = prober.program(())
        values = [number for number, each in enumerate(program.values) if each.op >= 0 and each.size >= 0]
        if not values or not trial.shows(prober.plan((), values)):
            raise CannotProbeError("with the values inside it as results, it does not show the fault")
        first = bisect_left(
            range(1, len(values)), True, key=lambda number: trial.shows(prober.plan((), values[:number]))
        )
        cut = _cut_at(isolated, trial, prober, Site((), program, values[first]))
    if cut is None or cut.ops is None:
        return cut
    with suppress(CannotProbeError):
        body = _enter_failing_op(_isolate_cut(cut.plan), trial)
        inner = body and _reduce_failing_program(body, trial)
        if inner and inner.ops:
            return replace(inner, ops=(cut.ops[0], inner.ops[1]))
    return cut


def _enter_failing_op(isolated: IsolatedExecution, trial: Trial) -> IsolatedExecution | None:
    """Return the failing part of the loop or the branch that a program ends with. None if it ends with another op.

    The condition of a loop is not a part. Raises CannotProbeError.
    """
    with Prober(isolated, trial.targets[1:]) as prober:
        program = prober.program(())
        value = program.returned[0]
        place = program.values[value].op
        kind = program.ops[place].kind
        if kind == LOOP:
            return _enter_failing_iteration(isolated, trial, prober, place, value)
        return _enter_failing_branch(isolated, trial, prober, place, value) if kind in BRANCHES else None


def _enter_failing_iteration(
    isolated: IsolatedExecution, trial: Trial, prober: Prober, place: int, value: int
) -> IsolatedExecution | None:
    """Return the first failing iteration of a loop; None if it does not fail without the loop."""

    def limit(iterations: int, *, unrolls: bool = False) -> list[Edit]:
        return [{"op": place, "iterations": iterations, "unrolls": unrolls}]

    everything = prober.program(limit(ALL_ITERATIONS))
    result = everything.edited[-1][prober.program(()).ops[place].results.index(value)]
    counter = everything.edited[-1][-1]
    (contents,) = prober.run([(limit(ALL_ITERATIONS), [counter])])
    before = bisect_left(
        range(1, count_iterations(contents[counter])),
        True,
        key=lambda iterations: trial.shows(prober.plan(limit(iterations), [result])),
    )
    edits = limit(before, unrolls=True)
    program = prober.program(edits)
    loop = next(number for number, op in enumerate(program.ops) if number >= place and op.kind == LOOP)
    results = [each for each in dict.fromkeys(program.edited[-1]) if program.values[each].op > loop]
    body = _cut_values(isolated, prober, edits, results, _find_inputs(program, results, loop)).plan
    return _isolate_cut(body) if results and trial.shows(body) else None


def _find_inputs(program: EditedProgram, results: Sequence[int], loop: int) -> list[int]:
    """Return the values that the iteration after a loop uses: of the loop, or arguments of the program."""
    pending, inputs = set(results), []
    known = set(pending)
    while pending:
        value = pending.pop()
        place = program.values[value].op
        if place in (-1, loop):
            inputs.append(value)
        else:
            new = set(program.ops[place].operands) - known
            known |= new
            pending |= new
    return sorted(inputs)


def _enter_failing_branch(
    isolated: IsolatedExecution, trial: Trial, prober: Prober, place: int, value: int
) -> IsolatedExecution | None:
    """Return the failing branch: the executed one, or any if the compilation fails. None if it does not fail alone.

    Raises CannotProbeError if no branch fails to compile.
    """
    op = prober.program(()).ops[place]
    is_compilation = trial.failure is not None and trial.failure[0] is Action.COMPILE
    (contents,) = prober.run([((), [op.operands[0]])])
    executed = find_executed_branch(op, contents[op.operands[0]][0][0])
    for branch in count() if is_compilation else (executed,):
        edits: list[Edit] = [{"op": place, "branch": branch}]
        result = prober.program(edits).edited[-1][op.results.index(value)]
        plan = prober.plan(edits, [result])
        if trial.shows(plan):
            return _isolate_cut(plan)
    return None


def _isolate_cut(plan: Plan) -> IsolatedExecution:
    """Return the isolated execution of a plan that has no other."""
    *sends, compilation, execution = (each for each in plan.operations if each.action is not Action.READ)
    return IsolatedExecution(
        replace(plan, operations=(*sends, compilation, execution), reads={}), tuple(sends), compilation, execution
    )


def _cut_at(isolated: IsolatedExecution, trial: Trial, prober: Prober, site: Site) -> Reduction | None:
    """Keep the fewest ops before a value that show the fault; None if all of them together do not show it."""
    before = sum(1 for each in prober.program(()).ops if not each.passes)
    size = 1
    while size < 2 * before:
        cut = _cut_program(isolated, prober, site, size)
        if trial.shows(cut.plan):
            _, kept = _find_cone(site.program, site.value, size)
            return replace(cut, ops=(before, kept), expected=cut.expected if trial.fault is Fault.DIFFERS else None)
        size *= 2
    return None


def _add_reads(isolated: IsolatedExecution, trial: Trial) -> Plan:
    """Return the plan of the isolated execution, with reads of its results.

    The expected contents are the reference's. They are unknown if the fault is an error or a crash.
    """
    plan, results = isolated.plan, isolated.execution.results
    names = dict.fromkeys(results, UNKNOWN)
    if trial.fault not in (Fault.ERROR, Fault.CRASH):
        contents = read_buffers(plan, plan.operations, results, trial.targets[1], trial.seed)
        names = {buffer: write_stored_buffer(plan.capture, contents[buffer].content) for buffer in results}
    reads = [_build_read(-1 - len(isolated.sends) - buffer, buffer, names[buffer]) for buffer in results]
    return replace(plan, operations=(*plan.operations, *reads), reads={each.row: each.operands[1] for each in reads})


def _build_read(row: int, buffer: int, name: str) -> Operation:
    return Operation(Action.READ, row, (str(buffer), name), inputs=(buffer,))


def _cut_program(isolated: IsolatedExecution, prober: Prober, site: Site, size: int) -> Reduction:
    """Keep `size` ops before a wrong value. Other values that they use become arguments."""
    arguments, _ = _find_cone(site.program, site.value, size)
    return _cut_values(isolated, prober, site.edits, [site.value], arguments)


def _cut_values(
    isolated: IsolatedExecution, prober: Prober, edits: Sequence[Edit], values: Sequence[int], arguments: Sequence[int]
) -> Reduction:
    """Keep the ops that compute some values from others, which become arguments."""
    ((contents),) = prober.run([(edits, tuple(dict.fromkeys((*arguments, *values))))])
    folder = isolated.plan.capture
    code, options, text = prober.cut(edits, values, arguments)
    names = [write_stored_program(folder, each) for each in (code, options)]
    compilation = replace(isolated.compilation, operands=(str(_EXECUTABLE), *names, "mlir"), executable=_EXECUTABLE)
    arrays = [contents[each][0][-1] for each in arguments]
    sends = [_build_send(number, array, isolated, folder) for number, array in enumerate(arrays)]
    results = tuple(range(len(sends), len(sends) + len(values)))
    launch, device = isolated.execution.operands[1:3]
    operands = (_EXECUTABLE, launch, device, 1, len(sends), len(results), *range(len(sends)), *results, 0)
    execution = replace(
        isolated.execution,
        operands=tuple(map(str, operands)),
        inputs=tuple(range(len(sends))),
        results=results,
        executable=_EXECUTABLE,
    )
    expected = [contents[each][0][-1] for each in values]
    reads = [
        _build_read(-1 - result, result, write_stored_buffer(folder, array.content))
        for result, array in zip(results, expected, strict=True)
    ]
    plan = replace(
        isolated.plan,
        operations=(*sends, compilation, execution, *reads),
        reads={each.row: each.operands[1] for each in reads},
        programs={_EXECUTABLE: isolated.plan.programs.get(isolated.execution.executable or 0, "")},
        handler_results=tuple(each for each in isolated.plan.handler_results if each.target.encode() in code),
    )
    return Reduction(plan, None, "", text, tuple(arrays), expected[0] if expected else None)


def _build_send(number: int, array: Array, isolated: IsolatedExecution, folder: Path) -> Operation:
    devices = [each.operands[1] for each in isolated.sends]
    shape = array.dimensions
    name = write_stored_buffer(folder, array.content)
    operands = (number, devices[0] if devices else 0, UNKNOWN, array.type, name, len(shape), *shape)
    return Operation(Action.SEND, -1 - number, tuple(map(str, operands)), results=(number,))


def _find_cone(program: EditedProgram, value: int, size: int) -> tuple[Sequence[int], int]:
    """Return the values that become arguments if `size` ops before a value are kept, and the number of kept ops.

    Constants are always kept, and so are ops whose value cannot become an argument.
    """
    pending, arguments, kept = {value}, [], 0
    while pending:
        last = max(pending)
        pending.remove(last)
        place = program.values[last].op
        op = program.ops[place] if place >= 0 else None
        if op is not None and (op.kind == "stablehlo.constant" or kept < size or program.values[last].size < 0):
            kept += not op.passes and op.kind != "stablehlo.constant"
            pending.update(op.operands)
        else:
            arguments.append(last)
    return sorted(arguments), kept

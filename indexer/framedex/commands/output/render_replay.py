"""The result of a replay, as lines to print and as a JSON document.

The JSON document:

    ```
    {"capture", "command", "plugin", "against": str | null, "status", "platforms": [str], "executions", "programs",
    "compared", "incomparable", "skipped", "inexact", "seeded": int, "first": difference | null,
    "differences": [difference], "non_finite": [array | {"nans", "infinities"}], "omitted": [call | {"reason"}],
    "failed": [call | {"code", "message", "other"}], "crashes": [{"call": call | null, "reason", "output", "other"}],
    "unsteady": [call], "bisection": {"call", "problem", "origin": origin | null} | null}

    call        {"row", "function", "program", "execution": number from 1 | null, "line": PythonLine | null}
    array       {"call", "device", "index", "type", "shape"}
    difference  array and {"computed_by": call | null, "comparison": Comparison | null}
    origin      {"op": op | null, "argument": number | null, "index", "element": element, "operands": [element],
                "loops": [op | {"iteration"}], "fused": [op]}
    op          {"kind", "name", "frames": [{"path", "line", "function"}], "line": PythonLine | null}
    element     {"type", "shape", "texts": [here, reference]}
    ```

A row is the position of a call in the capture, by its start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from framedex.base import words
from framedex.base.plaintext import make_printable
from framedex.commands.output.render_calls import render_python_line
from framedex.commands.output.terminal import Line, Span, render_text_line
from framedex.plugins.replay.call_lines import find_program_line

if TYPE_CHECKING:
    from pathlib import Path

    from framedex.model import PythonLine
    from framedex.plugins.replay.comparison import Comparison
    from framedex.plugins.replay.judging import Bisection, Difference, FailedCall, NonFinite, Verdict
    from framedex.plugins.replay.origins import Origin, OriginOp
    from framedex.plugins.replay.plan import Plan
    from framedex.plugins.replay.recording_file import LinesOfCalls

_RECORD = "Record contents: `framedex run --contents PROGRAM.py`"
_LABEL = 11
_INDENT = 10
_MAX_ROWS = 10
_MAX_OUTPUT_LINES = 8
_TYPES = {"PRED": "bool", **{f"S{bits}": f"s{bits}" for bits in (8, 16, 32, 64)}}


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """A judged replay.

    `numbers` has the number of each execution in the capture by row, from 1. `path` is the capture's, and `command` the
    recorded one. `plugin` and `against` are names.
    """

    plan: Plan
    numbers: Mapping[int, int]
    lines: LinesOfCalls
    verdict: Verdict
    path: Path
    command: str
    plugin: str
    against: str | None
    looks_for_nan: bool

    def program(self, row: int) -> str:
        """Return the name of the program that a call compiles or runs; empty for other calls."""
        executable = self.plan.executables.get(row)
        return "" if executable is None else self.plan.programs.get(executable, "")


def replay_lines(answer: ReplayAnswer) -> Iterator[Line]:
    """The executions that ran, the comparisons, the first difference, and the calls that could not be replayed."""
    verdict = answer.verdict
    yield (
        Span("capture".ljust(_LABEL), "dim"),
        Span(make_printable(f"{answer.path.name}: {answer.command}"), "head"),
    )
    yield _render_labelled_line("plug-in", _format_plugin(answer))
    yield _render_labelled_line("replayed", _format_replayed_calls(answer))
    if answer.plan.seeded:
        seeded = words.count(answer.plan.seeded, "sent buffer")
        yield _render_labelled_line("inputs", f"{seeded} without a recorded content, filled from the seed. {_RECORD}")
    if verdict.failed and (devices := min(verdict.devices, default=0)) < answer.plan.machine.devices:
        recorded = words.count(answer.plan.machine.devices, "recorded device")
        yield _render_labelled_line(
            "devices", f"{devices} of {recorded}. XLA's CPU plug-ins: --option cpu_device_count=N"
        )
    if verdict.inexact:
        yield _render_labelled_line("handlers", verdict.inexact_note)
    yield _render_labelled_line("compared", _format_comparison(answer))
    yield from _render_difference_lines(answer)
    yield from _render_non_finite_lines(answer)
    yield from _render_bisection_lines(answer)
    yield from _render_problem_lines(answer)
    if verdict.unsteady:
        yield ()
        yield (
            Span(f"{words.count(len(verdict.unsteady), 'read')} differ between repetitions of this replay", "error"),
        )
        yield render_python_line(answer.lines.line(verdict.unsteady[0]), _INDENT)


def _render_labelled_line(label: str, text: str) -> Line:
    return (Span(label.ljust(_LABEL), "dim"), Span(make_printable(text)))


def _format_plugin(answer: ReplayAnswer) -> str:
    names = [answer.plugin, *([answer.against] if answer.against is not None else [])]
    platforms = [*answer.verdict.platforms, *[""] * len(names)]
    shown = [f"{name} ({platform})" if platform else name for name, platform in zip(names, platforms, strict=False)]
    return ", against ".join(shown)


def _format_replayed_calls(answer: ReplayAnswer) -> str:
    programs = len({each.executable for each in answer.plan.executions})
    whole = len(answer.plan.executions)
    ran = answer.verdict.executions
    executions = words.count(whole, "execution") if ran == whole else f"{ran:,} of {words.count(whole, 'execution')}"
    return f"{executions} of {words.count(programs, 'program')}"


def _format_comparison(answer: ReplayAnswer) -> str:
    verdict = answer.verdict
    if answer.looks_for_nan:
        return f"{words.count(verdict.compared, 'output')} searched for NaN and infinities"
    if not verdict.compared:
        remedy = _RECORD if answer.plan.seeded else "Compare two plug-ins: --against"
        return f"nothing: the reads have no recorded contents. {remedy}" if verdict.incomparable else "nothing"
    differing = len(verdict.differences)
    result = f"{differing:,} differ" if differing else "all equal"
    more = f"; {words.count(verdict.incomparable, 'read')} without a recorded content" if verdict.incomparable else ""
    return f"{words.count(verdict.compared, 'content')}, {result}{more}"


def _render_difference_lines(answer: ReplayAnswer) -> Iterator[Line]:
    first = answer.verdict.first_difference
    if first is None:
        return
    yield ()
    yield (Span(f"first difference: {_format_producer(answer, first)}", "error"),)
    yield render_python_line(answer.lines.line(first.row if first.execution is None else first.execution), _INDENT)
    for text in _format_comparisons(first, is_recorded=answer.against is None):
        yield render_text_line(f"{'':{_INDENT}}{text}")
    if first.execution is not None and first.row != first.execution:
        yield (Span(f"{'':{_INDENT}}read at ", "dim"), *render_python_line(answer.lines.line(first.row), 0))


def _format_producer(answer: ReplayAnswer, difference: Difference) -> str:
    array = _format_array(difference.type, difference.shape)
    if difference.execution is None:
        return f"{array}, sent and read without an execution"
    number = answer.numbers.get(difference.execution)
    place = (
        f", result {difference.index} on device {difference.device}" if difference.row == difference.execution else ""
    )
    return f"{answer.program(difference.execution)}, execution {number}{place}: {array}"


def _format_comparisons(difference: Difference, *, is_recorded: bool) -> Iterator[str]:
    found: Comparison | None = difference.comparison
    if found is None:
        yield "only the hash of the recorded content is known (run --contents=all keeps contents)"
        return
    before = "recorded" if is_recorded else "against"
    at = "" if found.first is None else f", the first at {_index_text(found.first, difference.shape)}"
    differ = "differs" if found.differing == 1 else "differ"
    elements = f"{found.differing:,} of {words.count(found.elements, 'element')} {differ}"
    yield f"{elements}{at}: {before} {found.expected}, here {found.actual}"
    bounds = []
    if found.largest_ulps is not None:
        bounds.append(f"at most {words.count(found.largest_ulps, 'ulp')}")
    if found.largest_relative is not None:
        bounds.append(f"{found.largest_relative:.2g} relative")
    if found.nan_differs:
        bounds.append(f"{words.count(found.nan_differs, 'element')} NaN on one side only")
    if bounds:
        yield ", ".join(bounds)


def _index_text(flat: int, shape: str) -> str:
    """Convert a flat index to one index per dimension."""
    places = []
    for size in reversed([int(each) for each in shape.split("x") if each]):
        places.append(flat % size)
        flat //= size
    return f"[{','.join(map(str, reversed(places)))}]"


def _render_non_finite_lines(answer: ReplayAnswer) -> Iterator[Line]:
    found = answer.verdict.non_finite
    if not found:
        return
    first: NonFinite = found[0]
    number = answer.numbers.get(first.row)
    amounts = ((first.nans, "NaN"), (first.infinities, "infinite value"))
    counts = [words.count(amount, noun) for amount, noun in amounts if amount]
    yield ()
    heading = f"first NaN: {answer.program(first.row)}, execution {number}" if first.nans else ""
    heading = heading or f"no NaN; first infinity: {answer.program(first.row)}, execution {number}"
    yield (Span(make_printable(heading), "error"),)
    yield render_python_line(answer.lines.line(first.row), _INDENT)
    array = _format_array(first.type, first.shape)
    yield render_text_line(
        f"{'':{_INDENT}}{' and '.join(counts)} in result {first.index} on device {first.device}, {array}"
    )


def _render_bisection_lines(answer: ReplayAnswer) -> Iterator[Line]:
    bisection = answer.verdict.bisection
    if bisection is None:
        return
    origin = bisection.origin
    execution = f"{answer.program(bisection.row)}, execution {answer.numbers.get(bisection.row)}"
    if origin is None:
        reason = f"the op where it begins in {execution}, is unknown: {_first_line(bisection.problem)}"
        yield render_text_line(f"{'':{_INDENT}}{reason}", "dim")
        return
    yield ()
    if origin.op is None:
        yield (
            Span(make_printable(f"it begins before this program: argument {origin.argument} of {execution}"), "error"),
        )
    else:
        yield (Span(make_printable(f"begins at {_format_op(origin.op)} in {execution}"), "error"),)
        yield render_python_line(find_program_line(origin.op.frames), _INDENT)
    yield render_text_line(f"{'':{_INDENT}}{_format_element(origin)}")
    for fused in origin.fused:
        yield (
            Span(f"{'':{_INDENT}}fused with {make_printable(_format_op(fused))} at ", "dim"),
            *render_python_line(find_program_line(fused.frames), 0),
        )
    for loop, iteration in reversed(origin.loops):
        head = Span(f"{'':{_INDENT}}iteration {iteration:,} of {_format_op(loop)} at ", "dim")
        yield (head, *render_python_line(find_program_line(loop.frames), 0))


def _format_op(op: OriginOp) -> str:
    return f"{op.kind.rpartition('.')[2]} ({op.name})" if op.name else op.kind.rpartition(".")[2]


def _format_element(origin: Origin) -> str:
    sides = ("here {}, reference {}" if len(origin.element.texts) > 1 else "{}").format(*origin.element.texts)
    shape = _format_array(origin.element.type, origin.element.shape)
    from_text = ", ".join(" or ".join(dict.fromkeys(each.texts)) for each in origin.operands)
    place = f"{shape} at {_index_text(origin.index, origin.element.shape)}: {sides}"
    return f"{place}, from {from_text}" if from_text else place


def _format_array(kind: str, shape: str) -> str:
    return f"{_TYPES.get(kind, kind.lower())}[{shape.replace('x', ',')}]"


def _render_problem_lines(answer: ReplayAnswer) -> Iterator[Line]:
    verdict = answer.verdict
    for crash in verdict.crashes:
        yield ()
        of = f" of {answer.against}" if crash.other else ""
        program = "" if crash.row is None else f" in {answer.lines.function(crash.row)} of {answer.program(crash.row)}"
        yield (Span(make_printable(f"the replay{of} crashed{program}: {crash.reason}"), "error"),)
        if crash.row is not None:
            yield render_python_line(answer.lines.line(crash.row), _INDENT)
        for line in crash.output.splitlines()[-_MAX_OUTPUT_LINES:]:
            yield render_text_line(f"{'':{_INDENT}}{line}", "dim")
    yield from _render_failure_lines(answer)
    reasons = Counter((each.function, each.reason) for each in answer.plan.omitted)
    if reasons or verdict.skipped:
        calls = [words.count(len(answer.plan.omitted), "call")] if reasons else []
        dependent = [f"{words.count(verdict.skipped, 'call')} that depend on others"] if verdict.skipped else []
        yield ()
        yield (Span(f"not replayed: {', and '.join((*calls, *dependent))}", "head"),)
    for (function, reason), number in reasons.most_common(_MAX_ROWS):
        first = next(each.row for each in answer.plan.omitted if (each.function, each.reason) == (function, reason))
        yield render_text_line(f"{number:>8,}  {function}: {reason}")
        yield render_python_line(answer.lines.line(first), _INDENT)


def _render_failure_lines(answer: ReplayAnswer) -> Iterator[Line]:
    """The failed calls, those of one line of Python together."""
    groups: dict[tuple[str, str, bool, PythonLine | None], list[FailedCall]] = {}
    for each in answer.verdict.failed:
        line = answer.lines.line(each.row)
        groups.setdefault((answer.lines.function(each.row), answer.program(each.row), each.other, line), []).append(
            each
        )
    for (function, _, other, _), (first, *more) in islice(groups.items(), _MAX_ROWS):
        at = f" at {answer.against}" if other else ""
        times = f" {len(more) + 1:,} times, first" if more else ""
        yield ()
        yield (Span(make_printable(f"{function} failed{at}{times}: {_first_line(first.message)}"), "error"),)
        yield _render_program_line(answer, first.row)
    if len(groups) > _MAX_ROWS:
        yield ()
        yield render_text_line(f"and at {words.count(len(groups) - _MAX_ROWS, 'more line')}. --json has all")


def _render_program_line(answer: ReplayAnswer, row: int) -> Line:
    name = answer.program(row)
    return (
        Span(f"{'':{_INDENT}}{make_printable(name)}" + (", " if name else "")),
        *render_python_line(answer.lines.line(row), 0),
    )


def _first_line(message: str) -> str:
    return next(iter(message.splitlines()), "")[:300]


def replay_document(answer: ReplayAnswer) -> dict[str, Any]:
    """The answer as a JSON document."""
    verdict, plan = answer.verdict, answer.plan
    first = verdict.first_difference
    return {
        "capture": str(answer.path),
        "command": answer.command,
        "plugin": answer.plugin,
        "against": answer.against,
        "status": verdict.status,
        "platforms": verdict.platforms,
        "executions": verdict.executions,
        "programs": len({each.executable for each in plan.executions}),
        "compared": verdict.compared,
        "incomparable": verdict.incomparable,
        "skipped": verdict.skipped,
        "inexact": verdict.inexact,
        "seeded": plan.seeded,
        "first": None if first is None else _build_difference_document(answer, first),
        "differences": [_build_difference_document(answer, each) for each in verdict.differences],
        "non_finite": [
            _build_array_document(answer, each) | {"nans": each.nans, "infinities": each.infinities}
            for each in verdict.non_finite
        ],
        "omitted": [_call_document(answer, each.row) | {"reason": each.reason} for each in plan.omitted],
        "failed": [
            _call_document(answer, each.row) | {"code": each.code, "message": each.message, "other": each.other}
            for each in verdict.failed
        ],
        "crashes": [
            asdict(each) | {"call": None if each.row is None else _call_document(answer, each.row)}
            for each in verdict.crashes
        ],
        "unsteady": [_call_document(answer, row) for row in verdict.unsteady],
        "bisection": None if verdict.bisection is None else _build_bisection_document(answer, verdict.bisection),
    }


def _call_document(answer: ReplayAnswer, row: int) -> dict[str, Any]:
    line: PythonLine | None = answer.lines.line(row)
    return {
        "row": row,
        "function": answer.lines.function(row),
        "program": answer.program(row),
        "execution": answer.numbers.get(row),
        "line": None if line is None else asdict(line),
    }


def _build_array_document(answer: ReplayAnswer, each: Difference | NonFinite) -> dict[str, Any]:
    place = {"device": each.device, "index": each.index, "type": each.type, "shape": each.shape}
    return {"call": _call_document(answer, each.row)} | place


def _build_difference_document(answer: ReplayAnswer, each: Difference) -> dict[str, Any]:
    return _build_array_document(answer, each) | {
        "computed_by": None if each.execution is None else _call_document(answer, each.execution),
        "comparison": None if each.comparison is None else asdict(each.comparison),
    }


def _build_bisection_document(answer: ReplayAnswer, bisection: Bisection) -> dict[str, Any]:
    origin = bisection.origin
    document: dict[str, Any] = {"call": _call_document(answer, bisection.row), "problem": bisection.problem}
    if origin is None:
        return document | {"origin": None}
    loops = [_build_op_document(loop) | {"iteration": iteration} for loop, iteration in origin.loops]
    op = None if origin.op is None else _build_op_document(origin.op)
    fused = [_build_op_document(each) for each in origin.fused]
    return document | {"origin": asdict(origin) | {"op": op, "loops": loops, "fused": fused}}


def _build_op_document(op: OriginOp) -> dict[str, Any]:
    line = find_program_line(op.frames)
    return asdict(op) | {"line": None if line is None else asdict(line)}

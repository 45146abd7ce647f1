"""`framedex replay`: run a capture again at a plug-in, and compare the results."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from framedex.captures import capture_folders, captures_within, project_captures_folder
from framedex.commands.inputs.files import absolute, working_folder
from framedex.commands.launching.launch import find_interpreter
from framedex.commands.output.console import json_option, print_error, print_json, print_lines
from framedex.commands.output.render_replay import ReplayAnswer, replay_document, replay_lines
from framedex.errors import FramedexError
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.replay.judging import Verdict
    from framedex.replay.plan import Plan
    from framedex.replay.runner import Target

_MOCK = "mock"
_FAILURE = 2  # the exit status if there is no answer; 1 means that something differs


class ExecutionRange(click.ParamType[tuple[int, int]]):
    """A range of executions: `5`, `5..9`."""

    name = "range"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Return the first and the last number."""
        match = re.fullmatch(r"(\d{1,9})(?:\.\.(\d{1,9}))?", str(value), re.ASCII)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not 1 <= first <= last:
            self.fail(f"{str(value)!r} is not a range of executions: write it like 5 or 5..9.", param, ctx)
        return first, last


@click.command()
@click.argument("capture", type=click.Path(path_type=Path), required=False)
@click.option("--plugin", default=_MOCK, metavar="PATH", help="Replay at this PJRT plug-in. Default: the mock TPU.")
@click.option(
    "--against", metavar="PATH", help="Compare with this plug-in instead of the recording; `mock` is the mock TPU."
)
@click.option("--every-output", is_flag=True, help="Compare all results of each execution (with --against).")
@click.option("--find-nan", is_flag=True, help="Find the first execution whose results have NaN, or else infinities.")
@click.option(
    "--step", type=ExecutionRange(), metavar="N[..M]", help="Replay only executions N to M, and what they depend on."
)
@click.option("--repeat", type=click.IntRange(1), default=1, metavar="K", help="Replay K times, and compare the reads.")
@click.option(
    "--ulps", type=click.IntRange(0), default=0, metavar="N", help="Accept reals that are N representable values apart."
)
@click.option(
    "--rtol", type=click.FloatRange(0), default=0.0, metavar="R", help="Accept reals with this relative difference."
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, metavar="N", help="The seed of inputs that were not recorded."
)
@click.option(
    "--python",
    default=sys.executable,  # noqa: TID251
    type=click.Path(dir_okay=False),
    help="The Python that runs the plug-in; its jaxlib runs the mock's programs. Default: framedex's own.",
)
@json_option
@click.pass_context
def replay(
    ctx: click.Context,
    /,
    capture: Path | None,
    plugin: str,
    against: str | None,
    every_output: bool,
    find_nan: bool,
    step: tuple[int, int] | None,
    repeat: int,
    ulps: int,
    rtol: float,
    seed: int,
    python: str,
    as_json: bool,
) -> None:
    """Run a capture again at a plug-in, and compare.

    CAPTURE is a capture or a folder of captures, of which the newest counts. Default: the newest of this folder. The
    replay needs neither JAX nor the program: it compiles the recorded programs and repeats transfers and executions. It
    compares what the program read with the contents of `framedex run --contents`: bit by bit, or with a tolerance.

    Exit status: 0 if nothing differs, 1 if something does, 2 if the replay fails. A capture contains programs for the
    plug-in's compiler: replay only captures that you trust. See docs/how-to/replay.md.
    """
    if every_output and against is None:
        raise click.UsageError("--every-output compares two plug-ins: name the other one with --against.")
    if sum((against is not None, find_nan, repeat > 1)) > 1:
        raise click.UsageError("--against, --find-nan and --repeat exclude each other: use one of them.")
    try:
        answer = _replay(
            capture, plugin, against, python, Judgement(every_output, find_nan, step, repeat, ulps, rtol, seed)
        )
    except FramedexError as error:
        print_error(error)
        ctx.exit(_FAILURE)
    if as_json:
        print_json(replay_document(answer))
    else:
        print_lines(replay_lines(answer))
    ctx.exit(answer.verdict.status)


class Judgement(NamedTuple):
    """The options that select what to replay and to compare."""

    every_output: bool
    find_nan: bool
    step: tuple[int, int] | None
    repeat: int
    ulps: int
    rtol: float
    seed: int


def _replay(capture: Path | None, plugin: str, against: str | None, python: str, options: Judgement) -> ReplayAnswer:
    """Replay a capture and judge the results. Raises FramedexError if that is impossible."""
    from framedex.replay.call_lines import CallLines
    from framedex.replay.recorded_calls import RecordedCapture, build_plan

    recorded = RecordedCapture.read(_find_capture(capture))
    plan = build_plan(recorded)
    numbers = {each.row: number for number, each in enumerate(plan.executions, 1)}
    if not plan.operations:
        raise FramedexError("The capture has no calls to replay.", "Record a program that uses a device.")
    if options.step is not None:
        plan = _restrict(plan, *options.step)
    interpreter = find_interpreter(python)
    target = _target(plugin, interpreter)
    other = None if against is None else _target(against, interpreter)
    return ReplayAnswer(
        plan,
        numbers,
        CallLines(recorded),
        _judge(plan, target, other, options),
        recorded.stream.capture.metadata.command,
        target.plugin.name if not target.is_mock else "mock TPU",
        None if other is None else other.plugin.name if not other.is_mock else "mock TPU",
        options.find_nan,
    )


def _judge(plan: Plan, target: Target, other: Target | None, options: Judgement) -> Verdict:
    from framedex.replay.comparison import Tolerance
    from framedex.replay.judging import judge_against, judge_reads, judge_values

    tolerance = Tolerance(options.ulps, options.rtol)
    if options.find_nan:
        return judge_values(plan, target, seed=options.seed)
    if other is not None:
        return judge_against(plan, target, other, tolerance, seed=options.seed, every_output=options.every_output)
    return judge_reads(plan, target, tolerance, seed=options.seed, repetitions=options.repeat)


def _restrict(plan: Plan, first: int, last: int) -> Plan:
    count = len(plan.executions)
    if first > count:
        raise FramedexError(f"There is no execution {first}: the capture has {count}.", "Check --step.")
    return plan.restrict(first, last)


def _find_capture(named: Path | None) -> Path:
    if named is not None:
        return captures_within(absolute(named))[-1]
    captures = capture_folders(project_captures_folder(working_folder()))
    if not captures:
        raise FramedexError(
            "There is no capture in this folder.",
            "Record a program: `framedex run --contents SCRIPT`, or name a capture.",
        )
    return captures[-1]


def _target(name: str, python: str) -> Target:
    """The plug-in of this name. Raises FramedexError if there is none."""
    from framedex.nativepart import framedex_native
    from framedex.replay.runner import Target

    replayer = framedex_native.replayer_path()
    if name == _MOCK:
        return Target(framedex_native.library_path(), python, is_mock=True, replayer=replayer)
    path = absolute(Path(name).expanduser())
    if not path.is_file():
        raise FramedexError(f"There is no plug-in {printable(name)}.", "Name the file of a PJRT plug-in, or `mock`.")
    return Target(path, python, is_mock=False, replayer=replayer)

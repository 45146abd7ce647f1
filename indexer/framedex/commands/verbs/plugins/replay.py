"""`framedex replay`: replay a capture on a plug-in, and compare the results."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from framedex.base.errors import FramedexError
from framedex.commands.launching.replayed import (
    find_reference,
    find_targets,
    open_recording,
    plugin_options,
    save_recording,
)
from framedex.commands.output.console import json_option, print_error, print_json, print_lines
from framedex.commands.output.render_replay import ReplayAnswer, replay_document, replay_lines

if TYPE_CHECKING:
    from framedex.plugins.replay.comparison import Tolerance
    from framedex.plugins.replay.judging import Bisection, Verdict
    from framedex.plugins.replay.plan import OptionValue, Plan
    from framedex.plugins.replay.runner import Target

_FAILURE = 2  # exit status: the replay failed. Status 1: results differ.


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
@plugin_options
@click.option("--every-output", is_flag=True, help="Compare all results of each execution (with --against).")
@click.option("--find-nan", is_flag=True, help="Find the first execution whose results have NaN, or else infinities.")
@click.option(
    "--bisect/--no-bisect",
    default=True,
    help="Find the op where the first difference or NaN begins. Default: yes; needs JAX in --python.",
)
@click.option(
    "--step", type=ExecutionRange(), metavar="N[..M]", help="Replay only executions N to M, and what they depend on."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write the replayed calls into one file, NAME.fdxreplay.",
)
@click.option("--repeat", type=click.IntRange(1), default=1, metavar="K", help="Replay K times, and compare the reads.")
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
    bisect: bool,
    step: tuple[int, int] | None,
    output: Path | None,
    repeat: int,
    ulps: int,
    rtol: float,
    seed: int | None,
    create_options: tuple[tuple[str, OptionValue], ...],
    is_confined: bool,
    python: str,
    as_json: bool,
) -> None:
    """Replay a capture on a plug-in, and compare the results.

    CAPTURE is a capture, a file of `framedex reduce`, or a folder of captures, whose newest is used. Default: the
    newest of this folder. The replay needs neither JAX nor the program: it compiles the recorded programs and repeats
    transfers and executions. It compares what the program read with the contents of `framedex run --contents`: bit by
    bit, or with a tolerance.

    Exit status: 0 if nothing differs, 1 if something does, 2 if the replay fails. A capture contains programs for the
    plug-in's compiler: replay only captures that you trust. See docs/how-to/replay.md.
    """
    if every_output and against is None:
        raise click.UsageError("--every-output compares two plug-ins: name the other one with --against.")
    if sum((against is not None, find_nan, repeat > 1)) > 1:
        raise click.UsageError("--against, --find-nan and --repeat exclude each other: use one of them.")
    try:
        answer = _replay(
            capture,
            plugin,
            against,
            python,
            ReplayOptions(
                every_output, find_nan, bisect, step, output, repeat, ulps, rtol, seed, create_options, is_confined
            ),
        )
    except FramedexError as error:
        print_error(error)
        ctx.exit(_FAILURE)
    if as_json:
        print_json(replay_document(answer))
    else:
        print_lines(replay_lines(answer))
    ctx.exit(answer.verdict.status)


class ReplayOptions(NamedTuple):
    """The options that select what to replay and to compare."""

    every_output: bool
    find_nan: bool
    bisect: bool
    step: tuple[int, int] | None
    output: Path | None
    repeat: int
    ulps: int
    rtol: float
    seed: int | None
    create_options: tuple[tuple[str, OptionValue], ...]
    is_confined: bool


def _replay(
    capture: Path | None, plugin: str, against: str | None, python: str, options: ReplayOptions
) -> ReplayAnswer:
    """Replay a capture and judge the results. Raises FramedexError if that is impossible."""
    with open_recording(capture) as recording:
        plan = recording.plan
        numbers = {each.row: number for number, each in enumerate(plan.executions, 1)}
        if options.step is not None:
            plan = _restrict_to_executions(plan, *options.step)
        if options.output is not None:
            save_recording(options.output, plan, recording, recording.choose_seed(options.seed))
        target, other = find_targets(plugin, against, python, options.create_options, is_confined=options.is_confined)
        return ReplayAnswer(
            plan,
            numbers,
            recording.lines,
            _judge_results(plan, target, other, options, recording.choose_seed(options.seed)),
            recording.path,
            recording.command,
            target.name,
            None if other is None else other.name,
            options.find_nan,
        )


def _judge_results(plan: Plan, target: Target, other: Target | None, options: ReplayOptions, seed: int) -> Verdict:
    from framedex.plugins.replay.comparison import Tolerance
    from framedex.plugins.replay.judging import judge_against, judge_reads, judge_values

    tolerance = Tolerance(options.ulps, options.rtol)
    if options.find_nan:
        verdict = judge_values(plan, target, seed=seed)
    elif other is not None:
        verdict = judge_against(plan, target, other, tolerance, seed=seed, every_output=options.every_output)
    else:
        verdict = judge_reads(plan, target, tolerance, seed=seed, repetitions=options.repeat)
    if options.bisect and not verdict.crashes:
        verdict.bisection = _bisect_to_op(plan, target, other, tolerance, verdict, seed)
    return verdict


def _bisect_to_op(
    plan: Plan, target: Target, other: Target | None, tolerance: Tolerance, verdict: Verdict, seed: int
) -> Bisection | None:
    from framedex.plugins.replay.bisection import bisect_difference, bisect_non_finite

    if verdict.non_finite:
        return bisect_non_finite(plan, target, verdict.non_finite[0], seed)
    if verdict.first_difference is None or (other is None and target.is_mock and not target.is_altered):
        return None
    reference = other or find_reference(target)
    first = verdict.first_difference
    return bisect_difference(plan, [target, reference], tolerance, first, seed, is_recorded=other is None)


def _restrict_to_executions(plan: Plan, first: int, last: int) -> Plan:
    count = len(plan.executions)
    if first > count:
        raise FramedexError(f"There is no execution {first}: the capture has {count}.", "Check --step.")
    return plan.restrict(first, last)

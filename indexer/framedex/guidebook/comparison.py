"""Compare runs: of two chosen plug-ins or versions, and of successive versions of a framework."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.model.guidebook import (
    ChangedStep,
    ComparedFunction,
    ComparedRuns,
    Comparison,
    Observations,
    ObservedFunction,
    Run,
    SideTotals,
    Step,
    Task,
)


def compare(observations: Observations, left: str, right: str) -> Comparison:
    """Compare the runs selected by two names.

    A name is one of these, without regard to case:
    - a plug-in (`libpjrt_cpu.so`, or a part of it), an API version, or the key of one run
    - a framework's version (`0.10.2`), or the framework with it (`jax 0.10.2`)
    - a version on a plug-in (`jax 0.10.2 on libpjrt_cpu`)

    Raises FramedexError if a name selects no run, or both select the same one.
    """
    sides = [
        ComparedRuns(name, tuple(run.key for run in _select_runs(observations.runs, name))) for name in (left, right)
    ]
    both = set(sides[0].runs) & set(sides[1].runs)
    if both:
        raise FramedexError(
            f"'{left}' and '{right}' both select {words.count(len(both), 'run')}.",
            f"{_format_choices(observations.runs)} 'VERSION on PLUGIN' selects runs that match both.",
        )
    totals = [_sum_side(observations.functions, side) for side in sides]
    functions = tuple(
        ComparedFunction(name, totals[0].get(name), totals[1].get(name)) for name in sorted({*totals[0], *totals[1]})
    )
    changed_steps = (
        step
        for one in observations.tasks
        for other in observations.tasks
        if one.name == other.name and one.run in sides[0].runs and other.run in sides[1].runs
        for step in _find_differences(one, other)
    )
    return Comparison(sides[0], sides[1], functions, tuple(changed_steps))


def find_changed_paths(observations: Observations) -> tuple[ChangedStep, ...]:
    """Return the steps whose functions differ from the previous framework version's on the same plug-in."""
    runs = {run.key: run for run in observations.runs}
    found: list[ChangedStep] = []
    by_series = sorted(observations.tasks, key=lambda task: _parse_version_series(task, runs[task.run]))
    for _, tasks in groupby(by_series, key=lambda task: _parse_version_series(task, runs[task.run])):
        by_version = sorted(tasks, key=lambda task: _parse_version_numbers(runs[task.run].framework_version))
        for before, after in pairwise(by_version):
            if runs[before.run].framework_version != runs[after.run].framework_version:
                found += _find_differences(before, after)
    return tuple(found)


def _select_runs(runs: Sequence[Run], name: str) -> list[Run]:
    """Return the runs with this name; without any, the runs whose plug-in's name contains it."""
    chosen = _match_runs(runs, name)
    version, is_both, plugin = name.partition(" on ")
    if not chosen and is_both:
        plugin_runs = _match_runs(runs, plugin)
        chosen = [run for run in _match_runs(runs, version) if run in plugin_runs]
    if not chosen:
        raise FramedexError(f"No run matches '{name}'.", _format_choices(runs))
    return chosen


def _match_runs(runs: Sequence[Run], name: str) -> list[Run]:
    wanted = name.strip().casefold()
    if not wanted:
        return []
    chosen = [run for run in runs if wanted in {each.casefold() for each in _run_names(run)}]
    return chosen or [run for run in runs if wanted in run.plugin.casefold()]


def _run_names(run: Run) -> tuple[str, ...]:
    framework = f"{run.framework} {run.framework_version}"
    return run.key, run.plugin, run.plugin.removesuffix(".so"), run.framework, run.framework_version, framework, run.api


def _format_choices(runs: Sequence[Run]) -> str:
    plugins = dict.fromkeys(run.plugin for run in runs if run.plugin)
    versions = dict.fromkeys(f"{run.framework} {run.framework_version}".strip() for run in runs)
    return f"Available: {', '.join([*plugins, *versions])}."


def _sum_side(functions: Sequence[ObservedFunction], side: ComparedRuns) -> dict[str, SideTotals]:
    """Return the totals of a side's runs, by function."""
    chosen = sorted((each for each in functions if each.run in side.runs), key=lambda each: each.function)
    found = {}
    for name, group in groupby(chosen, key=lambda each: each.function):
        observed = list(group)
        medians = [each.median for each in observed if each.median is not None]
        found[name] = SideTotals(
            calls=sum(each.calls for each in observed),
            errors=sum(error.calls for each in observed for error in each.errors),
            medians=(min(medians), max(medians)) if medians else None,
        )
    return found


def _find_differences(left: Task, right: Task) -> Iterator[ChangedStep]:
    """Yield the steps with the same title but different calls."""
    others = {step.title: step for step in right.steps}
    for step in left.steps:
        if step.title not in others:
            continue
        left_calls, right_calls = _outer_calls(step), _outer_calls(others[step.title])
        if left_calls != right_calls:
            first = next(
                (place for place, pair in enumerate(zip(left_calls, right_calls, strict=False)) if pair[0] != pair[1]),
                min(len(left_calls), len(right_calls)),
            )
            yield ChangedStep(left.name, step.title, left.run, right.run, left_calls, right_calls, first)


def _outer_calls(step: Step) -> tuple[str, ...]:
    return tuple(name for name, _ in groupby(call.function for call in step.calls if call.depth == 0))


def _parse_version_series(task: Task, run: Run) -> tuple[str, str, str]:
    """Return the key of runs that differ only in their version."""
    return task.name, run.framework, run.plugin


def _parse_version_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))

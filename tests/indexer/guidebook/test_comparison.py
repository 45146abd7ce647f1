"""Comparison of runs on two plug-ins or versions."""

from __future__ import annotations

import pytest

from framedex.base.errors import FramedexError
from framedex.guidebook.comparison import compare, find_changed_paths
from framedex.model.guidebook import (
    Observations,
    ObservedError,
    ObservedFunction,
    Run,
    SideTotals,
    Step,
    StepCall,
    Task,
)


def run(version: str, plugin: str) -> Run:
    return Run(f"jax-{version}-{plugin}", "put.py", "jax", version, plugin, "0.112", (), 1, "")


def observed(of: Run, function: str, calls: int, median: int | None, errors: int = 0) -> ObservedFunction:
    seen = (ObservedError("INTERNAL", "", errors),) if errors else ()
    nothing: tuple[tuple[()], ...] = ((),) * 7
    return ObservedFunction(of.key, function, "pjrt", calls, median, median, median, (), (), 0, (), seen, *nothing)


def task(of: Run, **steps: str) -> Task:
    """A program whose steps make the calls given as words; in `a.b`, the second call is inside the first."""
    return Task(of.key, "put", "Put", "", tuple(step(title, calls) for title, calls in steps.items()))


def step(title: str, calls: str) -> Step:
    made = [
        StepCall(name, depth, "main", 1, "", (), 0)
        for word in calls.split()
        for depth, name in enumerate(word.split("."))
    ]
    return Step(title, "", "", tuple(made), 0)


OLD, NEW, OTHER = run("0.9", "mock"), run("0.10", "mock"), run("0.10", "libother.so")
OBSERVATIONS = Observations(
    runs=(OLD, NEW, OTHER),
    functions=(
        *(observed(OLD, "Put", 2, 5), observed(NEW, "Put", 3, 7, errors=1), observed(OTHER, "Put", 4, None)),
        observed(OTHER, "Fetch", 1, 9),
    ),
    objects=(),
    tasks=(task(OLD, first="A A B.X C", last="D"), task(NEW, first="A B.Y C", last="D E"), task(OTHER, first="A C")),
)


def test_functions_have_totals_of_both_sides() -> None:
    comparison = compare(OBSERVATIONS, "mock", "libother")

    assert comparison.left.runs == (OLD.key, NEW.key)
    assert comparison.right.runs == (OTHER.key,)
    fetch, put = comparison.functions
    assert (fetch.function, fetch.left, fetch.right) == ("Fetch", None, SideTotals(1, 0, (9, 9)))
    assert (put.left, put.right) == (SideTotals(5, 1, (5, 7)), SideTotals(4, 0, None))


@pytest.mark.parametrize(
    ("name", "other", "runs"),
    [
        ("0.9", "0.10", [OLD]),
        ("JAX 0.10", "0.9", [NEW, OTHER]),
        ("jax 0.10 on libother", "mock", [OTHER]),
        ("0.10 on MOCK", "libother", [NEW]),
    ],
)
def test_runs_are_selected_by_version(name: str, other: str, runs: list[Run]) -> None:
    assert compare(OBSERVATIONS, name, other).left.runs == tuple(each.key for each in runs)


def test_a_step_with_different_calls_is_reported_with_the_first_difference() -> None:
    first, _ = (step for step in compare(OBSERVATIONS, "mock", "libother").changed_steps)

    assert (first.left_calls, first.right_calls, first.first) == (("A", "B", "C"), ("A", "C"), 1)


def test_framework_versions_are_compared_in_order_on_the_same_plugin() -> None:
    (step,) = find_changed_paths(OBSERVATIONS)

    assert (step.left, step.right, step.step) == (OLD.key, NEW.key, "last")
    assert (step.left_calls, step.right_calls, step.first) == (("D",), ("D", "E"), 1)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("cuda", "mock", "No run matches 'cuda'."),
        ("mock", "", "No run matches ''."),
        ("mock", "jax 0.9 on libother", "No run matches 'jax 0.9 on libother'."),
        ("mock", "MOCK", "'mock' and 'MOCK' both select 2 runs."),
        ("mock", "0.10", "'mock' and '0.10' both select 1 run."),
    ],
)
def test_names_that_select_no_run_or_the_same_run_are_rejected_with_the_choices(
    left: str, right: str, expected: str
) -> None:
    with pytest.raises(FramedexError) as refused:
        compare(OBSERVATIONS, left, right)

    assert refused.value.message == expected
    assert str(refused.value.remedy).startswith("Available: mock, libother.so, jax 0.9, jax 0.10.")

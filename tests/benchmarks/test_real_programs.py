"""The `real-programs` benchmark: its selection and comparison, without running a program."""

from __future__ import annotations

import click
import pytest

from benchmarks.mock_tpu import Comparison, Outcome, select_programs


def test_all_programs_are_selected_without_names() -> None:
    selected = select_programs(())
    assert len(selected) >= 40
    assert len({name for _, name in selected}) == len(selected)


def test_names_select_programs_and_files() -> None:
    assert [name for _, name in select_programs(["lbfgs"])] == ["lbfgs"]
    assert {file.stem for file, _ in select_programs(["optax_solvers"])} == {"optax_solvers"}


def test_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(click.UsageError, match=r"No program is named 'lbfg'.*lbfgs"):
        select_programs(["lbfg"])


def test_numbers_agree_within_the_tolerance_and_in_count() -> None:
    cpu = Outcome(compile_s=2.0, numbers=(1.0, 100.0))
    assert Comparison("a", cpu, Outcome(compile_s=3.0, numbers=(1.01, 101.0))).agrees
    assert not Comparison("a", cpu, Outcome(compile_s=3.0, numbers=(1.0, 110.0))).agrees
    assert not Comparison("a", cpu, Outcome(compile_s=3.0, numbers=(1.0,))).agrees

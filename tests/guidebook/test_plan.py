"""`programs.toml` and the folder of programs list the same programs."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from guidebook.plan import PROGRAMS, Plan, PlanError

PYTHON_PROGRAMS = sorted(PROGRAMS.glob("*.py"))
ENVIRONMENT = '[pythons.own]\n[environments.mock]\npython = "own"\n'


def test_each_program_is_recorded_in_some_environment() -> None:
    recorded = {recording.program for recording in Plan.read().recordings}
    assert recorded == {*PYTHON_PROGRAMS, *PROGRAMS.glob("*.c")}


def test_mock_options_are_omitted_for_a_real_plugin() -> None:
    copies = [one for one in Plan.read().recordings if one.program.stem == "copies"]
    assert {one.environment.plugin is None for one in copies} == {True, False}
    assert all(bool(one.options) == (one.environment.plugin is None) for one in copies)


@pytest.mark.parametrize("program", PYTHON_PROGRAMS, ids=lambda path: path.stem)
def test_a_program_has_a_title_a_text_and_steps(program: Path) -> None:
    text = program.read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(text)) or ""
    title, _, paragraph = said.partition("\n\n")
    assert title and "\n" not in title and not title.endswith(".")
    assert paragraph.endswith(".")
    assert "# step: " in text


@pytest.mark.parametrize(
    ("expected", "message"),
    [
        ('[programs.one]\nenvironments = ["nowhere"]', "one names 'nowhere', which is none of mock."),
        ('[programs.two]\nenvironments = ["mock"]', "There is no program two.py or two.c in"),
        ('[programs.one]\nenvironments = ["mock"]\npackage = "none"', "one names 'none', which is none of "),
        ("[programs.one", "Expected"),
    ],
)
def test_a_plan_with_unknown_names_is_rejected(tmp_path: Path, expected: str, message: str) -> None:
    (tmp_path / "one.py").touch()
    table = tmp_path / "programs.toml"
    table.write_text(ENVIRONMENT + expected, encoding="utf-8")
    with pytest.raises(PlanError, match=message):
        Plan.read(table, tmp_path)

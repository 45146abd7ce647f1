"""Parsing the steps of programs."""

from __future__ import annotations

import pytest

from framedex.guidebook.observations import read_program


def test_a_step_has_its_comments_as_text_and_the_following_lines_as_code() -> None:
    program = read_program(
        '"""What happens.\n\nIn two\nlines."""\nimport jax\n'
        "if True:\n    # step: First\n    # A text.\n    #\n    # More.\n    x = 1\n    # said of y\n    y = 2\n\n"
        "# step: Last\n"
    )

    assert program is not None
    assert (program.title, program.text) == ("What happens", "In two\nlines.")
    first, last = program.steps
    assert (first.title, first.text, first.code) == ("First", "A text.\n\nMore.", "x = 1\n# said of y\ny = 2")
    assert (first.first, first.last, last.first, last.last) == (7, 14, 15, 15)
    assert (last.title, last.text, last.code) == ("Last", "", "")


@pytest.mark.parametrize(
    "source", ["", "x = 1\n", "# step:\n", "# step: A\nx = (\n", "# step: A\nx = \x00\n", "#step: A\n"]
)
def test_a_program_without_steps_is_not_a_task(source: str) -> None:
    assert read_program(source) is None


def test_a_step_comment_inside_a_string_is_ignored() -> None:
    program = read_program('x = """\n# step: No\n"""\n# step: Yes\ny = 1\n')

    assert program is not None
    assert [step.title for step in program.steps] == ["Yes"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_endings_of_any_system_are_accepted(end: str) -> None:
    program = read_program(end.join(["# said", "# step: First", "# A text.", "x = 1", "# step: Last", ""]))

    assert program is not None
    first, last = program.steps
    assert (first.title, first.text, first.code) == ("First", "A text.", "x = 1")
    assert (first.first, first.last, last.first) == (2, 4, 5)


def test_syntax_warnings_of_a_program_are_suppressed(recwarn: pytest.WarningsRecorder) -> None:
    assert read_program('# step: First\nx = "\\d"\n') is not None
    assert not recwarn.list

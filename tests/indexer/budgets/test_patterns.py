"""The lines and functions that match a pattern."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.budgets.model import Pattern
from framedex.model import Location, LocationEvidence, PythonLine


def line(path: str, number: int = 12, function: str = "main") -> PythonLine:
    """A line of Python."""
    return PythonLine(function, Location(path, number, LocationEvidence.EXACT))


@pytest.mark.parametrize(
    ("text", "path", "fits"),
    [
        ("train.py:*", "/home/me/project/train.py", True),
        ("train.py", "/home/me/project/train.py", True),
        ("train.py:12", "/home/me/project/train.py", True),
        ("train.py:13", "/home/me/project/train.py", False),
        ("project/train.py:*", "/home/me/project/train.py", True),
        ("other/train.py:*", "/home/me/project/train.py", False),
        ("rain.py:*", "/home/me/project/train.py", False),
        ("project/*.py:*", "/home/me/project/train.py", True),
        ("proj*/train.py:12", "/home/me/project/train.py", True),
        ("/home/me/project/train.py:12", "/home/me/project/train.py", True),
        ("/me/project/train.py:12", "/home/me/project/train.py", False),
        ("project/../project/train.py:*", "/home/me/project/train.py", True),
        ("a folder/b.py:*", "/x/a folder/b.py", True),
        ("*", "/home/me/project/train.py", True),
    ],
)
def test_files_match_by_the_end_of_their_path(text: str, path: str, fits: bool) -> None:
    assert Pattern.parse(text).matches_line(line(path)) is fits


def test_a_path_with_a_dot_is_relative_to_the_working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pattern = Pattern.parse("./train.py:*")
    assert pattern.matches_line(line(f"{tmp_path}/train.py"))
    assert not pattern.matches_line(line("/elsewhere/train.py"))


@pytest.mark.parametrize(
    ("text", "function", "fits"),
    [
        ("step", "step", True),
        ("step", "step_2", False),
        ("step*", "step_2", True),
        ("<lambda>", "<lambda>", True),
        ("step", "Model.step", True),
        ("Model.step", "Model.step", True),
        ("Other.step", "Model.step", False),
        ("step", "main.<locals>.step", True),
        ("train.py:step", "step", True),
        ("train.py:*", "step", False),
        ("*", "step", False),
    ],
)
def test_functions_match_by_short_or_qualified_name(text: str, function: str, fits: bool) -> None:
    assert Pattern.parse(text).matches_function(function) is fits


def test_a_missing_line_matches_only_patterns_without_a_file() -> None:
    assert not Pattern.parse("train.py:*").matches_line(None)
    assert Pattern.parse("*").matches_line(None)
    assert Pattern.parse("step").matches_line(None)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":12", "no file"),
        ("12", "line without a file"),
        ("train.py:0", "count from 1"),
        (".:*", "not a file"),
        ("a/..:step", "not a file"),
    ],
)
def test_a_malformed_pattern_is_reported(text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        Pattern.parse(text)

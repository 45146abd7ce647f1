"""A test that starts a Python is marked by the code that it reaches."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

from tests import running

COMMAND = [sys.executable, "-c", "pass"]


@pytest.fixture
def command() -> list[str]:
    """A command of this Python."""
    return COMMAND


def is_marked(request: pytest.FixtureRequest) -> bool:
    node = request.node
    assert isinstance(node, pytest.Function)
    starting = import_module("tests.starting")  # by its name: an import would count as a mention
    return bool(starting.starts_a_python(node))


def test_a_test_without_a_program_starts_no_python(request: pytest.FixtureRequest) -> None:
    assert not is_marked(request)


def test_a_test_that_names_this_python_starts_a_program(request: pytest.FixtureRequest) -> None:
    assert sys.executable
    assert is_marked(request)


def test_a_test_with_a_constant_starts_a_program(request: pytest.FixtureRequest) -> None:
    assert COMMAND
    assert is_marked(request)


@pytest.mark.usefixtures("command")
def test_a_test_with_a_fixture_starts_a_program(request: pytest.FixtureRequest) -> None:
    assert is_marked(request)


@pytest.mark.parametrize("name", ["command"])
def test_a_test_whose_parameter_names_a_fixture_starts_a_program(request: pytest.FixtureRequest, name: str) -> None:
    assert request.getfixturevalue(name)
    assert is_marked(request)


def test_a_test_that_calls_a_helper_starts_a_program(request: pytest.FixtureRequest) -> None:
    def recorded() -> running.Run:
        return running.run("arrays.py", folder=running.PROGRAMS)

    assert is_marked(request), recorded


def test_other_code_of_a_helper_module_does_not_count(request: pytest.FixtureRequest) -> None:
    assert running.plain_environment()
    assert not is_marked(request)

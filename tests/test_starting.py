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


def test_one_that_mentions_none_is_not(request: pytest.FixtureRequest) -> None:
    assert not is_marked(request)


def test_one_that_names_this_python_is(request: pytest.FixtureRequest) -> None:
    assert sys.executable
    assert is_marked(request)


def test_one_that_has_it_from_a_constant_is(request: pytest.FixtureRequest) -> None:
    assert COMMAND
    assert is_marked(request)


@pytest.mark.usefixtures("command")
def test_one_that_has_it_from_a_fixture_is(request: pytest.FixtureRequest) -> None:
    assert is_marked(request)


@pytest.mark.parametrize("name", ["command"])
def test_one_whose_parameter_names_a_fixture_that_has_it_is(request: pytest.FixtureRequest, name: str) -> None:
    assert request.getfixturevalue(name)
    assert is_marked(request)


def test_one_that_calls_a_helper_is(request: pytest.FixtureRequest) -> None:
    def recorded() -> running.Run:
        return running.run("arrays.py", folder=running.PROGRAMS)

    assert is_marked(request), recorded


def test_what_else_the_module_of_a_helper_has_does_not_count(request: pytest.FixtureRequest) -> None:
    assert running.plain_environment()
    assert not is_marked(request)

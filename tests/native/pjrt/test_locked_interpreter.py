"""Ahead-of-time compilation for a caller that holds the GIL meanwhile, as jaxlib 0.10 does.

The mock compiles with the process's Python, whose GIL such a caller holds; then a child process compiles.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.reading import calls_of
from tests.running import Run, run

KINDS = ("plain", "handler", "kernel")
OTHER_KINDS = ("callback", "too_large", "damaged", "unknown_device")


@pytest.fixture(scope="module")
def program_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that compiles each of KINDS both ways."""
    return run("compile_locked.py", *KINDS, folder=tmp_path_factory.mktemp("locked"))


@pytest.fixture(scope="module")
def other_results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The results of compiling each of OTHER_KINDS both ways."""
    found: dict[str, Any] = run("compile_locked.py", *OTHER_KINDS, folder=tmp_path_factory.mktemp("locked")).result
    return found


def test_a_program_is_the_same_wherever_compiled(program_run: Run) -> None:
    assert_same_program(*program_run.result["plain"])


@pytest.mark.exhaustive
def test_a_program_with_a_callback_is_the_same_wherever_compiled(other_results: dict[str, Any]) -> None:
    assert_same_program(*other_results["callback"])


def assert_same_program(free: dict[str, Any], locked: dict[str, Any]) -> None:
    """Both are the same program of one argument and one result."""
    assert free == locked
    assert (free["outputs"], free["argument_bytes"], free["output_bytes"]) == (1, 32, 32)


@pytest.mark.exhaustive
def test_a_program_is_the_same_with_every_python(python: str, tmp_path: Path) -> None:
    free, locked = run("compile_locked.py", "plain", folder=tmp_path, python=python, FRAMEDEX_RECORD="0").result[
        "plain"
    ]
    assert free == locked


def test_ffi_handlers_may_be_missing_in_the_child(program_run: Run) -> None:
    free, locked = program_run.result["handler"]
    # It is not registered, so the process does not know it; the child treats it as registered.
    assert free[0] == "NOT_FOUND"
    assert locked["output_bytes"] == 32


def test_a_compilation_error_is_the_same_wherever_it_arises(program_run: Run) -> None:
    free, locked = program_run.result["kernel"]
    assert free == locked
    assert free[0] == "UNIMPLEMENTED"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("kind", "code"),
    [("too_large", "RESOURCE_EXHAUSTED"), ("damaged", "INTERNAL"), ("unknown_device", "INVALID_ARGUMENT")],
)
def test_other_errors_are_the_same_wherever_they_arise(kind: str, code: str, other_results: dict[str, Any]) -> None:
    free, locked = other_results[kind]
    assert free == locked
    assert free[0] == code


def test_the_child_is_not_recorded(program_run: Run) -> None:
    assert len(calls_of(program_run.capture, "PJRT_Compile")) == 2 * len(KINDS)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("matter", "code", "message"),
    [
        pytest.param(
            "failing_interpreter", "INTERNAL", "(/bin/false) ended with exit status 1", id="failing_interpreter"
        ),
        pytest.param(
            "no_interpreter", "INTERNAL", "(/no/such/python) could not be started: No such file", id="no_interpreter"
        ),
        pytest.param("no_client", "FAILED_PRECONDITION", "only after a client was created", id="no_client"),
    ],
)
def test_a_child_that_cannot_start_is_an_error(matter: str, code: str, message: str, tmp_path: Path) -> None:
    # With the mock as JAX's platform, JAX itself would create a client.
    program_run = run("compile_locked.py", matter, folder=tmp_path, JAX_PLATFORMS="cpu", FRAMEDEX_RECORD="0")
    free, locked = program_run.result[matter]
    assert free["output_bytes"] == 32
    assert locked[0] == code
    assert message in locked[1]

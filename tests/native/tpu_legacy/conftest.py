"""JAX 0.4.13, the last version that uses the TPU C API, and runs of its programs.

Also the scripts of native/abi as modules.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import pythons
from tests.pythons import ROOT
from tests.reading import Call, calls_of
from tests.running import Run, run

sys.path.append(str(ROOT / "native" / "abi"))

ENVIRONMENT = {"JAX_USE_PJRT_C_API_ON_TPU": "0", "JAX_PLATFORMS": "tpu,cpu", "TPU_LOAD_LIBRARY": "1"}
RunLegacy = Callable[..., Run]


@pytest.fixture(scope="session")
def legacy_python() -> str:
    """The path of an interpreter with JAX 0.4.13."""
    found = pythons.with_legacy_jax()
    if found is None:
        pytest.skip("no JAX 0.4.13 here: scripts/legacy-python makes .venv-legacy, FRAMEDEX_TEST_PYTHONS names others")
    return found.path


@pytest.fixture(scope="session")
def run_legacy(legacy_python: str) -> RunLegacy:
    """`tests.running.run` in that interpreter; every stack is walked a second time by libgcc and compared."""

    def run_it(program: str, *arguments: str, folder: Path, **environment: str) -> Run:
        settings = ENVIRONMENT | {"FRAMEDEX_VERIFY": "1"} | environment
        return run(program, *arguments, folder=folder, python=legacy_python, **settings)

    return run_it


@pytest.fixture(scope="module")
def result(program_run: Run) -> dict[str, Any]:
    """The output of `program_run` in the test module."""
    found: dict[str, Any] = program_run.result
    return found


@pytest.fixture(scope="module")
def calls(program_run: Run) -> list[Call]:
    """The recording of that run."""
    return calls_of(program_run.capture)

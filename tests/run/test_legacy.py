"""`framedex run` with JAX 0.4.13: detected automatically, and unsupported features are reported before the start."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import pythons
from tests.pythons import ROOT
from tests.reading import calls_of
from tests.run.invoking import framedex_run

pytestmark = pytest.mark.exhaustive

PROGRAM = str(ROOT / "demo" / "seed_trace.py")


@pytest.fixture(scope="module")
def legacy() -> str:
    """The path of an interpreter with JAX 0.4.13."""
    found = pythons.with_legacy_jax()
    if found is None:
        pytest.skip("no JAX 0.4.13 here: scripts/legacy-python makes .venv-legacy, FRAMEDEX_TEST_PYTHONS names others")
    return found.path


def test_the_legacy_environment_is_set(legacy: str, tmp_path: Path) -> None:
    ended = framedex_run("--python", legacy, "--devices", "2", PROGRAM, folder=tmp_path)
    assert (ended.status, ended.stdout) == (0, b"1 1\n"), ended.stderr
    functions = {call.function for call in calls_of(tmp_path / ended.capture)}
    assert {"TfTpu_Initialize", "TpuExecutor_Allocate", "TpuExecutor_Deallocate", "TpuStream_Free"} <= functions
    assert not any(function.startswith("PJRT_") for function in functions)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--devices", "9"], "FRAMEDEX_DEVICES=9 is not a number of cores from 1 to 8"),
        (["--device", "v5e"], "FRAMEDEX_DEVICE=v5e is not v2 or v3"),
        (["--fail", "device:1"], "FRAMEDEX_FAIL is set, but the mock does not support it for jaxlib 0.4.13"),
        (["--dry-run"], "FRAMEDEX_DRY_RUN is set, but the mock does not support it for jaxlib 0.4.13"),
    ],
)
def test_an_unsupported_legacy_machine_is_refused(
    legacy: str, tmp_path: Path, options: list[str], problem: str
) -> None:
    ended = framedex_run("--python", legacy, *options, PROGRAM, folder=tmp_path)
    assert ended.status == 1
    assert problem in ended.said[0]
    assert "Check --device, --devices and --hbm" in ended.stderr.decode().splitlines()[1]

"""A program computes, raises, prints and exports the same, whether its handlers are traced or not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.ffi_running import CPU, FfiRun, mock_tpu, run_ffi, run_untraced


@pytest.mark.parametrize("platform", ["cpu", "tpu"])
def test_everything_that_a_program_sees(platform: str, tmp_path: Path) -> None:
    environment = CPU if platform == "cpu" else mock_tpu()
    plain = run_untraced("ffi_faithful.py", folder=tmp_path, **environment)
    traced = run_ffi("ffi_faithful.py", folder=tmp_path, **environment)
    assert comparable(traced) == comparable(plain)
    assert len(traced.calls("rms_norm")) > 5


def test_everything_that_another_python_sees(python: str, tmp_path: Path) -> None:
    plain = run_untraced("ffi_faithful.py", folder=tmp_path, python=python, **CPU)
    traced = run_ffi("ffi_faithful.py", folder=tmp_path, python=python, **CPU)
    assert comparable(traced) == comparable(plain)


def test_an_executable_made_under_recording_runs_without(tmp_path: Path) -> None:
    made = run_ffi("ffi_faithful.py", str(tmp_path / "executable"), folder=tmp_path, **CPU)
    loaded = run_untraced("ffi_faithful.py", str(tmp_path / "executable"), folder=tmp_path, **CPU)
    assert (tmp_path / "executable").exists()
    assert comparable(loaded) == comparable(made)


def comparable(ended: FfiRun) -> tuple[int, str, str]:
    """Status and output, without addresses."""
    return ended.status, re.sub(r"0x[0-9a-f]+", "*", ended.stdout), re.sub(r"0x[0-9a-f]+", "*", ended.stderr)

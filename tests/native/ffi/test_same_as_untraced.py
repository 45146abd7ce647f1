"""A program computes, raises, prints and exports the same with and without recorded handlers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.ffi_running import CPU, FfiRun, mock_tpu, run_ffi, run_untraced

pytestmark = pytest.mark.own_start


def test_a_traced_program_and_its_executable_behave_as_untraced(python: str, tmp_path: Path) -> None:
    """The unrecorded program loads the executable of the recorded one, and prints the same from its first line on."""
    executable = tmp_path / "executable"
    traced = run_ffi("ffi_faithful.py", str(executable), folder=tmp_path, python=python, **CPU)
    assert executable.exists()
    plain = run_untraced("ffi_faithful.py", str(executable), folder=tmp_path, python=python, **CPU)
    assert comparable(traced) == comparable(plain)
    assert len(traced.calls("rms_norm")) > 5


@pytest.mark.exhaustive
def test_a_traced_program_on_the_mock_tpu_behaves_as_untraced(tmp_path: Path) -> None:
    plain = run_untraced("ffi_faithful.py", folder=tmp_path, **mock_tpu())
    traced = run_ffi("ffi_faithful.py", folder=tmp_path, **mock_tpu())
    assert comparable(traced) == comparable(plain)
    assert len(traced.calls("rms_norm")) > 5


def comparable(completed: FfiRun) -> tuple[int, str, str]:
    """Status and output, without addresses."""
    return (
        completed.status,
        re.sub(r"0x[0-9a-f]+", "*", completed.stdout),
        re.sub(r"0x[0-9a-f]+", "*", completed.stderr),
    )

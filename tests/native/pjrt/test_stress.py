"""Six threads of mixed work on the mock's devices and the CPU's: every number right, no hang.

FRAMEDEX_TEST_STRESS sets the seconds; `make test-all` sets 60.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.running import PROGRAMS, Run, mock_environment

pytestmark = pytest.mark.exhaustive

SECONDS = os.environ.get("FRAMEDEX_TEST_STRESS", "4")


@pytest.mark.parametrize("way", ["unrecorded", "recorded"])
def test_six_threads_with_mixed_work_compute_correct_results(way: str, tmp_path: Path) -> None:
    settings = {"FRAMEDEX_DEVICES": "8", "JAX_PLATFORMS": "tpu,cpu", "JAX_NUM_CPU_DEVICES": "2"}
    settings |= {"FRAMEDEX_RECORD": "0"} if way == "unrecorded" else {}
    command = [sys.executable, str(PROGRAMS / "stress.py"), SECONDS]
    result = Run.of(command, tmp_path, mock_environment(tmp_path) | settings, float(SECONDS) + 200).result
    assert result["failures"] == []
    assert set(result["kinds"]) == set(result["all"])

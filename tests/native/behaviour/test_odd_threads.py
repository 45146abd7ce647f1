"""Behaviours in unsafe situations: native threads, a held GIL, forks, and interpreter exit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.running import plain_environment

PROGRAM = Path(__file__).with_name("odd_threads.py")
TRIALS = int(os.environ.get("FRAMEDEX_TRIALS", "1"))


@pytest.fixture(scope="module")
def completed() -> subprocess.CompletedProcess[str]:
    environment = plain_environment() | {"FRAMEDEX_BEHAVIOUR_PATIENCE": "0.4"}
    command = [sys.executable, str(PROGRAM)]
    for _ in range(TRIALS):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            break
    return done


@pytest.fixture(scope="module")
def reports(completed: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(completed.stdout)
    return found


def test_a_call_that_would_deadlock_on_the_lock_runs_without_behaviours(reports: dict[str, Any]) -> None:
    assert reports["held"]["seen"] <= 1  # its helper thread may arrive afterwards
    assert 0.2 <= reports["held"]["seconds"] < 10


def test_skipped_behaviours_are_reported(completed: subprocess.CompletedProcess[str]) -> None:
    assert "a behaviour on PJRT_Event_IsReady was left out: another thread held the GIL" in completed.stderr


def test_a_behaviour_that_takes_too_long_is_abandoned(reports: dict[str, Any]) -> None:
    assert not reports["slow"]["ready"]
    assert 1 <= reports["slow"]["seconds"] < 60


def test_runtime_time_does_not_count_as_behaviour_time(reports: dict[str, Any]) -> None:
    assert reports["waiting"]["reports"] == 1
    assert reports["waiting"]["error"] is None


def test_a_function_without_an_error_result_returns_its_original_result(
    reports: dict[str, Any], completed: subprocess.CompletedProcess[str]
) -> None:
    assert reports["void"]["message"] == "said by a behaviour"
    assert "PJRT_Error_Message cannot return an error, so it is printed here: said to nobody" in completed.stderr


def test_a_hanging_behaviour_is_reported_with_its_stack(completed: subprocess.CompletedProcess[str]) -> None:
    line = PROGRAM.read_text().splitlines().index('    ways["now"] = lambda call: is_over.wait(60)') + 1
    assert completed.stderr.count("has not ended for 0.4 s") == 1
    assert f'odd_threads.py", line {line} in <lambda>' in completed.stderr


def test_a_forked_child_has_no_behaviours(reports: dict[str, Any]) -> None:
    assert reports["forked"]["seen"] == 0


def test_the_program_exits_during_calls(completed: subprocess.CompletedProcess[str]) -> None:
    assert completed.returncode == 0, completed.stderr

"""A program of several processes: each opens its own host's share of one machine."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.running import PROGRAMS, TIMEOUT, mock_environment

COUNT = 2


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str]]:
    """Standard output and standard error of two processes on a v5e:4x2."""
    folder = tmp_path_factory.mktemp("processes")
    with socket.create_server(("localhost", 0)) as server:
        port = server.getsockname()[1]
    processes = [start(folder, index, port) for index in range(COUNT)]
    outputs = [process.communicate(timeout=TIMEOUT) for process in processes]
    assert [process.returncode for process in processes] == [0] * COUNT, outputs
    return outputs


@pytest.fixture(scope="module")
def seen(outputs: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """The machine as each process sees it."""
    return [json.loads(stdout.splitlines()[-1]) for stdout, _ in outputs]


def start(folder: Path, index: int, port: int) -> subprocess.Popen[str]:
    """One process of `distributed.py`."""
    return subprocess.Popen(
        [sys.executable, str(PROGRAMS / "distributed.py"), str(index), str(COUNT), str(port)],
        env=mock_environment(folder) | {"FRAMEDEX_DEVICE": "v5e:4x2"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_processes_agree_on_the_machine(seen: list[dict[str, Any]]) -> None:
    assert [process["process"] for process in seen] == [[0, COUNT], [1, COUNT]]
    assert seen[0]["devices"] == seen[1]["devices"]
    assert [device[:2] for device in seen[0]["devices"]] == [
        [0, 0], [1, 0], [4, 0], [5, 0], [2, 1], [3, 1], [6, 1], [7, 1],
    ]  # fmt: skip


def test_each_process_has_its_own_devices(seen: list[dict[str, Any]]) -> None:
    assert [process["local"] for process in seen] == [[0, 1, 4, 5], [2, 3, 6, 7]]


def test_each_process_has_its_shards_of_a_global_array(seen: list[dict[str, Any]]) -> None:
    assert {tuple(process["shape"]) for process in seen} == {(8,)}
    values = [sorted(value for (value,) in process["shards"].values()) for process in seen]
    assert values == [[0, 1, 2, 3], [100, 101, 102, 103]]


def test_processes_run_programs_together(seen: list[dict[str, Any]]) -> None:
    assert [process["sum"] for process in seen] == [412, 412]
    doubled = [sorted(value for (value,) in process["doubled"].values()) for process in seen]
    assert doubled == [[0, 2, 4, 6], [200, 202, 204, 206]]


def test_programs_call_back_the_process_of_their_device(seen: list[dict[str, Any]]) -> None:
    assert [process["told"] for process in seen] == [process["local"] for process in seen]


def test_shutdown_prints_no_warning(outputs: list[tuple[str, str]]) -> None:
    told = [line for _, stderr in outputs for line in stderr.splitlines() if re.match(r"[WEF]\d{4} |.*Warning: ", line)]
    assert [line for line in told if "slow_operation_alarm" not in line] == []  # the alarm is about the machine's load
    assert not any("WatchTasksAsync" in stderr or "CANCELLED" in stderr for _, stderr in outputs)

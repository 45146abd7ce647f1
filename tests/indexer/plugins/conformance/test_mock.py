"""The mock TPU passes the conformance kit."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def failures(folder: Path, *arguments: str) -> tuple[list[str], int]:
    """The failed checks of the mock, and the number of passed ones."""
    command = [sys.executable, "-m", "framedex", "conform", "--json", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.stdout, done.stderr
    document = json.loads(done.stdout)
    failed = [
        f"{each['name']}: {each['detail']} {each['stack']}"
        for each in document["checks"]
        if each["status"] in ("fail", "crash", "hang")
    ]
    assert done.returncode == bool(failed)
    return failed, document["counts"]["pass"]


def test_the_mock_compiles_and_runs_programs_as_the_api_demands(tmp_path: Path) -> None:
    groups = ("compiling", "executing", "buffers", "clients")

    failed, passed = failures(tmp_path, *(f"--only={group}" for group in groups))

    assert not failed
    assert passed >= 120


@pytest.mark.exhaustive
def test_the_mock_passes_every_check(tmp_path: Path) -> None:
    failed, passed = failures(tmp_path)

    assert not failed
    assert passed >= 400

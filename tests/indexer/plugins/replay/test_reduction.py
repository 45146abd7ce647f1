"""A recording is reduced to the smallest one that still shows a fault."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.plugins.replay.recording_file import DamagedRecordingError, read_recording
from tests.indexer.plugins.replay.test_replay import CRASH, line_of, recorded
from tests.running import PROGRAMS, plain_environment


def reduce(tmp_path: Path, keep: str, name: str) -> Result:
    return CliRunner().invoke(cli, ["reduce", str(recorded(name)), "--keep", keep, "-o", str(tmp_path / "small")])


def replay(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, ["replay", *map(str, arguments)])


@pytest.mark.exhaustive
def test_a_difference_is_reduced_to_one_op(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(PROGRAMS / "op_fault.py"))
    monkeypatch.setenv("FAULT", f"tanh@{line_of('jnp.tanh(x @ weights')}")
    done = reduce(tmp_path, "differs", "trained")
    assert done.exit_code == 0, done.stderr
    assert "4 executions to 1 execution" in done.stdout and "ops to 1" in done.stdout
    found = json.loads(replay(tmp_path / "small.fdxreplay", "--json").stdout)
    assert (found["status"], found["executions"], len(found["differences"])) == (1, 1, 1)
    origin = found["bisection"]["origin"]
    assert origin["op"]["kind"] == "stablehlo.tanh"
    assert origin["op"]["line"]["location"]["line"] == line_of("jnp.tanh(x @ weights")
    monkeypatch.delenv("FRAMEDEX_BEHAVIOUR")
    assert replay(tmp_path / "small.fdxreplay").exit_code == 0
    script = [sys.executable, str(tmp_path / "small.py")]
    shown = subprocess.run(
        script, env=plain_environment() | {"JAX_PLATFORMS": "cpu"}, capture_output=True, text=True, check=True
    )
    here, expected = shown.stdout.split("expected")
    assert (
        here.removeprefix("here").split() == expected.split()
        and "stablehlo.tanh" in (tmp_path / "small.py").read_text()
    )


@pytest.mark.exhaustive
def test_a_nan_is_reduced_to_one_op(tmp_path: Path) -> None:
    done = reduce(tmp_path, "nan", "not_a_number")
    assert "3 executions to 1 execution" in done.stdout and "op to 1\n" in done.stdout
    found = json.loads(replay(tmp_path / "small.fdxreplay", "--find-nan", "--json").stdout)
    assert found["bisection"]["origin"]["op"]["kind"] == "stablehlo.log"


@pytest.mark.exhaustive
def test_a_crash_is_reduced_to_its_execution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "crash.py").write_text(CRASH)
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(tmp_path / "crash.py"))
    done = reduce(tmp_path, "crash", "trained")
    assert "4 executions to 1 execution" in done.stdout and not (tmp_path / "small.py").exists()
    found = json.loads(replay(tmp_path / "small.fdxreplay", "--json").stdout)
    assert "SIGABRT" in found["crashes"][0]["reason"]
    assert found["crashes"][0]["call"]["line"]["location"]["line"] == line_of("weights, value = step(")


def test_a_compile_error_is_reduced_to_the_compilation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FRAMEDEX_FAIL", "PJRT_Client_Compile=RESOURCE_EXHAUSTED:too large")
    done = reduce(tmp_path, "error", "trained")
    assert "4 executions to 0 executions" in done.stdout, done.stderr
    assert "too large" in replay(tmp_path / "small.fdxreplay").stdout


def test_a_recording_without_the_fault_is_refused(tmp_path: Path) -> None:
    done = reduce(tmp_path, "differs", "jitted")
    assert done.exit_code == 2 and "does not show this fault: differs" in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_damaged_file_ends_in_a_message(tmp_path: Path) -> None:
    file = tmp_path / "small.fdxreplay"
    good = {"format": "framedex-recording", "version": 1, "command": "", "machine": ["", 1], "plan": []}
    good |= {"reads": {}, "programs": {}, "calls": {}}
    changes: list[dict[str, Any]] = [
        {"version": 2},
        {"plan": ["execute 1 2"]},
        {"plan": 5},
        {"machine": 3},
        {"reads": []},
        {"calls": {"a": 1}},
    ]
    for changed in changes:
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("recording.json", json.dumps(good | changed))
            archive.writestr("buffers/../../outside", b"content")
        with pytest.raises(DamagedRecordingError):
            read_recording(file, tmp_path / "capture")
    file.write_bytes(file.read_bytes()[:-30])
    done = replay(file)
    assert done.exit_code == 2 and "is not a recording, or is damaged" in done.stderr
    assert {each.name for each in tmp_path.iterdir()} <= {"small.fdxreplay", "capture"}

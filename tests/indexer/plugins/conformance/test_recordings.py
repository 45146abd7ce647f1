"""`framedex conform --recordings`: each recording is a check."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from tests.indexer.plugins.replay.test_replay import CRASH, FAULT, recorded
from tests.running import build_with_api

OPTIONS = """\
from framedex_native.behaviour import on

EXPECTED = {"text": "a b", "number": -3, "share": 0.5, "flag": True, "empty": ""}


@on("PJRT_Client_Create")
def check(call):
    if call.arguments.create_options != EXPECTED:
        call.fail("INVALID_ARGUMENT", f"other options: {call.arguments.create_options}")
"""


def conform(folder: Path, *arguments: str | Path) -> tuple[int, dict[str, Any]]:
    """The exit status, and the check of the only recording."""
    chosen = ["conform", *map(str, arguments), "--only", "recordings", "--recordings", str(folder), "--json"]
    done = CliRunner().invoke(cli, chosen)
    assert done.stdout, done.stderr
    (found,) = json.loads(done.stdout)["checks"]
    return done.exit_code, found


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one recording in a file."""
    folder = tmp_path_factory.mktemp("recordings")
    done = CliRunner().invoke(cli, ["replay", str(recorded("trained")), "--step", "1", "-o", str(folder / "trained")])
    assert done.exit_code == 0, done.output
    return folder


@pytest.mark.exhaustive(keep=["equal"])
@pytest.mark.parametrize(
    ("behaviour", "status", "detail"),
    [
        ("", "pass", "1 content equal"),
        (FAULT, "fail", "1 content of 1 differ, the first: jit_step, execution 1: F32[], 1 of 1 element"),
        (CRASH, "crash", "jit_step, execution 1: its process was ended by SIGABRT"),
        ("import subprocess, time\nfrom framedex_native.behaviour import runs\n\n\n@runs('jit_step')\n"
         "def wait(program):\n    subprocess.Popen(['sleep', '60'], close_fds=False)\n    time.sleep(3600)\n",
         "hang", "it exceeded its time limit"),
    ],
    ids=["equal", "differs", "crashes", "hangs"],
)  # fmt: skip
def test_a_recording_is_a_check(
    recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behaviour: str, status: str, detail: str
) -> None:
    limit = ["--limit", "5"] if status == "hang" else []
    if behaviour:
        (tmp_path / "behaviour.py").write_text(behaviour)
        monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(tmp_path / "behaviour.py"))
    code, found = conform(recordings, *limit)
    assert (found["name"], found["status"]) == ("recordings.trained", status) and found["detail"].endswith(detail)
    assert code == int(status != "pass")


def test_recordings_are_replayed_with_the_options(
    recordings: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "behaviour.py").write_text(OPTIONS)
    monkeypatch.setenv("FRAMEDEX_BEHAVIOUR", str(tmp_path / "behaviour.py"))
    given = ["text=a b", "number=-3", "share=0.5", "flag=true", "empty="]
    code, found = conform(recordings, *(word for each in given for word in ("--option", each)))
    assert (code, found["status"]) == (0, "pass"), found["detail"]
    assert conform(recordings, "--option", "text=other")[1]["status"] == "skipped"
    for out_of_range in ("number=99999999999999999999", "share=1e50"):
        done = CliRunner().invoke(cli, ["conform", "--option", out_of_range])
        assert done.exit_code == 2 and "is not in the range of" in done.output
    monkeypatch.delenv("FRAMEDEX_BEHAVIOUR")


def test_without_a_client_recordings_are_skipped(recordings: Path, tmp_path: Path) -> None:
    plugin = build_with_api("conformance_plugin.cc", tmp_path / "plugin.so", "-shared", "-fPIC", "-O0")
    code, found = conform(recordings, plugin)
    assert (code, found["status"], found["detail"]) == (0, "skipped", "not implemented.")


def test_a_damaged_recording_fails_alone(recordings: Path, tmp_path: Path) -> None:
    shutil.copytree(recordings, tmp_path / "some")
    (tmp_path / "some" / "broken.fdxreplay").write_bytes(b"PK")
    arguments = ["--only", "recordings", "--recordings", str(tmp_path / "some"), "--json"]
    done = CliRunner().invoke(cli, ["conform", *arguments])
    checks = {each["name"]: each for each in json.loads(done.stdout)["checks"]}
    assert checks["recordings.trained"]["status"] == "pass"
    assert checks["recordings.broken"]["status"] == "fail" and "is damaged" in checks["recordings.broken"]["detail"]
    assert done.exit_code == 1


def test_captures_are_recordings_too(tmp_path: Path) -> None:
    shutil.copytree(recorded("trained"), tmp_path / "runs" / "first")
    done = CliRunner().invoke(cli, ["conform", "--list", "--only", "recordings.*", "--recordings", str(tmp_path)])
    assert "recordings.runs/first" in done.stdout and done.stdout.endswith("1 check of 0 functions\n")
    none = CliRunner().invoke(cli, ["conform", "--recordings", str(tmp_path / "runs" / "first" / "buffers")])
    assert none.exit_code == 1 and "is not a capture and contains none" in none.stderr

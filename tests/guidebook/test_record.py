"""Recording the guidebook's programs: current captures are reused, and failed recordings are discarded."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from framedex.captures import capture_folders
from guidebook import environments, reach, record
from guidebook.plan import Download, Plan, PythonRecipe, Recording
from tests.once import made_once
from tests.pythons import ROOT
from tests.reading import calls_of

CHOSEN = ("jax-newest/device_put", "jax-newest/error", "mock/client")


@dataclass(frozen=True)
class Recorded:
    """The folder of the selected programs' captures, and the outcomes."""

    captures: Path
    problems: list[str]


def chosen() -> list[Recording]:
    """A few of the planned recordings."""
    return [one for one in Plan.read().recordings if one.name in CHOSEN]


def record_them(folder: Path) -> Recorded:
    """Record into `folder/captures`."""
    captures = folder / "captures"
    captures.mkdir()
    return Recorded(captures, [outcome.problem for outcome in record.record(chosen(), captures, jobs=2)])


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    """The selected programs, recorded once."""
    return made_once("guidebook-recorded", record_them)


def capture_of(recorded: Recorded, name: str) -> Path:
    (capture,) = capture_folders(recorded.captures / name)
    return capture


def test_recording_writes_a_capture_for_each_program(recorded: Recorded) -> None:
    assert recorded.problems == ["", "", ""]
    assert all(capture_of(recorded, name) for name in CHOSEN)
    assert not list(recorded.captures.glob(".recording-*"))


def test_options_reach_the_mock(recorded: Recorded) -> None:
    calls = calls_of(capture_of(recorded, "jax-newest/error"), "PJRT_Client_BufferFromHostBuffer")
    assert any(call.error > 0 for call in calls)


def test_a_c_client_calls_functions_that_jax_does_not_call(recorded: Recorded) -> None:
    by_jax = reach.called_functions([capture_of(recorded, "jax-newest/device_put")])
    by_client = reach.called_functions([capture_of(recorded, "mock/client")])
    assert "PJRT_Client_CreateErrorBuffer" in by_client - by_jax
    assert "PJRT_Client_BufferFromHostBuffer" in by_client & by_jax


def test_up_to_date_captures_are_not_recorded_again(recorded: Recorded) -> None:
    assert record.record(chosen(), recorded.captures, jobs=2) == []


@pytest.mark.exhaustive
def test_a_failing_program_keeps_the_previous_capture(tmp_path: Path) -> None:
    program = tmp_path / "failing.py"
    program.write_text("import jax\njax.devices()\nraise SystemExit(3)\n", encoding="utf-8")
    failing = Recording(program, chosen()[0].environment, (), None)
    before = tmp_path / "captures" / failing.name / "kept"
    before.mkdir(parents=True)
    (outcome,) = record.record([failing], tmp_path / "captures", jobs=1)
    assert outcome.problem.startswith("status 3\n")
    assert before.is_dir() and not list((tmp_path / "captures").glob(".recording-*"))


@pytest.mark.exhaustive
def test_two_recorders_take_turns(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "guidebook.record", "--only", "mock/client", "--out", str(tmp_path)]
    both = [subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = sorted(process.communicate()[1] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert [sum(f"{count} programs to record" in text for text in told) for count in (1, 0)] == [1, 1]


def test_leftovers_of_an_interrupted_recording_are_removed(tmp_path: Path) -> None:
    left = tmp_path / ".recording-abc" / "made"
    left.mkdir(parents=True)
    other = tmp_path / "jax-newest" / "forgotten" / record.KEY_FILE
    other.parent.mkdir(parents=True)
    other.write_text(json.dumps({"key": "of another time"}), encoding="utf-8")
    assert record.main(["--only", "no such program", "--out", str(tmp_path)]) == 2
    assert left.is_dir()
    assert record.main(["--only", "mock/client", "--out", str(tmp_path)]) == 0
    assert not left.exists() and other.exists()


def test_unplanned_captures_are_removed_and_foreign_folders_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forgotten, foreign = tmp_path / "jax-old" / "forgotten", tmp_path / "thesis" / "chapters"
    for folder in (forgotten, foreign):
        folder.mkdir(parents=True)
    (forgotten / record.KEY_FILE).write_text(json.dumps({"key": "of another time"}), encoding="utf-8")
    of_the_mock = Plan(tuple(one for one in Plan.read().recordings if one.name == "mock/client"))
    monkeypatch.setattr(Plan, "read", lambda: of_the_mock)
    assert record.main(["--out", str(tmp_path)]) == 0
    assert not forgotten.exists() and foreign.is_dir()
    assert list(capture_folders(tmp_path / "mock" / "client"))


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (PythonRecipe("none", folder="no/such/folder"), "no/such/folder has no Python"),
        (PythonRecipe("old", version="2.7", packages=("jax",)), "Python 2.7 was not found"),
    ],
)
def test_an_unavailable_python_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: PythonRecipe, message: str
) -> None:
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    with pytest.raises(environments.SkippedEnvironmentError, match=message):
        environments.make_python(recipe)


@pytest.mark.exhaustive
def test_an_unavailable_package_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "FOLDER", tmp_path)
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    with pytest.raises(environments.SkippedEnvironmentError, match="Check the network"):
        environments.get_file(Download("none", "framedex-no-such-package", "none.so"))
    assert not list(tmp_path.glob("none/none.so"))

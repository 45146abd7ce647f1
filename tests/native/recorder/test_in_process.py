"""Recordings that a program starts and stops itself, through framedex_native."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import framedex_native
from framedex.captures import capture_folders, read_capture
from framedex.model import MergeOutcome
from framedex_native import _native
from tests.reading import Call, calls_of
from tests.running import PROGRAMS, plain_environment

PUT = "PJRT_Client_BufferFromHostBuffer"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """`in_process.py` run once."""
    folder = tmp_path_factory.mktemp("in_process")
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "in_process.py"), str(folder / "captures")],
        env=plain_environment() | {"TPU_LIBRARY_PATH": str(framedex_native.library_path())},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found | {"folder": folder}


def recorded(result: dict[str, Any], name: str) -> list[int]:
    """The sizes of the sent arrays in a recording."""
    return [call.arguments["dims"][0] for call in calls_of(Path(result["recordings"][name]), PUT)]


def test_start_stop_and_current_capture_agree(result: dict[str, Any]) -> None:
    assert result["problems"] == []


def test_each_recording_has_the_calls_between_start_and_stop(result: dict[str, Any]) -> None:
    assert recorded(result, "first") == [2, 3]
    assert recorded(result, "second") == [5, 6]


def test_a_second_start_is_refused_and_the_recording_continues(result: dict[str, Any]) -> None:
    running = result["recordings"]["refused a second"]
    assert result["refusals"][0] == f"a recording is already running, into {running}. Stop it first."
    assert recorded(result, "refused a second") == [7]


def test_a_folder_that_cannot_be_created_is_an_error(result: dict[str, Any]) -> None:
    assert result["refusals"][1].startswith("cannot create the folder file/captures: Not a directory.")


def test_a_call_in_progress_at_the_stop_is_completed_in_the_capture(result: dict[str, Any]) -> None:
    completed, begun = (Path(result["recordings"][name]) for name in ("ended inside", "begun inside"))
    (call,) = entered_by_the_program(completed)
    assert (call.error, call.duration > 0) == (0, True)
    assert recorded(result, "ended inside") == [8]
    assert recorded(result, "begun inside") == [10, 11]
    assert entered_by_the_program(begun) == []


def test_a_nested_call_has_both_calls_on_its_stack(result: dict[str, Any]) -> None:
    (inner,) = calls_of(Path(result["recordings"]["ended inside"]), PUT)
    names = [frame.name for frame in inner.frames]
    assert "callback" in names
    library = [index for index, frame in enumerate(inner.frames) if frame.file.endswith("/libtpu.so")]
    assert library[0] < names.index("callback") < library[-1]


def test_busy_threads_survive_starting_and_stopping_recordings(result: dict[str, Any]) -> None:
    for number in range(20):
        capture = Path(result["recordings"][f"restart {number}"])
        assert read_capture(capture).problems == ()
        calls = calls_of(capture)
        assert [call for call in calls if sent(call) == [13]] != []
        assert all(call.outcome is MergeOutcome.MERGED for call in calls)


def test_captures_are_listed_by_start_time(result: dict[str, Any]) -> None:
    listed = capture_folders(result["folder"] / "captures")
    starts = [read_capture(capture).metadata.started_clock_ns or 0 for capture in listed]
    assert starts == sorted(starts)
    assert len(listed) == 25


def entered_by_the_program(capture: Path) -> list[Call]:
    """The calls of PJRT_Event_OnReady from the program's own table; JAX makes others."""
    calls = calls_of(capture, "PJRT_Event_OnReady")
    return [call for call in calls if [frame for frame in call.frames if frame.is_python][-1].name == "Table._enter"]


def sent(call: Call) -> list[int]:
    """The dimensions of the sent array; empty for other calls."""
    dims: list[int] = call.arguments.get("dims", []) if call.function == PUT else []
    return dims


def test_a_stopped_capture_is_marked(result: dict[str, Any]) -> None:
    stopped = {name: _native.count_records(os.fsencode(path))["stopped"] for name, path in result["recordings"].items()}
    assert stopped
    assert all(stopped.values())


def test_a_forked_child_records_in_its_parents_folder_after_chdir(tmp_path: Path) -> None:
    program = (
        "import os\n"
        "import jax, numpy as np, framedex_native\n"
        "framedex_native.start('captures')\n"
        "jax.device_put(np.zeros(3, np.int8))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os.chdir('/')\n"
        "    jax.device_put(np.zeros(4, np.int8))\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
    )
    environment = plain_environment() | {"TPU_LIBRARY_PATH": str(framedex_native.library_path())}
    subprocess.run([sys.executable, "-c", program], env=environment, cwd=tmp_path, check=True, capture_output=True)
    sizes = [
        call.arguments["dims"] for capture in capture_folders(tmp_path / "captures") for call in calls_of(capture, PUT)
    ]
    assert sorted(sizes) == [[3], [4]]


def test_a_folder_with_an_undecodable_name_is_recorded_to(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff"))
    program = (
        "import sys\n"
        "import jax, framedex_native\n"
        "with framedex_native.recording(sys.argv[1]) as capture:\n"
        "    jax.device_put(1)\n"
        "assert framedex_native.current_capture() is None\n"
    )
    environment = plain_environment() | {"TPU_LIBRARY_PATH": str(framedex_native.library_path())}
    subprocess.run([sys.executable, "-c", program, folder], env=environment, check=True, capture_output=True)
    (capture,) = capture_folders(folder)
    assert len(calls_of(capture, PUT)) == 1

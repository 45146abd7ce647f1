"""Purely native stacks: each matches libgcc's, and none of them harms the program."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from framedex.captures import read_capture
from framedex.model import Capture, MergeOutcome, NativeFrame
from framedex_native import _native
from tests.running import PROGRAMS, Run, run

pytestmark = pytest.mark.exhaustive  # test_recording_settings.py compares stacks with libgcc's in `make test`


@pytest.fixture(scope="module")
def completed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The program run once, with every stack compared with libgcc's."""
    folder = tmp_path_factory.mktemp("native_paths")
    libraries = [folder / name for name in ("paths.so", "first.so", "second.so")]
    for library, options in zip(libraries, (["-O1"], ["-O1"], ["-O0", "-fno-omit-frame-pointer"]), strict=True):
        command = ["g++", "-shared", "-fPIC", *options, str(PROGRAMS / "native_paths.cc"), "-o", str(library)]
        subprocess.run(command, check=True)
    return run("native_paths.py", *map(str, libraries), folder=folder, FRAMEDEX_VERIFY="1")


@pytest.fixture(scope="module")
def capture(completed: Run) -> Capture:
    """The recorded capture."""
    return read_capture(completed.capture)


def stacks(capture: Capture, function: str) -> list[list[str]]:
    """The stacks of a function's calls, outermost first: the binary's name for native frames, `python` for others."""
    number = [entry.name for entry in capture.functions].index(function)
    chosen = [call for call in range(len(capture.calls)) if capture.calls.function[call] == number]
    return [
        [place(capture, index) for index in reversed(capture.stacks[capture.calls.stack[call]].frames)]
        for call in chosen
    ]


def place(capture: Capture, index: int) -> str:
    """The location of a frame."""
    frame = capture.frames[index]
    if not isinstance(frame, NativeFrame):
        return "python"
    return os.path.basename(capture.modules[frame.module].path) if frame.module >= 0 else "nowhere"  # noqa: PTH119


def test_every_stack_equals_that_of_libgcc(completed: Run) -> None:
    counts = _native.count_records(os.fsencode(completed.capture))
    assert counts["verified"] > 100_000
    assert counts["different"] == 0


def test_calls_during_an_exception_and_from_a_foreign_thread_are_complete(capture: Capture) -> None:
    exception, foreign = (stack for stack in stacks(capture, "PJRT_Client_ProcessIndex") if "paths.so" in stack)
    assert "python" in exception
    assert exception[-1] == "libtpu.so"
    assert "python" not in foreign
    assert foreign[0] == "libc.so.6"
    assert foreign[-1] == "libtpu.so"


def test_native_stacks_end_at_jitted_code_with_separate_python_frames(
    capture: Capture,
) -> None:
    assert ["nowhere", "libtpu.so"] in stacks(capture, "PJRT_Client_ProcessIndex")
    (stack,) = (stack for stack in capture.stacks if len(stack.frames) == 2 and stack.python)
    assert stack.outcome is MergeOutcome.NO_HOST
    assert place(capture, stack.python[-1]) == "python"


def test_a_native_stack_too_deep_for_the_recorder_is_merged_and_marked(capture: Capture) -> None:
    (stack,) = (stack for stack in capture.stacks if stack.is_truncated)
    assert stack.outcome is MergeOutcome.MERGED
    assert (len(stack.frames), stack.python) == (4096, ())
    assert place(capture, stack.frames[0]) == "libtpu.so"


def test_calls_in_a_signal_handler_are_omitted_without_hanging(completed: Run, capture: Capture) -> None:
    assert completed.result > 50
    # The interrupted code may hold any lock, including malloc's, so these stacks cannot be stored.
    assert all("paths.so" not in stack for stack in stacks(capture, "PJRT_Client_PlatformName"))
    puts = stacks(capture, "PJRT_Client_BufferFromHostBuffer")
    assert len(puts) == 20001
    sent = [json.loads(capture.calls.arguments[call]) for call in calls_of_puts(capture)]
    assert {(arguments["type"], tuple(arguments["dims"]), arguments["bytes"]) for arguments in sent} == {
        ("F32", (6,), 24)
    }


def calls_of_puts(capture: Capture) -> list[int]:
    """The numbers of the calls that sent an array."""
    number = [entry.name for entry in capture.functions].index("PJRT_Client_BufferFromHostBuffer")
    return [call for call in range(len(capture.calls)) if capture.calls.function[call] == number]


def test_a_library_loaded_at_a_reused_address_is_distinguished(capture: Capture) -> None:
    through = [stack[-2] for stack in stacks(capture, "PJRT_Client_PlatformVersion")][-40:]
    assert through == ["first.so", "second.so"] * 20
    assert Path(capture.path).is_dir()

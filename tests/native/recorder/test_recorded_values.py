"""Inputs and outputs of a call are recorded exactly, whatever their number of bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import framedex_native
from framedex_native import _native
from tests.native.recorded import recorded
from tests.reading import calls_of
from tests.running import PROGRAMS, plain_environment

PUT = "PJRT_Client_BufferFromHostBuffer"


def test_integers_of_any_size_and_sign_are_recorded(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAMS / "odd_arrays.py"), str(tmp_path / "captures")],
        env=plain_environment() | {"TPU_LIBRARY_PATH": str(framedex_native.library_path())},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    (capture,) = (tmp_path / "captures").iterdir()
    calls = calls_of(capture, PUT)
    assert [[call.arguments["dims"], call.arguments["byte_strides"]] for call in calls] == json.loads(done.stdout)
    assert all(int(call.arguments["client"], 16) > 0 and call.arguments["device"] is None for call in calls)
    assert [call.arguments["bytes"] for call in calls_of(capture, "DeviceMemory::Allocate")] == [
        100,
        200,
        210_000,
        0,
        24,
        160_000,
        4,
    ]


def test_calls_may_return_in_a_later_segment() -> None:
    capture = recorded("many_puts.py", "1200").capture
    assert (capture / "thread-0.fdx").stat().st_size > 2 * _native.SEGMENT_SIZE
    calls = calls_of(capture)
    assert all(call.duration >= 0 and call.error == 0 for call in calls)
    starts = [call.start for call in calls]
    assert starts == sorted(starts)
    assert [call.arguments["dims"] for call in calls if call.function == PUT] == [[n] for n in range(1, 1201)]

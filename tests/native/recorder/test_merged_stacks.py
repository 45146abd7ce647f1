"""The merged stack matches the interpreter's own, frame by frame, for every way into the runtime."""

from __future__ import annotations

import itertools
import os
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from framedex.model import MergeOutcome
from framedex_native import _native
from tests.reading import Call, Frame, calls_of
from tests.running import run

pytestmark = pytest.mark.own_start
PROBED = "PJRT_Device_MemoryStats"
PUT = "PJRT_Client_BufferFromHostBuffer"


class Noted:
    """A run of `sandwiches.py`: its notes, each with its call, and all its calls."""

    def __init__(self, folder: Path, python: str) -> None:
        # This setting makes the recorder walk every stack a second time with libgcc's unwinder and compare.
        done = run("sandwiches.py", folder=folder, python=python, FRAMEDEX_VERIFY="1")
        self.counts = _native.count_records(os.fsencode(done.capture))
        self.calls = calls_of(done.capture)
        self.probes = self._paired(done.result["probes"], PROBED)
        self.puts = self._paired(done.result["puts"], PUT)

    def of(self, case: str) -> list[Call]:
        """The calls of a case on the main thread: the probes, then the puts."""
        return [call for note, call in (*self.probes, *self.puts) if note["case"] == case]

    def _paired(self, notes: list[dict[str, Any]], function: str) -> list[tuple[dict[str, Any], Call]]:
        noted, called = defaultdict(list), defaultdict(list)
        for note in notes:
            noted[note["thread"]].append(note)
        for call in self.calls:
            if call.function == function:
                called[call.tid].append(call)
        assert {thread: len(found) for thread, found in called.items()} == {
            thread: len(found) for thread, found in noted.items()
        }
        return [pair for thread in noted for pair in zip(noted[thread], called[thread], strict=True)]


@pytest.fixture(scope="module")
def noted(python: str, tmp_path_factory: pytest.TempPathFactory) -> Noted:
    """The program run once for each Python."""
    return Noted(tmp_path_factory.mktemp("sandwiches"), python)


def test_every_call_has_the_same_python_frames_as_the_interpreter(noted: Noted) -> None:
    wrong = [note["case"] for note, call in (*noted.probes, *noted.puts) if call.python_frames != note["stack"]]
    assert wrong == []
    assert len(noted.probes) > 150
    assert len(noted.puts) > 30


def test_every_stack_is_merged(noted: Noted) -> None:
    assert {call.outcome for call in noted.calls} == {MergeOutcome.MERGED}


def test_every_stack_equals_that_of_the_libgcc_unwinder(noted: Noted) -> None:
    assert noted.counts["verified"] == len(noted.calls)
    assert noted.counts["different"] == 0


def test_every_stack_begins_at_the_process_entry_and_ends_in_the_library(noted: Noted) -> None:
    assert {Path(call.frames[-1].file).name for call in noted.calls} == {"libtpu.so"}
    assert not any(call.frames[0].is_python for call in noted.calls)
    assert not any(frame.file == "" for call in noted.calls for frame in call.frames)


# The user's function just below jaxlib is `noting`, which replaces the C++ function behind all of JAX's.
@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("straight", "u(j+u)?xt"),
        ("generators", "u+(j+u)?xt"),
        ("callbacks_from_c", "u+p?u*(j+u)?xt"),
        ("ctypes_callbacks", "u(c+u)*xt"),
        ("trees", "uj+x(j*u)+(j+u)?xt"),
    ],
)
def test_python_and_native_frames_interleave_in_call_order(noted: Noted, case: str, expected: str) -> None:
    found = {layers(call) for call in noted.of(case)}
    assert [text for text in found if not re.fullmatch(expected, text)] == []
    assert len(found) > 1


def test_a_python_function_called_from_jaxlib_is_between_its_frames(noted: Noted) -> None:
    # tree_map (Python) -> unflatten (C++) -> a generator and the user's lambda (Python) -> device_put -> C++.
    sandwich = next(call for call in noted.of("trees") if call.function == PUT)
    position = [frame.name for frame in sandwich.frames].index("trees.<locals>.<lambda>")
    assert "x" in {layer(frame) for frame in sandwich.frames[:position]}
    assert "x" in {layer(frame) for frame in sandwich.frames[position:]}


def test_ctypes_callbacks_keep_every_level(noted: Noted) -> None:
    levels = [layers(call).count("cu") for call in noted.of("ctypes_callbacks")]
    assert max(levels) == 4


def test_recursion_through_c_keeps_every_level(noted: Noted) -> None:
    levels = [layers(call).count("u") for call in noted.of("deep_through_c")]
    assert max(levels) > 60


def layers(call: Call) -> str:
    """The stack as letters, one per run of frames of a kind; the interpreter's own frames are omitted."""
    runs = "".join(letter for letter, _ in itertools.groupby(map(layer, call.frames)))
    return runs.replace("n", "")


def layer(frame: Frame) -> str:
    """Python: u user, j JAX, p other. Native: x jaxlib, t the TPU library, c ctypes and libffi, n other."""
    if frame.is_python:
        return "u" if frame.file.endswith("sandwiches.py") else "j" if "/jax/" in frame.file else "p"
    name = Path(frame.file).name
    return "x" if "jax" in name else "t" if name == "libtpu.so" else "c" if "ctypes" in name or "ffi" in name else "n"

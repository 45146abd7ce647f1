"""An array destroyed at the end of a function shows that function, marked as returning."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.captures import read_capture
from framedex.model import Capture, PythonFrame
from tests.running import run


@pytest.fixture(scope="module")
def capture(python: str, tmp_path_factory: pytest.TempPathFactory) -> Capture:
    """The program recorded once for each Python."""
    return read_capture(run("returning.py", folder=tmp_path_factory.mktemp("returning"), python=python).capture)


def python_frames(capture: Capture, call: int) -> list[tuple[str, bool]]:
    """The Python functions on a call's stack, outermost first, and whether each is returning."""
    frames = [capture.frames[index] for index in reversed(capture.stacks[capture.calls.stack[call]].frames)]
    return [
        (capture.codes[frame.code].qualname, frame.is_returning) for frame in frames if isinstance(frame, PythonFrame)
    ]


def stacks_of_destructions(capture: Capture) -> list[list[tuple[str, bool]]]:
    """The Python frames of every PJRT_Buffer_Destroy, in order."""
    names = [function.name for function in capture.functions]
    destroyed = [
        call for call in range(len(capture.calls)) if names[capture.calls.function[call]] == "PJRT_Buffer_Destroy"
    ]
    return [python_frames(capture, call) for call in destroyed]


def test_the_function_that_owned_the_array_is_present_and_marked(capture: Capture) -> None:
    from_python, from_c, boxed, _ = stacks_of_destructions(capture)
    held = ("holder", True)
    # CPython 3.11 unlinks only frames called from C; the others are still on the stack while they are destroyed.
    assert from_python[-1] in [held, ("holder", False)]
    assert from_python[-2:-1] == [("called_from_python", False)]
    assert from_c[-1] in [held, ("holder", False)]
    assert from_c[-2:-1] == [("called_from_c.<locals>.<lambda>", False)]
    assert boxed[-1] in [("boxed", True), ("boxed", False)]


def test_a_continuing_function_is_not_marked(capture: Capture) -> None:
    assert stacks_of_destructions(capture)[3][-1] == ("deleted", False)


def test_no_other_frame_is_marked(capture: Capture) -> None:
    names = [function.name for function in capture.functions]
    for call in range(len(capture.calls)):
        if not names[capture.calls.function[call]].startswith(("PJRT_Buffer_Destroy", "DeviceMemory::Free")):
            assert not any(returning for _, returning in python_frames(capture, call)), Path(capture.path).name

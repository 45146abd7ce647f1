"""Core files: damaged files give fewer frames, or an error that says so."""

from __future__ import annotations

from framedex.base.errors import FramedexError
from framedex.live.native.core_file import open_core
from framedex.live.native.stacks import read_stacks
from tests.fuzz.inputs import scratch

MAX_SIZE = 1 << 14


def run(data: bytes) -> None:
    """Read the stacks of a core file."""
    path = scratch() / "core"
    path.write_bytes(data)
    try:
        with open_core(path) as image:
            stacks = read_stacks(image)
    except FramedexError as error:
        assert error.message and error.remedy
        return
    assert len(stacks.threads) == len(image.threads) > 0
    assert all(thread.native.frames for thread in stacks.threads)
    assert all(isinstance(problem, str) for problem in stacks.problems)

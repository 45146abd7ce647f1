"""The walkthrough of the seed's trace names every recorded frame, with its location in XLA."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "explanation" / "tpu-executor-allocate.md").read_text()
SEED = runpy.run_path(str(DOCS / "seed_frames.py"))


@pytest.mark.parametrize("call", ["A", "B"])
def test_every_frame_is_in_the_walkthrough_in_order(call: str) -> None:
    section = PAGE.partition(f"### Call {call}:")[2].partition("\n#")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ") and "gist (2021)" not in line]
    for line, step in zip(lines, SEED["STEPS"], strict=True):
        path, _, number = step.places[call].partition(":")
        assert f"`{step.names[call]}`" in line
        assert step.does in line
        assert not path or f"({SEED['XLA_URL']}/{path}#L{number})" in line


def test_the_call_log_goes_from_the_first_call_to_the_last() -> None:
    calls = [
        line
        for line in (DOCS / "explanation" / "tpu-executor-calls.md").read_text().splitlines()
        if line.startswith("| ")
    ][1:]
    assert "TfTpu_Initialize(" in calls[0]
    assert "TpuExecutor_Allocate(size=4" in "".join(calls)
    assert "TpuStream_Free()" in calls[-1]

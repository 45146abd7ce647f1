"""Reading calls in progress from outside: while the program runs, after a kill, and after a ring overwrote them."""

from __future__ import annotations

import random
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from framedex.captures import read_capture
from framedex.captures.open_calls import OpenCall, read_open_calls
from framedex_native import _native
from tests.damage import damaged
from tests.native.conversing import Conversation, conversation
from tests.pythons import ROOT
from tests.reading import Call, calls_of

NESTED = "PJRT_Event_OnReady"
PUT = "PJRT_Client_BufferFromHostBuffer"
DEPTH, SLOTS = 3, 23
RING_BYTES = 2 * _native.SEGMENT_SIZE
PUTS_OF_A_RING = 1800
FIXTURES = ROOT / "tests" / "fixtures" / "captures"


@contextmanager
def nested_calls(folder: Path, depth: int = DEPTH, puts: int = 5, **environment: str) -> Iterator[Conversation]:
    """The program `nested_calls.py`, waiting inside its calls."""
    with conversation("nested_calls.py", str(depth), str(puts), folder=folder, **environment) as program:
        assert program.listen() == ["inside"]
        yield program


def leave(program: Conversation) -> None:
    """Let all calls return."""
    program.answer()
    assert program.listen() == ["outside"]


def open_in(capture: Path) -> list[OpenCall]:
    """The open calls of the capture's only thread."""
    (thread,) = read_open_calls(capture)
    return list(thread.open_calls)


def open_among(capture: Path) -> list[Call]:
    """The calls among all records that have no return."""
    return [call for call in calls_of(capture) if call.duration < 0]


def assert_same(found: list[OpenCall], recorded: list[Call], capture: Path) -> None:
    began = read_capture(capture).metadata.started_clock_ns or 0
    assert [call.function for call in found] == [call.function for call in recorded]
    assert [call.since_ns for call in found] == pytest.approx([began + call.start for call in recorded], abs=20_000)
    for call, record in zip(found, recorded, strict=True):
        frames = [(frame.module, "", 0) if frame.language == "native" else (frame.file, frame.name, frame.line)
                  for frame in reversed(call.frames)]  # fmt: skip
        assert frames == [(frame.file, frame.name, frame.line) for frame in record.frames]
        assert "nested" in [frame.name for frame in call.frames]


def test_open_calls_are_read_while_the_program_runs_and_after_a_kill(tmp_path: Path) -> None:
    with nested_calls(tmp_path) as program:
        running = open_in(program.capture)
        assert_same(running, open_among(program.capture), program.capture)
        assert [call.function for call in running] == [NESTED] * DEPTH
        assert [call.sequence for call in running] == list(range(running[0].sequence, running[0].sequence + DEPTH))
        program.kill()
        assert open_in(program.capture) == running


def test_a_call_that_returned_is_no_longer_open(tmp_path: Path) -> None:
    with nested_calls(tmp_path) as program:
        leave(program)
        (thread,) = read_open_calls(program.capture)
        calls = calls_of(program.capture)
        assert (thread.open_calls, thread.calls) == ((), len(calls))
        began = read_capture(program.capture).metadata.started_clock_ns or 0
        last = max(call.start + call.duration for call in calls)
        assert thread.last_record_ns == pytest.approx(began + last, abs=20_000)


def test_a_ring_keeps_open_calls_that_it_overwrites(tmp_path: Path) -> None:
    with nested_calls(tmp_path, puts=PUTS_OF_A_RING, FRAMEDEX_LIMIT=str(RING_BYTES), FRAMEDEX_RING="1") as program:
        recorded = open_among(program.capture)
        assert_same(open_in(program.capture), recorded, program.capture)
        assert [call.function for call in recorded] == [NESTED] * DEPTH
        assert all(call.arguments["event"] == recorded[0].arguments["event"] for call in recorded)
        overwritten = PUTS_OF_A_RING - len(calls_of(program.capture, PUT))
        assert overwritten > 0
        leave(program)
        assert open_in(program.capture) == []
        calls = calls_of(program.capture)
        assert [call.start for call in calls] == sorted(call.start for call in calls)
        kept = [call for call in calls if call.start in [call.start for call in recorded]]
        assert [call.function for call in kept] == [NESTED] * DEPTH
        assert all(call.start + call.duration >= calls[-1].start + calls[-1].duration for call in kept[:1])
        assert read_capture(program.capture).problems == ()


def test_the_outermost_calls_are_kept_if_too_many_are_open(tmp_path: Path) -> None:
    with nested_calls(tmp_path, SLOTS + 7) as program:
        assert_same(open_in(program.capture), open_among(program.capture)[:SLOTS], program.capture)
        leave(program)
        assert open_in(program.capture) == []


@pytest.mark.parametrize("version", [1, 2, 3])
def test_open_calls_of_an_older_capture_are_found_in_its_streams(tmp_path: Path, version: int) -> None:
    with zipfile.ZipFile(FIXTURES / f"version-{version}.zip") as archive:
        archive.extractall(tmp_path)
    (thread,) = read_open_calls(tmp_path)
    assert (thread.open_calls, thread.calls) == ((), len(calls_of(tmp_path)))


def test_damaged_tables_give_no_false_call(tmp_path: Path) -> None:
    with nested_calls(tmp_path) as program:
        program.kill()
        capture = program.capture
    whole = open_in(capture)
    changed = Path(shutil.copytree(capture, tmp_path / "changed"))
    file = changed / "open-calls"
    content = file.read_bytes()
    for seed in range(300):
        file.write_bytes(damaged(content, seed, block=1024))
        assert set(open_in(changed)) <= set(whole), seed
    for size in random.Random(1).sample(range(1024), 20):
        file.write_bytes(content[:size])
        assert open_in(changed) == whole, "from the streams"
    file.unlink()
    assert open_in(changed) == whole

"""Captures that are cut off, corrupted, incomplete or none at all: what can be read is read, the rest is named."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import framedex_native
from framedex.captures import capture_folders, read_capture
from framedex.errors import FramedexError
from framedex.model import Capture, NativeFrame
from tests.reading import Call, calls_of
from tests.running import PROGRAMS, plain_environment

HEADER = 64  # bytes of a stream before its first record; version and kind are at 8 and 12
MUTATIONS = 500


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture of one transfer."""
    folder = tmp_path_factory.mktemp("recorded")
    subprocess.run(
        [sys.executable, str(PROGRAMS / "one_put.py"), str(folder)],
        env=plain_environment() | {"TPU_LIBRARY_PATH": str(framedex_native.library_path())},
        check=True,
        timeout=120,
    )
    (capture,) = capture_folders(folder)
    return capture


@pytest.fixture
def capture(recorded: Path, tmp_path: Path) -> Path:
    """A copy of it to damage."""
    return Path(shutil.copytree(recorded, tmp_path / "capture"))


def test_the_undamaged_capture_has_no_problems(recorded: Path) -> None:
    whole = read_capture(recorded)
    assert whole.problems == ()
    assert len(whole.calls) >= 5
    assert all(call.duration >= 0 for call in calls_of(whole))


@pytest.mark.parametrize("stream", ["thread-0.fdx", "process.fdx"])
def test_cut_off_at_any_byte_it_gives_what_comes_before_and_says_where(
    recorded: Path, capture: Path, stream: str
) -> None:
    whole = read_capture(recorded)
    calls = calls_of(whole)
    previous = len(calls)
    written = len((capture / stream).read_bytes().rstrip(b"\0"))
    # Where a record ends in zeros, the last bytes can go without a trace: it is what would be there anyway.
    for length in range(written, -1, -1):
        os.truncate(capture / stream, length)
        cut = read_capture(capture)
        assert any(str(capture / stream) in problem for problem in cut.problems), length
        if stream == "thread-0.fdx":
            assert len(cut.calls) <= previous
            assert_prefix(cut, calls, length)
            previous = len(cut.calls)
        else:
            assert len(cut.calls) == len(calls), length
    assert stream == "process.fdx" or previous == 0


def assert_prefix(cut: Capture, calls: list[Call], length: int) -> None:
    """The calls of a cut thread are the first ones of the whole, but for ends that were cut off."""
    for found, call in zip(calls_of(cut), calls, strict=False):
        assert (found.function, found.frames) == (call.function, call.frames), length
        # Less of the stream ties fewer of the clock's ticks to nanoseconds.
        assert found.start == pytest.approx(call.start, abs=2_000), length
        assert found.duration == -1 or found.duration == pytest.approx(call.duration, rel=0.01, abs=100), length
        assert found.arguments.items() <= call.arguments.items(), length


def test_what_is_not_written_yet_can_be_missing_without_harm(recorded: Path, capture: Path) -> None:
    for stream in ("thread-0.fdx", "process.fdx"):
        written = len((capture / stream).read_bytes().rstrip(b"\0"))
        os.truncate(capture / stream, (written + 7) // 8 * 8 + 16)
    assert calls_of(capture) == calls_of(recorded)
    assert read_capture(capture).problems == ()


def test_no_corruption_crashes_or_raises(recorded: Path, capture: Path) -> None:
    originals = {path: path.read_bytes() for path in sorted(capture.iterdir()) if path.suffix == ".fdx"}
    for path, damaged in mutations(originals, random.Random(2)):
        path.write_bytes(damaged)
        read = read_capture(capture)
        # Whatever was read is consistent: every index leads somewhere, and nothing grew out of the damage.
        assert all(stack < len(read.stacks) for stack in read.calls.stack)
        assert all(function < len(read.functions) for function in read.calls.function)
        assert all(frame < len(read.frames) for stack in read.stacks for frame in (*stack.frames, *stack.python))
        assert all(frame.module < len(read.modules) for frame in read.frames if isinstance(frame, NativeFrame))
        assert all(isinstance(json.loads(text), dict) for text in read.calls.arguments)
        assert len(read.calls) < 1000
        path.write_bytes(originals[path])


def mutations(originals: dict[Path, bytes], random_: random.Random) -> Iterator[tuple[Path, bytes]]:
    """Streams with a few bytes changed, a part moved, or a length made huge, within what was written."""
    for _ in range(MUTATIONS):
        path = random_.choice(list(originals))
        data = bytearray(originals[path])
        written = len(originals[path].rstrip(b"\0"))
        kind = random_.randrange(4)
        position = random_.randrange(8, written - 64)
        if kind == 0:
            for _ in range(random_.randrange(1, 6)):
                data[random_.randrange(8, written)] = random_.randrange(256)
        elif kind == 1:
            data[position // 4 * 4 : position // 4 * 4 + 4] = random_.choice([b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f"])
        elif kind == 2:
            data[position : position + 64] = data[position + random_.randrange(64) :][:64]
        else:
            data[position // 8 * 8 : position // 8 * 8 + 8] = random_.randbytes(8)
        yield path, bytes(data)


def test_a_missing_process_stream_costs_names_and_nothing_else(recorded: Path, capture: Path) -> None:
    (capture / "process.fdx").unlink()
    read = read_capture(capture)
    assert len(read.calls) == len(read_capture(recorded).calls)
    assert all(function.name.startswith("function_") for function in read.functions)
    assert read.problems == (f"{capture}/process.fdx cannot be read.",)


def test_missing_thread_streams_leave_an_empty_capture(capture: Path) -> None:
    (capture / "thread-0.fdx").unlink()
    read = read_capture(capture)
    assert (len(read.calls), len(read.stacks)) == (0, 0)
    assert len(read.functions) >= 138


@pytest.mark.parametrize("stream", ["thread-0.fdx", "process.fdx"])
def test_a_stream_that_cannot_be_read_is_named(capture: Path, stream: str) -> None:
    (capture / stream).unlink()
    (capture / stream).mkdir()
    assert f"{capture}/{stream} cannot be read." in read_capture(capture).problems


@pytest.mark.parametrize("stream", ["thread-0.fdx", "process.fdx"])
def test_a_stream_of_another_version_or_kind_is_named(capture: Path, stream: str) -> None:
    data = bytearray((capture / stream).read_bytes())
    data[8] = 99
    (capture / stream).write_bytes(data)
    assert any(
        f"{stream} has format version 99; this framedex reads 1." in text for text in read_capture(capture).problems
    )
    (capture / stream).write_bytes(b"MZ" + bytes(HEADER))
    assert any(f"{stream} is not a framedex stream." in text for text in read_capture(capture).problems)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is not a capture: it has no capture.json"),
        ("", "capture.json cannot be read"),
        ("{", "capture.json cannot be read"),
        ("[" * 100_000, "capture.json cannot be read"),
        ("[]", "is not a framedex capture"),
        ("{}", "is not a framedex capture"),
        ('{"format": "framedex-capture"}', "has capture format None; this framedex reads 1"),
        ('{"format": "framedex-capture", "version": 99}', "has capture format 99; this framedex reads 1"),
    ],
)
def test_what_is_no_capture_is_refused_with_a_remedy(capture: Path, content: str | None, message: str) -> None:
    (capture / "capture.json").unlink()
    if content is not None:
        (capture / "capture.json").write_text(content)
    with pytest.raises(FramedexError) as refused:
        read_capture(capture)
    assert message in refused.value.message
    assert refused.value.remedy


@pytest.mark.parametrize("started", ['"soon"', "null", "1e400", "-1", "123456789012345678901234567890", "[]"])
def test_a_start_that_makes_no_sense_does_not_keep_the_calls_from_being_read(capture: Path, started: str) -> None:
    text = '{"format": "framedex-capture", "version": 1, "started_clock_ns": STARTED}'
    (capture / "capture.json").write_text(text.replace("STARTED", started))
    assert len(read_capture(capture).calls) >= 5


def test_a_file_or_nothing_at_all_is_refused(capture: Path) -> None:
    for path in (capture / "thread-0.fdx", capture / "nowhere"):
        with pytest.raises(FramedexError) as refused:
            read_capture(path)
        assert refused.value.remedy

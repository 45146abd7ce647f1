"""Truncated, corrupted, incomplete or missing captures: readable data is read, the rest is reported."""

from __future__ import annotations

import dataclasses
import itertools
import json
import os
import random
import shutil
import zipfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from framedex.base.errors import FramedexError
from framedex.captures import read_capture
from framedex.model import Capture, NativeFrame
from framedex_native import _native
from tests.damage import damaged
from tests.native.recorded import recorded as recorded_run
from tests.one_put import recorded_put
from tests.reading import Call, calls_of
from tests.running import run

CALL, BASE = 7, 15  # record kinds
MUTATIONS = 1000
QUICK_MUTATIONS = 150
MUTATIONS_OF_MANY_SEGMENTS = 400
FIXTURES = Path(__file__).parents[2] / "fixtures" / "captures"


@pytest.fixture(scope="module")
def recorded() -> Path:
    """The capture of one transfer."""
    return recorded_put()


def record(folder: Path, program: str, *arguments: str, **environment: str) -> Path:
    """The capture of a program recorded from its beginning."""
    return run(program, *arguments, folder=folder, **environment).capture


@pytest.fixture(scope="module")
def segments() -> Path:
    """The capture of a thread with several segments."""
    capture = recorded_run("many_puts.py", "1200").capture
    assert (capture / "thread-0.fdx").stat().st_size > 2 * _native.SEGMENT_SIZE
    return capture


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The capture of a ring that was written more than once around."""
    folder = tmp_path_factory.mktemp("ring")
    capture = record(folder, "many_puts.py", "1800", FRAMEDEX_LIMIT=str(2 * _native.SEGMENT_SIZE), FRAMEDEX_RING="1")
    begun = int.from_bytes((capture / "thread-0.ring.fdx").read_bytes()[72:77], "little")
    assert begun > (capture / "thread-0.ring.fdx").stat().st_size // _native.SEGMENT_SIZE
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


# Steps without a common factor with the word size: words are truncated at each of their bytes.
@pytest.mark.exhaustive(keep=["thread-0.fdx-31"])
@pytest.mark.parametrize(
    ("stream", "step"), [("thread-0.fdx", 31), ("thread-0.fdx", 3), ("process.fdx", 77), ("process.fdx", 7)]
)
def test_a_capture_truncated_anywhere_gives_all_previous_records_and_the_position(
    recorded: Path, capture: Path, stream: str, step: int
) -> None:
    whole = read_capture(recorded)
    calls = calls_of(whole)
    previous = len(calls)
    written = len((capture / stream).read_bytes().rstrip(b"\0"))
    # If a record ends in zeros, losing its last bytes has no effect: unwritten bytes are zero too.
    for length in range(written, -1, -step):
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
    """A truncated thread has the first calls of the complete one, except for truncated ends."""
    for found, call in zip(calls_of(cut), calls, strict=False):
        assert (found.function, found.frames) == (call.function, call.frames), length
        # A shorter stream has fewer clock calibrations.
        assert found.start == pytest.approx(call.start, abs=2_000), length
        assert found.duration == -1 or found.duration == pytest.approx(call.duration, rel=0.01, abs=100), length
        assert found.arguments.items() <= call.arguments.items(), length


def test_unwritten_files_may_be_missing(recorded: Path, capture: Path) -> None:
    for stream in ("thread-0.fdx", "process.fdx"):
        written = len((capture / stream).read_bytes().rstrip(b"\0"))
        os.truncate(capture / stream, (written + 7) // 8 * 8 + 16)
    assert calls_of(capture) == calls_of(recorded)
    assert read_capture(capture).problems == ()


@pytest.mark.exhaustive(keep=[f"recorded-{QUICK_MUTATIONS}"])
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("recorded", QUICK_MUTATIONS),
        ("recorded", MUTATIONS),
        ("segments", MUTATIONS_OF_MANY_SEGMENTS),
        ("ring", MUTATIONS_OF_MANY_SEGMENTS),
    ],
)
def test_no_change_of_a_stream_is_silent(name: str, most: int, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    whole: Path = request.getfixturevalue(name)
    changed = Path(shutil.copytree(whole, tmp_path / "capture"))
    before = data_of(whole)
    originals = {path: path.read_bytes() for path in sorted(changed.iterdir()) if path.suffix == ".fdx"}
    arguments = frozenset(before[0]["arguments"])
    reported = 0
    for number, (path, content) in enumerate(damages(originals, 2, most)):
        path.write_bytes(content)
        read = read_capture(changed)
        assert_consistent(read, arguments)
        assert len(read.calls) <= len(before[0]["start"]), (number, path.name)
        names_file = any(f"{path} " in problem for problem in read.problems)
        # Damage without effect, as in the unused end of a segment, need not be reported.
        assert names_file or (read.problems == () and data_of(read) == before), (number, path.name, read.problems)
        reported += names_file
        path.write_bytes(originals[path])
    assert reported > most // 2


def data_of(capture: Path | Capture) -> tuple[Any, ...]:
    """All recorded data."""
    read = read_capture(capture) if isinstance(capture, Path) else capture
    calls = {field.name: list(getattr(read.calls, field.name)) for field in dataclasses.fields(read.calls)}
    return calls, read.modules, read.codes, read.frames, read.stacks, read.functions, read.threads, read.descriptions


def assert_consistent(read: Capture, known: Collection[str] = ()) -> None:
    """Every reference is valid, and arguments are JSON; the `known` ones are unchanged."""
    assert np.all(read.calls.stack < len(read.stacks))
    assert np.all(read.calls.function < len(read.functions))
    assert all(frame < len(read.frames) for stack in read.stacks for frame in (*stack.frames, *stack.python))
    assert all(frame.module < len(read.modules) for frame in read.frames if isinstance(frame, NativeFrame))
    assert all(isinstance(json.loads(text), dict) for text in set(read.calls.arguments).difference(known))


def damages(originals: dict[Path, bytes], seed: int, most: int) -> Iterator[tuple[Path, bytes]]:
    """Streams, one of them damaged in each way."""
    for number in range(seed * MUTATIONS, seed * MUTATIONS + most):
        path = random.Random(number).choice(list(originals))
        yield path, damaged(originals[path], number, block=_native.SEGMENT_SIZE)


@pytest.mark.exhaustive
def test_every_moved_or_removed_record_is_reported_and_the_others_are_read(recorded: Path, capture: Path) -> None:
    path = capture / "thread-0.fdx"
    original = path.read_bytes()
    records = list(records_of(original))
    assert len(records) > 20
    for (first, size), (second, next_size) in itertools.pairwise(records):
        swapped = original[:first] + original[second : second + next_size] + original[first : first + size]
        path.write_bytes(swapped + original[second + next_size :])
        problems = " ".join(read_capture(capture).problems)
        assert f"{path} is damaged from byte {first} " in problems or f"{path} is damaged at byte {first};" in problems
        path.write_bytes(original[:first] + bytes(size) + original[second:])
        read = read_capture(capture)
        assert any(f"{path} is empty from byte {first} to byte {second}" in text for text in read.problems)
        assert_consistent(read)
    # The last record, with no data after it.
    path.write_bytes(original[:second] + bytes(len(original) - second))
    assert any(f"{path} is empty at byte {second}" in text for text in read_capture(capture).problems)


def records_of(stream: bytes | bytearray) -> Iterator[tuple[int, int]]:
    """The start offsets of the first segment's records, and their sizes in bytes."""
    position = _native.STREAM_HEADER_SIZE
    while size := int.from_bytes(stream[position + 2 : position + 4], "little") * 8:
        yield position, size
        position += size


def test_a_changed_call_loses_only_that_call(recorded: Path, capture: Path) -> None:
    path = capture / "thread-0.fdx"
    data = bytearray(path.read_bytes())
    calls = [position for position, _ in records_of(data) if data[position] == CALL]
    data[calls[3] + 16] ^= 1  # its time
    path.write_bytes(data)
    read = read_capture(capture)
    assert [call.arguments for call in calls_of(read)] == [
        call.arguments for index, call in enumerate(calls_of(recorded)) if index != 3
    ]
    assert any(f"{path} is damaged from byte {calls[3]} " in text for text in read.problems)


def test_damage_to_a_base_loses_no_call_while_a_copy_is_intact(recorded: Path, capture: Path) -> None:
    path = capture / "thread-0.fdx"
    data = bytearray(path.read_bytes())
    bases = [position for position, _ in records_of(data) if data[position] == BASE]
    assert len(bases) == 2
    for count, base in enumerate(bases, 1):
        data[base + 8] ^= 1
        path.write_bytes(data)
        read = read_capture(capture)
        assert any(f"{path} is damaged from byte {bases[0]} " in text for text in read.problems)
        assert calls_of(read) == (calls_of(recorded) if count == 1 else [])
    assert any("damaged records were left out." in text for text in read.problems)


def test_calls_after_a_damaged_segment_start_are_read(segments: Path, tmp_path: Path) -> None:
    whole = read_capture(segments)
    changed = Path(shutil.copytree(segments, tmp_path / "capture"))
    path = changed / "thread-0.fdx"
    data = bytearray(path.read_bytes())
    data[_native.SEGMENT_SIZE : _native.SEGMENT_SIZE + 4096] = bytes(4096)
    path.write_bytes(data)
    read = read_capture(changed)
    assert any(f"{path} is empty from byte {_native.SEGMENT_SIZE} " in text for text in read.problems)
    assert 0 < len(whole.calls) - len(read.calls) < 150
    times = set(zip(whole.calls.function, whole.calls.start, strict=True))
    assert set(zip(read.calls.function, read.calls.start, strict=True)) <= times


def test_a_stream_of_another_capture_is_skipped_and_reported(recorded: Path, segments: Path, capture: Path) -> None:
    for name, calls in (("thread-0.fdx", 0), ("process.fdx", len(read_capture(recorded).calls))):
        shutil.copy(segments / name, capture / name)
        read = read_capture(capture)
        assert f"{capture / name} belongs to another capture, so it is skipped. Restore the file of this capture." in (
            read.problems
        )
        assert len(read.calls) == calls
        shutil.copy(recorded / name, capture / name)
    shutil.copy(segments / "thread-0.fdx", capture / "thread-7.fdx")
    read = read_capture(capture)
    assert any(f"{capture}/thread-7.fdx belongs to another capture" in text for text in read.problems)
    assert calls_of(read) == calls_of(recorded)


def test_a_renamed_stream_is_skipped_and_reported(recorded: Path, capture: Path) -> None:
    shutil.copy(capture / "thread-0.fdx", capture / "thread-1.fdx")
    read = read_capture(capture)
    assert any(f"{capture}/thread-1.fdx was written under another name" in text for text in read.problems)
    assert calls_of(read) == calls_of(recorded)
    (capture / "thread-1.fdx").unlink()
    shutil.copy(capture / "thread-0.fdx", capture / "process.fdx")
    assert any(
        f"{capture}/process.fdx was written under another name" in text for text in read_capture(capture).problems
    )


def test_changed_metadata_are_reported(recorded: Path, capture: Path) -> None:
    text = (capture / "capture.json").read_bytes()
    problem = f"{capture}/capture.json has changed since it was written: its facts about the run may be wrong."
    for position in range(text.index(b"started_unix_ns") + 18, len(text) - 2, 7):
        changed = bytearray(text)
        changed[position] = ord("1") if changed[position] != ord("1") else ord("2")
        (capture / "capture.json").write_bytes(changed)
        try:
            read = read_capture(capture)
        except FramedexError:
            continue
        assert problem in read.problems
        assert len(read.calls) == len(read_capture(recorded).calls)


@pytest.mark.parametrize(
    ("version", "times"), [(1, [(26996050, 60011), (27045100, 7391)]), (2, [(16874565, 107573), (16964627, 12401)])]
)
def test_a_capture_of_an_older_version_is_read(tmp_path: Path, version: int, times: list[tuple[int, int]]) -> None:
    with zipfile.ZipFile(FIXTURES / f"version-{version}.zip") as archive:
        archive.extractall(tmp_path / "capture")
    read = read_capture(tmp_path / "capture")
    calls = calls_of(read)
    assert read.problems == ()
    assert_one_put_was_read(read, calls)
    assert [(call.start, call.duration) for call in calls[:2]] == times
    assert all((module.file is None) == (version == 1) for module in read.modules)


def test_a_capture_of_version_3_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(FIXTURES / "version-3.zip") as archive:
        archive.extractall(tmp_path / "capture")
    read = read_capture(tmp_path / "capture")
    calls = calls_of(read)
    assert read.problems == ()
    assert [(call.start, call.duration) for call in calls[:2]] == [(9777487, 5010), (9853470, 73362)]
    assert calls[1].python_frames[0] == ["/srv/proj/tests/programs/one_put.py", 12, "<module>"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_damaged_capture_of_an_older_version_is_read(tmp_path: Path, version: int) -> None:
    changed = tmp_path / "capture"
    with zipfile.ZipFile(FIXTURES / f"version-{version}.zip") as archive:
        archive.extractall(changed)
    read = read_capture(changed)
    originals = {path: path.read_bytes() for path in sorted(changed.iterdir()) if path.suffix == ".fdx"}
    for path, content in damages(originals, 5, 300):
        path.write_bytes(content)
        damaged_read = read_capture(changed)
        assert_consistent(damaged_read)
        # Version 1 has no checksums.
        assert version == 1 or damaged_read.problems or data_of(damaged_read) == data_of(read)
        path.write_bytes(originals[path])


def assert_one_put_was_read(read: Capture, calls: list[Call]) -> None:
    """The contents of the fixtures, written by those versions' recorders."""
    assert [call.function for call in calls] == [
        "PJRT_Client_BufferFromHostBuffer",
        "DeviceMemory::Allocate",
        "PJRT_Event_OnReady",
        "PJRT_Event_Destroy",
        "PJRT_Buffer_Device",
        "PJRT_Buffer_Memory",
        "PJRT_Memory_Kind",
        "PJRT_Buffer_Destroy",
        "DeviceMemory::Free",
    ]
    assert calls[0].arguments["dims"] == [2, 3]
    assert (calls[1].arguments["device"], calls[8].arguments["bytes"]) == (0, 512)
    assert calls[6].arguments["kind"] == "device"
    assert calls[0].python_frames[0] == ["/srv/proj/tests/programs/one_put.py", 12, "<module>"]
    assert calls[0].python_frames[-1][2] == "batched_device_put"
    assert (len(read.modules), len(read.codes), len(read.frames), len(read.stacks)) == (5, 7, 67, 9)


def test_a_missing_process_stream_loses_only_names(recorded: Path, capture: Path) -> None:
    (capture / "process.fdx").unlink()
    read = read_capture(capture)
    assert len(read.calls) == len(read_capture(recorded).calls)
    assert all(function.name.startswith("function_") for function in read.functions)
    assert read.problems == (f"{capture}/process.fdx cannot be read.",)


def test_missing_thread_streams_leave_an_empty_capture(capture: Path) -> None:
    (capture / "thread-0.fdx").unlink()
    read = read_capture(capture)
    assert (len(read.calls), len(read.stacks)) == (0, 0)
    assert read.problems == (f"{capture}/thread-0.fdx is missing, and with it the calls of that thread.",)
    assert len(read.functions) >= 138


@pytest.mark.parametrize("stream", ["thread-0.fdx", "process.fdx"])
def test_an_unreadable_stream_is_named(capture: Path, stream: str) -> None:
    (capture / stream).unlink()
    (capture / stream).mkdir()
    assert f"{capture}/{stream} cannot be read." in read_capture(capture).problems


@pytest.mark.parametrize("stream", ["thread-0.fdx", "process.fdx"])
def test_a_stream_of_another_version_or_kind_is_named(capture: Path, stream: str) -> None:
    data = bytearray((capture / stream).read_bytes())
    data[len(_native.MAGIC)] = 99  # its version
    (capture / stream).write_bytes(data)
    assert any(
        f"{stream} has format version 99; this framedex reads 1 to 4." in text
        for text in read_capture(capture).problems
    )
    (capture / stream).write_bytes(b"MZ" + bytes(_native.STREAM_HEADER_SIZE))
    assert any(f"{stream} is not a framedex stream." in text for text in read_capture(capture).problems)


@pytest.mark.exhaustive(keep=["{-capture.json cannot be read", "None-is not a capture: it has no capture.json"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is not a capture: it has no capture.json"),
        ("", "capture.json cannot be read"),
        ("{", "capture.json cannot be read"),
        ("[" * 100_000, "capture.json cannot be read"),
        ("[]", "is not a framedex capture"),
        ("{}", "is not a framedex capture"),
        ('{"format": "framedex-capture"}', "has no capture format; this framedex reads 1 to 4"),
        ('{"format": "framedex-capture", "version": 99}', "has capture format 99; this framedex reads 1 to 4"),
    ],
)
def test_a_folder_that_is_not_a_capture_is_refused_with_a_remedy(
    capture: Path, content: str | None, message: str
) -> None:
    (capture / "capture.json").unlink()
    if content is not None:
        (capture / "capture.json").write_text(content)
    with pytest.raises(FramedexError) as refused:
        read_capture(capture)
    assert message in refused.value.message
    assert refused.value.remedy


@pytest.mark.exhaustive(keep=['"soon"', "-1"])
@pytest.mark.parametrize("started", ['"soon"', "null", "1e400", "-1", "123456789012345678901234567890", "[]"])
def test_an_implausible_start_does_not_prevent_reading_calls(capture: Path, started: str) -> None:
    text = '{"format": "framedex-capture", "version": 1, "started_clock_ns": STARTED}'
    (capture / "capture.json").write_text(text.replace("STARTED", started))
    assert len(read_capture(capture).calls) >= 5


def test_a_file_or_a_missing_path_is_refused(capture: Path) -> None:
    for path in (capture / "thread-0.fdx", capture / "nowhere"):
        with pytest.raises(FramedexError) as refused:
            read_capture(path)
        assert refused.value.remedy

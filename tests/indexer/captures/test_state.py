"""The identity of captures, and the detection of growth."""

from __future__ import annotations

import mmap
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.captures import capture_folders, compute_capture_identity, is_being_written, read_capture_state
from framedex.model import Metadata
from framedex_native import _native
from tests.one_put import recorded_put

RUN = Metadata(started_unix_ns=17, pid=4, host="here")


@pytest.fixture(scope="module")
def recorded() -> Path:
    return recorded_put()


@pytest.fixture
def capture(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / recorded.name))


def test_a_capture_can_be_read_from_any_path(capture: Path) -> None:
    before = read_capture_state(capture)

    after = read_capture_state(capture.rename(capture.with_name("moved")))

    assert (after.identity, after.signature) == (before.identity, before.signature)


@pytest.mark.parametrize(
    ("another", "without"),
    [
        (replace(RUN, started_unix_ns=99), replace(RUN, started_unix_ns=None)),
        (replace(RUN, pid=99), replace(RUN, pid=None)),
        (replace(RUN, host="there"), replace(RUN, host=None)),
    ],
)
def test_captures_differ_by_time_process_and_host(another: Metadata, without: Metadata) -> None:
    here = Path("/captures/one")

    assert compute_capture_identity(here, another) != compute_capture_identity(here, RUN)
    assert compute_capture_identity(here, without) != compute_capture_identity(Path("/captures/two"), without)


@pytest.mark.parametrize("segments_before_the_end", [1, 2])
def test_a_record_added_to_a_stream_of_the_same_size_is_detected(capture: Path, segments_before_the_end: int) -> None:
    """Given that the recorder allocates the next segment early, growth in either of the last two segments counts."""
    stream = next(capture.glob("thread-*.fdx"))
    os.truncate(stream, 3 * _native.SEGMENT_SIZE)
    before = read_capture_state(capture)

    with stream.open("r+b") as file:
        file.seek(-_native.SEGMENT_SIZE * segments_before_the_end + 64, os.SEEK_END)
        file.write(b"\x08\0\0\0\x01\0\xfd\xfd")

    assert stream.stat().st_size == 3 * _native.SEGMENT_SIZE
    assert read_capture_state(capture).signature != before.signature


def test_a_change_anywhere_in_a_ring_is_detected(capture: Path) -> None:
    ring = capture / "thread-1.ring.fdx"
    ring.write_bytes(bytes(8 * _native.SEGMENT_SIZE))
    before = read_capture_state(capture)

    with ring.open("r+b") as file:
        file.seek(1000)
        file.write(b"\x01")

    assert read_capture_state(capture).signature != before.signature


def test_a_capture_counts_as_being_written_while_its_process_maps_it(tmp_path: Path) -> None:
    capture = tmp_path / "not-stopped"
    capture.mkdir()
    (capture / "thread-7.fdx").write_bytes(bytes(4096))
    own = Metadata(pid=os.getpid())
    assert not is_being_written(capture, own)

    with (capture / "thread-7.fdx").open("r+b") as file, mmap.mmap(file.fileno(), 4096):
        assert is_being_written(capture, own)
        assert not is_being_written(capture, Metadata())

    assert not is_being_written(capture, own)


def test_a_stopped_capture_is_complete_while_its_process_runs(capture: Path) -> None:
    """If its program stopped a recording, it is complete, even while the program still maps its file."""
    with (capture / "process.fdx").open("r+b") as file, mmap.mmap(file.fileno(), 4096):
        assert not is_being_written(capture, Metadata(pid=os.getpid()))


def test_a_missing_captures_folder_has_no_captures(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "no-metadata").mkdir()

    assert capture_folders(tmp_path / "nothing") == []
    assert capture_folders(tmp_path / "file") == []
    assert capture_folders(tmp_path) == []


def test_an_invalid_folder_name_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(FramedexError) as raised:
        capture_folders(tmp_path / ("x" * 300))

    assert raised.value.remedy

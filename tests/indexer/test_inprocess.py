"""Blocks that cannot be recorded: what is around them is, and an exception of their own is the one that is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from framedex.errors import FramedexError
from framedex.nativepart import framedex_native
from framedex.process_recorder import Recorder
from framedex.pytesting.recordings import BlockRecorder


@pytest.fixture
def around(tmp_path: Path) -> Iterator[Path]:
    """A folder that all of this process is recorded to."""
    folder = tmp_path / "around"
    framedex_native.start(folder)
    yield folder
    framedex_native.stop()


def _make_impossible(folder: Path) -> None:
    """Have no capture be made in a folder any more."""
    folder.rename(folder.with_name("moved"))
    folder.write_text("")


def test_an_exception_of_a_block_is_not_hidden_where_recording_cannot_go_on(around: Path) -> None:
    with BlockRecorder() as recorded, pytest.raises(KeyError), recorded():
        _make_impossible(around)
        raise KeyError


def test_that_recording_cannot_go_on_is_told(around: Path) -> None:
    with BlockRecorder() as recorded, pytest.raises(FramedexError, match="Nothing can be recorded"), recorded():
        _make_impossible(around)


def test_a_block_that_has_lost_calls_does_not_end_as_if_whole(around: Path) -> None:
    """Its folder is there again when it ends."""
    recorder = Recorder(around)
    with pytest.raises(FramedexError, match="Nothing can be recorded"), recorder.block():
        with pytest.raises(KeyError), recorder.block():
            _make_impossible(around)
            raise KeyError
        around.unlink()
        around.with_name("moved").rename(around)

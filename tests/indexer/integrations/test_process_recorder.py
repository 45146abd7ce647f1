"""Blocks that cannot be recorded: the code around them is, and their own exception is the reported one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.base.nativepart import framedex_native
from framedex.integrations.process_recorder import Recorder
from framedex.integrations.pytesting.recordings import BlockRecorder


@pytest.fixture
def around(tmp_path: Path) -> Iterator[Path]:
    """A folder for recording all of this process."""
    folder = tmp_path / "around"
    framedex_native.start(folder)
    yield folder
    framedex_native.stop()


def _make_impossible(folder: Path) -> None:
    """Prevent captures in a folder from now on."""
    folder.rename(folder.with_name("moved"))
    folder.write_text("")


def test_an_exception_in_a_block_is_raised_even_if_recording_fails(around: Path) -> None:
    with BlockRecorder() as recorded, pytest.raises(KeyError), recorded():
        _make_impossible(around)
        raise KeyError


def test_a_recording_failure_is_reported(around: Path) -> None:
    with BlockRecorder() as recorded, pytest.raises(FramedexError, match="Nothing can be recorded"), recorded():
        _make_impossible(around)


def test_a_block_with_lost_calls_reports_them(around: Path) -> None:
    """Its folder exists again when it ends."""
    recorder = Recorder(around)
    with pytest.raises(FramedexError, match="Nothing can be recorded"), recorder.block():
        with pytest.raises(KeyError), recorder.block():
            _make_impossible(around)
            raise KeyError
        around.unlink()
        around.with_name("moved").rename(around)

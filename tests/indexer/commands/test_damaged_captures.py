"""Every verb that shows a damaged capture says so, and stays silent for an intact one."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from tests.indexer.commands.small_captures import unpack_capture

FIXTURES = Path(__file__).parents[2] / "fixtures"
VERBS = [["summary"], ["calls"], ["trace", "1"], ["ffi"]]


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The index of a capture, and that of the same capture with a flipped bit."""
    folder = tmp_path_factory.mktemp("indexes")
    whole, damaged = unpack_capture(folder / "whole"), unpack_capture(folder / "damaged")
    stream = damaged / "thread-0.fdx"
    content = bytearray(stream.read_bytes())
    content[len(content.rstrip(b"\0")) - 20] ^= 1
    stream.write_bytes(content)
    for capture in (whole, damaged):
        assert _framedex(capture.with_suffix(".db"), "index", str(capture)).exit_code == 0
    return whole.with_suffix(".db"), damaged.with_suffix(".db")


@pytest.mark.parametrize("verb", VERBS, ids=[verb[0] for verb in VERBS])
def test_answers_from_a_damaged_capture_are_marked_as_doubtful(indexes: tuple[Path, Path], verb: Sequence[str]) -> None:
    for index, is_doubtful in zip(indexes, (False, True), strict=True):
        shown = _framedex(index, *verb)
        assert shown.exit_code == 0, shown.stderr
        assert ("Capture 1 is incomplete or has changed" in shown.stderr) == is_doubtful


def test_a_missing_binary_does_not_make_a_capture_doubtful(tmp_path: Path) -> None:
    """It takes names from frames, and no data from calls."""
    with zipfile.ZipFile(FIXTURES / "captures" / "version-1.zip") as archive:
        archive.extractall(tmp_path / "capture")
    index = tmp_path / "index.db"
    assert "is not on this machine" in _framedex(index, "index", str(tmp_path / "capture")).output
    for verb in (["summary"], ["check"]):
        assert "not whole" not in _framedex(index, *verb).output


def _framedex(index: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["--index", str(index), *arguments])

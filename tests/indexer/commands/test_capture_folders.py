"""`framedex index DIR`: a capture, or any folder with captures; other folders are reported."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.base.errors import FramedexError
from framedex.captures import find_captures_within
from framedex.commands.main import cli
from framedex.index import Index
from tests.indexer.commands.small_captures import unpack_capture


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real capture."""
    return unpack_capture(tmp_path_factory.mktemp("recorded") / "capture")


@pytest.mark.exhaustive(keep=["", "run/.framedex/captures/one"])
@pytest.mark.parametrize("below", ["", "one", "captures/one", ".framedex/captures/one", "run/.framedex/captures/one"])
def test_a_capture_is_found_at_any_reasonable_depth(recorded: Path, tmp_path: Path, below: str) -> None:
    capture = tmp_path / "given" / below
    shutil.copytree(recorded, capture)
    result = _index(tmp_path, tmp_path / "given")
    assert result.exit_code == 0, result.stderr
    with Index.open(tmp_path / "index.db") as index:
        assert [row.path for row in index.captures()] == [str(capture)]


def test_valid_captures_are_indexed_and_the_others_are_named(recorded: Path, tmp_path: Path) -> None:
    """A good capture among damaged ones and other folders is indexed."""
    given = tmp_path / "given"
    good = given / "20260101-000002-2"
    shutil.copytree(recorded, good)
    headless = shutil.copytree(recorded, given / "20260101-000001-1") / "capture.json"
    headless.unlink()
    garbled = shutil.copytree(recorded, given / "inner" / "20260101-000003-3")
    (garbled / "capture.json").write_text("{")
    (given / "notes").mkdir()
    (tmp_path / "nothing").mkdir()
    result = _index(tmp_path, given, tmp_path / "nothing")
    assert result.exit_code == 1
    for named in (headless.parent, garbled, tmp_path / "nothing"):
        assert f"{named} was not indexed: " in result.stderr
    assert "notes" not in result.stderr
    with Index.open(tmp_path / "index.db") as index:
        assert [row.path for row in index.captures()] == [str(good)]


def test_a_folder_without_captures_says_what_is_expected_and_creates_no_index(tmp_path: Path) -> None:
    (tmp_path / "given" / "a" / "b").mkdir(parents=True)
    result = _index(tmp_path, tmp_path / "given")
    assert result.exit_code == 1
    assert (
        "is not a capture and contains none: there is no capture.json in it or up to 4 levels below." in result.stderr
    )
    assert "framedex run -o DIR" in result.stderr
    assert not (tmp_path / "index.db").exists()


def test_link_cycles_are_not_followed(recorded: Path, tmp_path: Path) -> None:
    given = tmp_path / "given"
    shutil.copytree(recorded, given / "captures" / "one")
    (given / "captures" / "around").symlink_to(given)
    assert find_captures_within(given) == [given / "captures" / "one"]


def test_captures_below_the_depth_limit_are_ignored(recorded: Path, tmp_path: Path) -> None:
    shutil.copytree(recorded, tmp_path / "1" / "2" / "3" / "4" / "5")
    with pytest.raises(FramedexError, match="contains none"):
        find_captures_within(tmp_path)


def test_a_deleted_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FramedexError, match="cannot be listed"):
        find_captures_within(tmp_path / "gone")


def _index(folder: Path, *given: Path) -> Result:
    return CliRunner().invoke(cli, ["--index", str(folder / "index.db"), "index", *map(str, given)])

"""`framedex captures`: their sizes, which are kept, and removal with all their data in the index."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.base.folders import read_capture_folder
from framedex.captures import capture_folders
from framedex.captures.folders import rename_for_removal
from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, ingest_captures
from tests.indexer.commands.small_captures import start_puts, unpack_capture, write_put
from tests.indexer.unplaced import index_without_sources


@dataclass(frozen=True)
class Recorded:
    """A project with the index of two captures."""

    folder: Path

    @property
    def index(self) -> Path:
        return self.folder / ".framedex" / "index.db"

    @property
    def captures(self) -> list[Path]:
        return capture_folders(self.folder / ".framedex" / "captures")

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(cli, ["--index", str(self.index), *arguments])

    def ids(self, *arguments: str) -> list[int]:
        listed = json.loads(self.run("captures", *arguments, "--json").stdout)["captures"]
        return [capture["id"] for capture in listed]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two captures."""
    folder = tmp_path_factory.mktemp("made")
    for number in (1, 2):
        unpack_capture(folder / f"20260101-00000{number}-{number}", pid=number, started_unix_ns=time.time_ns())
    return folder


@pytest.fixture
def recorded(made: Path, tmp_path: Path) -> Recorded:
    found = Recorded(tmp_path)
    shutil.copytree(made, tmp_path / ".framedex" / "captures")
    with Store(found.index) as store:
        ingest_captures(store, found.captures, [], SilentProgress())
    return found


def test_the_list_has_sizes_and_omits_deleted_captures(recorded: Recorded) -> None:
    assert recorded.ids() == [1, 2]
    listed = json.loads(recorded.run("captures", "--json").stdout)["captures"]
    assert all(capture["folder"]["is_here"] and capture["folder"]["size"] > 1 << 12 for capture in listed)
    shutil.rmtree(recorded.captures[0])
    shown = recorded.run("captures")
    assert shown.stdout.startswith("  2  ") and "1 more capture is gone" in shown.stderr
    assert recorded.ids("--all") == [1, 2] and ", gone  " in recorded.run("captures", "--all").stdout


def test_removing_a_capture_removes_its_index_rows(recorded: Recorded) -> None:
    first, second = recorded.captures
    done = recorded.run("captures", "rm", "1")
    assert done.exit_code == 0 and done.stderr.startswith("Removed 1 capture. Freed ") and done.stdout == ""
    assert recorded.captures == [second] and not list(first.parent.glob("*.removed"))
    assert recorded.ids("--all") == [2]
    assert recorded.run("summary").stdout.startswith("Capture 2 of ")
    refused = recorded.run("summary", "--capture", "1")
    assert refused.exit_code == 1 and "no capture 1" in refused.stderr
    assert recorded.run("captures", "rm", "1").exit_code == 1


def test_a_capture_id_is_never_reused(recorded: Recorded, made: Path) -> None:
    assert recorded.run("captures", "rm", "1,2").exit_code == 0
    shutil.copytree(made, recorded.folder / ".framedex" / "captures", dirs_exist_ok=True)
    assert recorded.run("index").exit_code == 0
    assert recorded.ids() == [3, 4]


def test_a_dry_run_and_an_unconfirmed_range_only_list_the_captures(recorded: Recorded) -> None:
    for arguments in (["1", "--dry-run"], ["--all-but", "1"], ["--all-but", "1", "--yes", "--dry-run"]):
        shown = recorded.run("captures", "rm", *arguments)
        assert shown.exit_code == 0 and shown.stdout.startswith("  1  ") and "1 capture with " in shown.stderr
    assert "--yes removes" in recorded.run("captures", "rm", "--older-than", "0m").stderr
    assert recorded.ids() == [1, 2] and len(recorded.captures) == 2


def test_ranges_skip_kept_and_external_captures(recorded: Recorded, made: Path, tmp_path: Path) -> None:
    assert recorded.run("captures", "keep", "1").exit_code == 0
    assert ", kept  " in recorded.run("captures").stdout
    left = recorded.run("captures", "rm", "--all-but", "0", "--yes")
    assert "Skipped 1 capture under protection (1)." in left.stderr and recorded.ids("--all") == [1]
    assert recorded.run("captures", "keep", "--not", "1").exit_code == 0
    elsewhere = tmp_path / "elsewhere"
    recorded.captures[0].rename(elsewhere)
    with Store(recorded.index) as store:
        ingest_captures(store, [elsewhere], [], SilentProgress())
    assert (
        "outside the captures folder of the index (1)"
        in recorded.run("captures", "rm", "--older-than", "0m", "--yes").stderr
    )
    assert elsewhere.is_dir()
    assert recorded.run("captures", "rm", "1").exit_code == 0 and not elsewhere.exists()


def test_all_captures_are_removed_with_all_and_yes(recorded: Recorded) -> None:
    shown = recorded.run("captures", "rm", "all")
    assert shown.exit_code == 0 and "2 captures with " in shown.stderr and "--yes removes them" in shown.stderr
    for contradictory in (["all", "1"], ["all", "--all-but", "1"], ["all", "--older-than", "1d"]):
        assert recorded.run("captures", "rm", *contradictory).exit_code == 2
    assert recorded.ids() == [1, 2]
    assert recorded.run("captures", "rm", "all", "--yes").exit_code == 0
    assert recorded.ids() == [] and not recorded.captures


def test_ages_and_numbers_select_runs(recorded: Recorded) -> None:
    assert "No captures to remove" in recorded.run("captures", "rm", "--older-than", "1d", "--yes").stderr
    assert "No captures to remove" in recorded.run("captures", "rm", "--all-but", "2", "--yes").stderr
    assert "not an age" in recorded.run("captures", "rm", "--older-than", "soon").stderr
    for contradictory in ([], ["1", "--all-but", "1"]):
        assert recorded.run("captures", "rm", *contradictory).exit_code == 2


def test_links_and_folders_that_are_not_captures_are_not_removed(recorded: Recorded, tmp_path: Path) -> None:
    first, second = recorded.captures
    (first / "capture.json").unlink()
    moved = tmp_path / "moved"
    second.rename(moved)
    second.symlink_to(moved)
    assert recorded.run("captures", "rm", "1", "2").exit_code == 0
    assert recorded.ids("--all") == []
    assert list(first.iterdir()) and (moved / "capture.json").exists()


def test_the_next_removal_completes_an_interrupted_one(recorded: Recorded) -> None:
    aside = rename_for_removal(recorded.captures[0])
    assert recorded.ids() == [2]
    assert recorded.run("captures", "rm", "1").exit_code == 0
    assert not aside.exists() and recorded.ids("--all") == [2]


def test_a_capture_named_by_its_user_is_removed_permanently(recorded: Recorded) -> None:
    named = recorded.captures[0].rename(recorded.captures[0].with_name("base"))
    with Store(recorded.index) as store:
        ingest_captures(store, [named], [], SilentProgress())
    assert recorded.run("captures", "rm", "1").exit_code == 0
    assert [folder.name for folder in named.parent.iterdir()] == [recorded.captures[0].name]


def test_a_folder_set_aside_by_another_removal_is_left_to_it(recorded: Recorded) -> None:
    first, second = recorded.captures
    aside = rename_for_removal(second)
    abandoned = Path(shutil.copytree(aside, aside.with_name("20200101-000000-1-1.removed")))
    (abandoned / "capture.json").unlink()
    assert recorded.run("captures", "rm", "1").exit_code == 0
    assert aside.is_dir() and not first.exists() and not abandoned.exists()


def test_the_size_includes_stored_programs(recorded: Recorded) -> None:
    folder = recorded.captures[0]
    before = read_capture_folder(str(folder)).size
    (folder / "programs").mkdir(exist_ok=True)
    (folder / "programs" / "one").write_bytes(bytes(range(256)) * 4096)
    assert read_capture_folder(str(folder)).size >= before + (1 << 20)


def test_a_failed_removal_is_reported_and_removes_nothing(recorded: Recorded) -> None:
    for folder in recorded.captures:
        (folder / "inside").mkdir()
    blocked = recorded.captures[1].with_name(recorded.captures[1].name + ".removed")
    blocked.write_text("a file in the way of the second")
    done = recorded.run("captures", "rm", "1", "2")
    assert done.exit_code == 1 and "cannot be removed" in done.stderr
    assert len(recorded.captures) == 2 and recorded.ids() == [1, 2]


def test_a_capture_in_progress_is_not_removed(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path)
    (tmp_path / ".framedex").mkdir()
    program = start_puts(tmp_path / ".framedex")
    try:
        assert program.stdin is not None and program.stdout is not None
        program.stdin.write("\n")
        program.stdin.flush()
        assert program.stdout.readline()  # it has sent an array
        index_without_sources(recorded.index, *recorded.captures)
        refused = recorded.run("captures", "rm", "1")
        assert refused.exit_code == 1 and "still being recorded" in refused.stderr
        assert len(recorded.captures) == 1
    finally:
        program.kill()
        program.communicate()
    assert recorded.run("captures", "rm", "1").exit_code == 0 and not recorded.captures


def test_captures_of_one_launch_form_one_run(tmp_path: Path) -> None:
    program = write_put(
        tmp_path / "two.py",
        "if len(sys.argv) == 1:",
        "    import subprocess",
        "    subprocess.run([sys.executable, __file__, 'again'], check=True)",
    )
    line = program.read_text().splitlines().index("put(1)") + 1
    framedex = str(Path(sys.executable).with_name("framedex"))
    subprocess.run([framedex, "run", str(program)], cwd=tmp_path, check=True, capture_output=True)
    recorded = Recorded(tmp_path)
    index_without_sources(recorded.index, *recorded.captures)
    with Index.open(recorded.index) as index:
        captures = index.captures()
        assert len(captures) == 2 and len({capture.run for capture in captures}) == 1
        assert captures[0].started < time.time()
    assert recorded.run("summary").stdout.startswith("Captures 1 and 2 of ")
    assert recorded.run("where", f"{program}:{line}").stdout.startswith("Captures 1 and 2 of ")

"""`framedex guidebook` on the command line: with captures, an index or earlier observations, and its errors."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.captures import project_captures_folder
from framedex.commands.main import cli
from framedex.guidebook.observation_files import format_observations, read_observation_file
from tests.indexer.commands.small_captures import unpack_capture
from tests.indexer.guidebook.observed import observed_program

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the verb in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: CliRunner().invoke(cli, ["guidebook", *map(str, arguments)])


def test_captures_are_observed_without_an_index(run: Run, tmp_path: Path) -> None:
    unpack_capture(tmp_path / "captures" / "first")

    result = run("captures", "--observations", "kept.json")

    assert result.exit_code == 0, result.output
    functions = [each.function for each in read_observation_file(tmp_path / "kept.json").functions]
    assert "PJRT_Client_BufferFromHostBuffer" in functions
    assert sorted(each.name for each in tmp_path.iterdir()) == ["captures", "kept.json"]
    assert run("kept.json", "--observations", "-").stdout == f"{(tmp_path / 'kept.json').read_text()}\n"


def test_the_captures_of_an_index_are_observed_by_default(run: Run, tmp_path: Path) -> None:
    program = observed_program()

    result = CliRunner().invoke(
        cli, ["--index", str(program.index), "guidebook", "--observations", str(tmp_path / "kept.json")]
    )

    assert result.exit_code == 0, result.output
    assert read_observation_file(tmp_path / "kept.json") == program.observations


def test_all_captures_of_an_index_count_instead_of_the_latest_run(run: Run, tmp_path: Path) -> None:
    for number in (1, 2):
        unpack_capture(project_captures_folder(tmp_path) / str(number), started_unix_ns=number * 10**18, pid=number)
    assert CliRunner().invoke(cli, ["index"]).exit_code == 0

    calls = {}
    for chosen in ((), ("--capture", "all"), ("--capture", "latest")):
        assert run("--observations", "kept.json", *chosen).exit_code == 0
        calls[chosen] = sum(each.calls for each in read_observation_file(tmp_path / "kept.json").runs)
    assert calls[()] == calls["--capture", "all"] == 2 * calls["--capture", "latest"] > 0


@pytest.mark.exhaustive
def test_the_site_is_beside_its_index_even_from_a_subfolder(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("material")
    (tmp_path / ".framedex").mkdir()
    shutil.copy(observed_program().index, tmp_path / ".framedex" / "index.db")
    below = tmp_path / "below"
    below.mkdir()
    monkeypatch.chdir(below)

    result = run()

    assert result.exit_code == 0, result.output
    assert (tmp_path / ".framedex" / "guidebook" / "index.html").is_file()
    assert list(below.iterdir()) == []


def test_a_foreign_folder_beside_the_index_is_not_changed(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("material")
    letter = tmp_path / ".framedex" / "guidebook" / "letter.txt"
    letter.parent.mkdir(parents=True)
    letter.write_text("Dear reader")
    shutil.copy(observed_program().index, tmp_path / ".framedex" / "index.db")

    result = run()

    assert result.exit_code == 1 and "not a framedex guidebook" in result.stderr
    assert ".framedex/guidebook exists" in result.stderr


def test_a_truncated_capture_is_reported(run: Run, tmp_path: Path) -> None:
    capture = tmp_path / "capture"
    shutil.copytree(observed_program().capture, capture)
    thread = max(capture.glob("thread-*.fdx"), key=lambda path: path.stat().st_size)
    os.truncate(thread, 20_000)

    result = run("capture", "--observations", "kept.json")

    assert result.exit_code == 0, result.output
    assert f"{thread.name} is cut off at byte" in result.stderr


def test_imported_samples_are_not_calls(run: Run, tmp_path: Path) -> None:
    (tmp_path / "stacks.folded").write_text("main;work 10\n")
    assert CliRunner().invoke(cli, ["import", "stacks.folded"]).exit_code == 0

    result = run("--observations", "kept.json")

    assert result.exit_code == 1
    assert "Capture 1 is left out" in result.stderr and "contain no calls" in result.stderr
    assert not (tmp_path / "kept.json").exists()


def test_a_capture_observed_twice_counts_as_two_runs(run: Run, tmp_path: Path) -> None:
    observations = observed_program().observations
    (tmp_path / "a.json").write_text(format_observations(observations))
    shutil.copy(tmp_path / "a.json", tmp_path / "b.json")

    assert run("a.json", "b.json", "a.json", "--observations", "all.json").exit_code == 0

    joined = read_observation_file(tmp_path / "all.json")
    key = observations.runs[0].key
    assert [each.key for each in joined.runs] == [key, f"{key}-2", f"{key}-3"]
    assert {each.run for each in joined.functions} == {each.key for each in joined.runs}
    assert {each.run for each in joined.tasks} == {each.key for each in joined.runs}


def test_an_unreadable_capture_is_reported_and_the_others_count(run: Run, tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    unpack_capture(captures / "whole")
    (captures / "damaged").mkdir()
    (captures / "damaged" / "capture.json").write_text("{")

    result = run("captures", "--observations", "kept.json")

    assert result.exit_code == 1
    assert "damaged was not read" in result.stderr
    assert len(read_observation_file(tmp_path / "kept.json").runs) == 1


@pytest.mark.exhaustive(keep=["other file", "other folder", "repository"])
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("missing",), 2, "does not exist"),
        (("empty",), 1, "is not a capture and contains none"),
        (("other.json",), 1, "contains no observations"),
        (("kept.json", "--compare", "mock", "cuda", "--out", "site"), 1, "No run matches 'cuda'"),
        (("kept.json", "--capture", "1"), 2, "do not name folders or files with it"),
        (("kept.json", "--repository", "javascript:alert(1)"), 2, "begins with https://"),
        (("kept.json", "--out", "full"), 1, "not a framedex guidebook"),
        (("kept.json", "--out", "other.json"), 2, "is a file"),
        (("kept.json", "--out", "."), 1, "is the current folder or a folder above it"),
        (("kept.json", "--observations", "nowhere/kept.json"), 1, "another path with --observations"),
        (("kept.json", "--observations", "site/kept.json", "--out", "site"), 2, "is inside the site's folder"),
    ],
    ids=[
        *("missing", "empty", "other file", "no such platform", "capture", "repository", "other folder"),
        *("site is a file", "working folder", "no such folder", "within the site"),
    ],
)
def test_contradictory_options_are_refused_before_writing(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], status: int, said: str
) -> None:
    pytest.importorskip("material")
    (tmp_path / "kept.json").write_text(format_observations(observed_program().observations))
    (tmp_path / "other.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("Dear reader")
    before = sorted(tmp_path.rglob("*"))

    result = run(*arguments)

    assert result.exit_code == status, result.output
    assert said in result.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_without_an_index_the_error_says_how_to_create_one(run: Run) -> None:
    result = run("--observations", "kept.json")

    assert result.exit_code == 1
    assert "framedex run SCRIPT" in result.stderr

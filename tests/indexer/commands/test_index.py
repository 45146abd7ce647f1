"""`framedex index` on captures: of a real JAX program on the mock TPU, and of one from another machine."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.index.file.schema import VERSION
from framedex.ingest import release_maps
from framedex.model import CallFilter, Language, LocationEvidence, MergeOutcome
from tests.indexer.commands.small_captures import unpack_capture
from tests.one_put import recorded_put

BOUNDARY = "PJRT_Client_BufferFromHostBuffer"


@dataclass(frozen=True)
class Indexed:
    """A folder with an index, and the verb's output."""

    folder: Path
    result: Result


@pytest.fixture(scope="module")
def indexed_put(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    """A folder with the index of a JAX program's capture, in the default place. Tests only read it."""
    folder = tmp_path_factory.mktemp("project")
    _copy_put(folder)
    with contextlib.chdir(folder):
        return Indexed(folder, run())


@pytest.fixture
def indexed(indexed_put: Indexed, monkeypatch: pytest.MonkeyPatch) -> Indexed:
    """That folder as the current folder."""
    monkeypatch.chdir(indexed_put.folder)
    return indexed_put


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a capture from another machine, as the current folder."""
    unpack_capture(tmp_path / ".framedex" / "captures" / "first")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["index", *arguments])


def _copy_put(folder: Path) -> None:
    recorded = recorded_put()
    shutil.copytree(recorded, folder / ".framedex" / "captures" / recorded.name)


def test_indexing_names_and_locates_frames_and_proposes_the_next_command(indexed: Indexed) -> None:
    result = indexed.result

    assert result.exit_code == 0, result.stderr
    assert "native frames:" in result.stdout and "Python frames:" in result.stdout
    assert "framedex trace" in result.stderr
    with Index.open(indexed.folder / ".framedex" / "index.db") as index:
        call = index.calls.latest(BOUNDARY)
        assert call is not None
        trace = index.calls.trace(call.id)
    assert trace is not None and trace.outcome is MergeOutcome.MERGED
    names = [frame.function.name for frame in trace.frames]
    assert names.index("device_put") < names.index("xla::PjRtCApiClient::BufferFromHostBuffer")
    assert names[-1] == BOUNDARY
    python = [frame for frame in trace.frames if frame.function.language is Language.PYTHON]
    assert all(frame.location is not None and frame.location.how is LocationEvidence.EXACT for frame in python)


def test_a_first_trace_links_jaxlib_frames_and_says_how_to_fetch_sources(indexed: Indexed) -> None:
    shown = CliRunner().invoke(cli, ["trace", BOUNDARY])

    assert " of them from framedex's release maps" in indexed.result.stdout
    assert "libjax_common.so+0x" not in shown.stdout and "without source here" not in shown.stderr
    assert "https://github.com/openxla/xla/blob/" in shown.stdout and " public links" in shown.stdout
    assert "`framedex sources fetch`" in shown.stderr


def test_the_link_count_of_a_trace_matches_and_fetching_skips_the_interpreter(
    indexed: Indexed,
) -> None:
    def count(pattern: str, text: str) -> int:
        found = re.search(pattern, text)
        assert found is not None, text
        return int(found[1])

    of_code, of_all = (CliRunner().invoke(cli, ["trace", BOUNDARY, *options]) for options in ([], ["--all"]))

    assert count(r", (\d+) public link", of_code.stdout) == of_code.stdout.count("https://github.com/")
    brought = count(r"The source of (\d+) frame", of_code.stderr)
    assert brought == count(r", (\d+) public link", of_code.stdout)
    assert brought == count(r"The source of (\d+) frame", of_all.stderr)
    assert count(r", (\d+) public link", of_all.stdout) >= brought


def test_missing_jaxlib_sources_are_listed_by_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _copy_put(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(release_maps, "find_release_maps", lambda: tmp_path / "gone.fdmaps")
    indexed = run()

    told = CliRunner().invoke(cli, ["trace", BOUNDARY]).stderr

    assert "gone.fdmaps cannot be read" in indexed.stdout and indexed.exit_code == 0
    assert "libjax_common.so without source here" in told
    assert "`xla::` and `tsl::` in https://github.com/openxla/xla" in told
    assert "`framedex index --source DIR`" in told


def test_indexing_again_reads_and_changes_nothing(project: Path) -> None:
    run()
    with Index.open(project / ".framedex" / "index.db") as index:
        before = index.calls.find(CallFilter())

    result = run("--json")

    document = json.loads(result.stdout)
    assert document["captures"] == [] and document["sources"]["parsed"] == 0
    with Index.open(project / ".framedex" / "index.db") as index:
        assert index.calls.find(CallFilter()) == before


def test_a_source_folder_is_stored(project: Path) -> None:
    (project / "src").mkdir()
    (project / "src" / "one.py").write_text("def one():\n    pass\n")
    run("--source", "src")
    (project / "src" / "two.py").write_text("def two():\n    pass\n")

    document = json.loads(run("--json").stdout)

    assert document["sources"]["parsed"] == 1
    with Store(project / ".framedex" / "index.db") as store:
        assert store.sources.roots() == [os.path.realpath("src")]


def test_an_external_capture_can_be_indexed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = unpack_capture(tmp_path / "elsewhere")
    monkeypatch.chdir(tmp_path)

    result = run(str(recorded))

    assert result.exit_code == 0, result.stderr
    assert str(recorded) in result.stdout
    assert (tmp_path / ".framedex" / "index.db").is_file()


def test_an_invalid_capture_folder_is_refused_and_the_others_are_indexed(project: Path) -> None:
    (project / "empty").mkdir()
    (capture,) = (project / ".framedex" / "captures").iterdir()

    result = run(str(project / "empty"), str(capture))

    assert result.exit_code == 1
    assert "empty was not indexed" in result.stderr
    with Index.open(project / ".framedex" / "index.db") as index:
        assert [row.path for row in index.captures()] == [str(capture)]


def test_an_index_of_a_newer_framedex_is_not_changed(project: Path) -> None:
    run()
    path = project / ".framedex" / "index.db"
    content = bytearray(path.read_bytes())
    content[60:64] = (VERSION + 1).to_bytes(4, "big")  # user_version, at byte 60 of SQLite's header
    path.write_bytes(content)

    for refused in (run(), run("--rebuild"), run("--follow")):
        assert refused.exit_code == 1 and "from a later framedex" in refused.stderr
    assert path.read_bytes()[60:64] == content[60:64]


def test_an_empty_run_creates_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    result = run()

    assert result.exit_code == 1
    assert "framedex run" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_prints_a_short_message_and_the_next_run_continues(project: Path) -> None:
    """Given an index run that gets SIGINT while it reads sources, it ends with 130 and the next run completes it."""
    (project / "src").mkdir()
    (project / "src" / "one.py").write_text("def one():\n    pass\n")
    script = (
        "import os, signal; from framedex.ingest import trees; from framedex.commands.main import cli\n"
        "trees.extract_files = lambda *arguments: os.kill(os.getpid(), signal.SIGINT)\n"
        "cli(['index', '--source', 'src'], prog_name='framedex')"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)

    assert done.returncode == 128 + signal.SIGINT
    assert "run `framedex index` again" in done.stderr and "Traceback" not in done.stderr
    result = run("--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["sources"]["parsed"] > 0
    with Index.open(project / ".framedex" / "index.db") as index:
        assert len(index.captures()) == 1

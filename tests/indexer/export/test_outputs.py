"""Exports in general: several captures, other runtimes, and unwritable paths."""

from __future__ import annotations

import gzip
import json
import resource
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from opentelemetry.proto.profiles.v1development.profiles_pb2 import ProfilesData

from framedex.commands.main import cli
from framedex.export.formats import FORMATS
from tests.indexed_ffi import indexed
from tests.indexer.export.exporting import export, run
from tests.indexer.export.pprof_message import PprofProfile
from tests.indexer.export.truth import calls_of
from tests.indexer.recorded import Project
from tests.run.costs.trained import index_of_training

FRAMEDEX = str(Path(sys.executable).with_name("framedex"))
_LIMIT = 33 << 10  # bytes: the shared memory of SQLite has 32 KiB
_WRITTEN = [name for name, form in FORMATS.items() if not form.tables]


def test_two_captures_export_their_own_calls(project: Project, tmp_path: Path) -> None:
    """Given two captures of one process, when both are exported, then each has its own calls."""
    project.ingest().close()
    project.ingest(capture=project.again("another")).close()
    calls = Counter(call.capture for call in calls_of(project.index))
    assert len(calls) == 2
    options = ("--capture", "all")
    profile = PprofProfile.FromString(gzip.decompress(export(project.index, "pprof", tmp_path / "pprof", *options)))
    labels: Counter[int] = Counter()
    for sample in profile.sample:
        told = {profile.string_table[each.key]: profile.string_table[each.str] for each in sample.label}
        labels[int(told["capture"])] += sample.value[1]
    assert labels == calls
    resources = ProfilesData.FromString(export(project.index, "otlp", tmp_path / "otlp", *options)).resource_profiles
    counts = [sum(sum(each.values) for each in of.scope_profiles[0].profiles[1].samples) for of in resources]
    assert counts == list(calls.values())
    firefox = json.loads(export(project.index, "firefox", tmp_path / "firefox", *options))
    processes: Counter[Any] = Counter()
    for thread in firefox["threads"]:
        processes[thread["pid"]] += thread["markers"]["length"]
    assert sorted(processes.values()) == sorted(calls.values())
    of_latest = export(project.index, "jsonl", tmp_path / "jsonl").splitlines()
    assert len(of_latest) == calls[2]


def test_runs_of_ffi_handlers_are_calls(tmp_path: Path) -> None:
    """Given the index of a program with FFI handlers, then each handler run is exported with its stack."""
    index = indexed("ffi_calls.py").index
    calls = [call for call in calls_of(index) if call.capture == 1]
    lines = export(index, "collapsed", tmp_path / "stacks", "--weight", "calls", "--capture", "1").splitlines()
    assert sum(int(line.rpartition(b" ")[2]) for line in lines) == len(calls)
    firefox = json.loads(export(index, "firefox", tmp_path / "firefox", "--capture", "1"))
    names = Counter(
        firefox["shared"]["stringArray"][name] for thread in firefox["threads"] for name in thread["markers"]["name"]
    )
    assert names == Counter(call.function for call in calls)


@pytest.mark.exhaustive(keep=["jsonl", "firefox"])
@pytest.mark.parametrize("form", [name for name in _WRITTEN if name != "pprof"])  # which is too small
def test_a_failed_export_keeps_the_previous_file(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an export beyond the file size limit, then the error says so, and only the previous file remains."""
    monkeypatch.setattr("framedex.export.firefox_threads._MAX_CHARACTERS", 1 << 10)
    monkeypatch.chdir("/")
    index = index_of_training()
    output = tmp_path / form
    output.write_text("of before")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LIMIT, limits[1]))
    try:
        done = run(index, form, output)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.exit_code == 1 and "could not be written: File too large" in done.stderr
    assert output.read_text() == "of before" and list(tmp_path.iterdir()) == [output]


def test_samples_without_a_time_are_weighted_by_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given an imported profile with sample counts and no chosen weight, then its counts are exported."""
    monkeypatch.chdir(tmp_path)
    Path("stacks.txt").write_text("main;put 3\nmain;get 4\n")
    index = tmp_path / "index.db"
    assert CliRunner().invoke(cli, ["--index", str(index), "import", "stacks.txt"]).exit_code == 0
    lines = export(index, "collapsed", tmp_path / "stacks").splitlines()
    assert sorted(int(line.rpartition(b" ")[2]) for line in lines) == [3, 4]
    assert export(index, "collapsed", tmp_path / "stacks", "--weight", "time") == b""


def test_a_pipe_gets_the_same_bytes_as_a_file(tmp_path: Path) -> None:
    """Given `-o >(gzip)`, whose size is unknown, then everything is written without an error."""
    command = [FRAMEDEX, "--index", str(index_of_training()), "export", "--format", "perfetto", "-o", "/dev/stdout"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == export(index_of_training(), "perfetto", tmp_path / "perfetto")
    assert done.stderr.startswith(b"Written: /dev/stdout, for ui.perfetto.dev.")


@pytest.mark.exhaustive(keep=["jsonl"])
@pytest.mark.parametrize("form", _WRITTEN)
def test_a_closed_pipe_causes_no_message(form: str) -> None:
    command = [FRAMEDEX, "--index", str(index_of_training()), "export", "--format", form, "-o", "-"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd="/") as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


def test_a_link_in_a_folder_of_tables_is_not_written_through(tmp_path: Path) -> None:
    """Given a link with the name of a table, when tables are written, then its target is unchanged."""
    theirs, folder = tmp_path / "theirs", tmp_path / "tables"
    theirs.write_text("theirs")
    folder.mkdir()
    (folder / "calls.parquet").symlink_to(theirs)
    assert run(index_of_training(), "parquet", folder).exit_code == 0
    assert theirs.read_text() == "theirs" and not (folder / "calls.parquet").is_symlink()

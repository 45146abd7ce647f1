"""A program recorded and profiled by JAX at once: the profile's ops of each recorded call."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from framedex.index import Index, Store
from framedex.ingest import SilentProgress, ingest_captures
from framedex.model import CallFilter, CallRow
from framedex.model.totals import ProfiledRun
from tests.indexer.imports.profiles import framedex
from tests.once import made_once
from tests.running import run


def _record(folder: Path) -> Path:
    """A project with an indexed recording, and its profile beside it."""
    ran = run("profiled.py", str(folder / "profile"), folder=folder)
    assert ran.status == 0, ran.stderr
    (folder / ".framedex").mkdir()
    with Store(folder / ".framedex" / "index.db") as store:
        ingest_captures(store, ran.captures, [], SilentProgress())
    (profile,) = (folder / "profile").rglob("*.xplane.pb")
    profile.rename(folder / "profiled.xplane.pb")
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """That project without an imported profile."""
    shutil.copytree(made_once("profiled-while-recorded", _record), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _profiled(project: Path) -> list[tuple[CallRow, ProfiledRun | None]]:
    """The calls that ran a program, by their start, each with its profile data."""
    with Index.open(project / ".framedex" / "index.db") as index:
        calls = index.calls.with_object_names(
            index.calls.find(CallFilter(capture=1, function="PJRT_LoadedExecutable_Execute"))
        )
        return [(call, index.calls.find_profiled_run(call)) for call in calls]


def test_calls_have_the_ops_of_their_own_runs(project: Path) -> None:
    """Of calls before, during and after a profile, those during it have their ops."""
    assert all(profiled is None for _, profiled in _profiled(project))
    assert framedex("import", "profiled.xplane.pb").exit_code == 0
    found = _profiled(project)
    runs = [profiled for _, profiled in found if profiled is not None]
    assert [run.program for run in runs] == ["jit_step", "jit_scale"] * 3
    assert found[0][1] is None and found[-1][1] is None
    samples = [op.sample for run in runs for op in run.ops]
    assert len(set(samples)) == len(samples)
    for name in ("jit_step", "jit_scale"):
        starts = [run.ops[0].start for run in runs if run.program == name]
        assert starts == sorted(starts)
    shown = framedex("trace", str(found[-2][0].id))
    assert "of jit_scale" in shown.stdout and "[by program and time, from capture 2]" in shown.stdout
    assert framedex("trace", str(found[-2][0].id), "--capture", "1").stdout == shown.stdout
    told = json.loads(framedex("trace", str(found[-2][0].id), "--json").stdout)
    assert [op["sample"] for op in told["profiled"]["ops"]] == [op.sample for op in runs[-1].ops]


@pytest.mark.exhaustive
def test_calls_have_no_ops_if_their_number_differs_from_the_runs(project: Path) -> None:
    """If a profile lacks one run, no call of this program has ops; those of the other program have."""
    assert framedex("import", "profiled.xplane.pb").exit_code == 0
    lost = next(run for _, run in _profiled(project) if run is not None and run.program == "jit_step")
    with closing(sqlite3.connect(project / ".framedex" / "index.db")) as connection, connection:
        connection.execute(
            "UPDATE call_rows SET arguments = (SELECT id FROM arguments WHERE json = '{}')"
            f" WHERE id IN ({','.join(str(op.sample) for op in lost.ops)})"
        )
    assert {run.program for _, run in _profiled(project) if run is not None} == {"jit_scale"}

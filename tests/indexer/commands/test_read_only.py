"""Verbs with `--read-only`: an index is used unchanged, or refused."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index.file.seal import seal_path
from tests.indexer.recorded import Project


def ask(index: Path, *arguments: str) -> Result:
    return CliRunner().invoke(cli, ["--read-only", "--index", str(index), *arguments])


@pytest.mark.parametrize("verb", ["captures", "explain"])
def test_an_index_of_an_earlier_version_is_refused_unchanged(project: Project, verb: str) -> None:
    project.ingest().close()
    with closing(sqlite3.connect(project.index)) as connection, connection:
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    before = project.index.read_bytes()
    result = ask(project.index, verb)

    assert result.exit_code == 1
    assert "has version 1" in result.stderr
    assert "to rebuild it from its captures" in result.stderr
    assert project.index.read_bytes() == before


def test_a_moved_project_is_read_without_updating_its_index(project: Project, tmp_path: Path) -> None:
    project.ingest().close()
    moved = tmp_path / "moved"
    shutil.copytree(project.folder, moved, ignore=lambda folder, names: {"moved"} & {*names})
    index = moved / ".framedex" / "index.db"
    before = index.read_bytes(), seal_path(index).read_bytes()

    assert ask(index, "captures", "--all").exit_code == 0
    assert (index.read_bytes(), seal_path(index).read_bytes()) == before
    assert CliRunner().invoke(cli, ["--index", str(index), "captures", "--all"]).exit_code == 0
    assert (index.read_bytes(), seal_path(index).read_bytes()) != before

"""Parquet tables joined by DuckDB: calls with their stacks and frames match the index."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import duckdb
import pytest

from tests.indexer.export.exporting import hostile_index, run
from tests.indexer.export.truth import calls_of
from tests.indexer.recorded import Project
from tests.run.costs.trained import index_of_training

_STACKS = """
    SELECT s.id, list({name: f.name, path: f.path, line: f.line} ORDER BY u.place)
    FROM 'stacks.parquet' s, unnest(s.frames) WITH ORDINALITY u(frame, place) JOIN 'frames.parquet' f ON f.id = u.frame
    GROUP BY s.id
"""


@pytest.mark.parametrize("program", ["hostile", "training"])
def test_call_tables_join_with_frame_tables(project: Project, program: str, tmp_path: Path) -> None:
    index = index_of_training() if program == "training" else hostile_index(project)
    done = run(index, "parquet", tmp_path / "tables")
    assert done.exit_code == 0, done.output
    with duckdb.connect() as connection:
        query = _STACKS.replace("'stacks", f"'{tmp_path}/tables/stacks").replace(
            "'frames.", f"'{tmp_path}/tables/frames."
        )
        stacks = {
            number: [(each["name"], each["path"], each["line"]) for each in frames]
            for number, frames in connection.execute(query).fetchall()
        }
        rows = connection.execute(
            f"SELECT id, function, thread, start, duration, stack, arguments FROM '{tmp_path}/tables/calls.parquet'"
        ).fetchall()
    assert [(*row[:5], json.loads(row[6])) for row in rows] == [
        (
            each.id,
            each.function,
            each.thread,
            each.start,
            each.duration if each.duration >= 0 else None,
            json.loads(each.arguments),
        )
        for each in calls_of(index)
    ]
    for call, row in zip(calls_of(index), rows, strict=True):
        assert stacks[row[5]] == [(name, path or "", line or 0) for name, path, line, _ in call.stack]


def test_without_pyarrow_the_error_names_the_package_to_install(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.ingest().close()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "framedex.export.parquet", raising=False)
    done = run(project.index, "parquet", tmp_path / "tables")
    assert done.exit_code == 1 and "pip install 'framedex[export]'" in done.stderr
    assert not (tmp_path / "tables").exists()


def test_tables_need_an_output_folder(project: Project, tmp_path: Path) -> None:
    project.ingest().close()
    assert run(project.index, "parquet", "-").exit_code == 2
    (tmp_path / "file").write_text("of before")
    done = run(project.index, "parquet", tmp_path / "file")
    assert done.exit_code == 1 and "cannot be created" in done.stderr
    assert (tmp_path / "file").read_text() == "of before"

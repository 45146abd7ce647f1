"""Recordings in flight mode (`framedex run --flight`) say how many calls they only counted."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from framedex.captures import read_capture
from framedex.commands.main import cli
from tests.indexer.unplaced import index_without_sources
from tests.running import run


def test_answers_report_the_number_of_counted_calls(tmp_path: Path) -> None:
    ran = run("many_puts.py", "5", folder=tmp_path, FRAMEDEX_FLIGHT="1")
    index = tmp_path / "index.db"
    index_without_sources(index, ran.capture)
    queries = read_capture(ran.capture).stops.queries

    for verb in ("captures", "calls", "check"):
        answer = CliRunner(env={"COLUMNS": "200"}).invoke(cli, ["--index", str(index), verb]).output
        assert f"Not recorded by choice: {queries} calls that `--flight` only counts." in " ".join(answer.split()), verb
    assert queries > 0


def test_a_ring_that_has_overwritten_its_beginning_is_still_on_the_mock(tmp_path: Path) -> None:
    ran = run("many_puts.py", "30000", folder=tmp_path, FRAMEDEX_FLIGHT="1", FRAMEDEX_LIMIT=str(1 << 20))
    index = tmp_path / "index.db"
    index_without_sources(index, ran.capture)
    calls = CliRunner().invoke(cli, ["--index", str(index), "calls", "--function", "GetPjrtApi", "--json"])
    assert not json.loads(calls.stdout)["calls"]

    answer = CliRunner(env={"COLUMNS": "200"}).invoke(cli, ["--index", str(index), "memory"]).output
    assert "on the mock TPU" in answer

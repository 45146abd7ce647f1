"""Answers with device times say that a recording used the mock TPU."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from tests.indexer.commands.small_captures import unpack_capture

NOTE = "on the mock TPU; device times are its CPU's"
VERBS = ("waits", "summary", "memory", "transfers")


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """The index of two recordings on the mock TPU."""
    path = tmp_path / ".framedex" / "index.db"
    for number in (1, 2):
        unpack_capture(tmp_path / ".framedex" / "captures" / f"20260101-00000{number}-1", pid=number)
    done = CliRunner().invoke(cli, ["--index", str(path), "index", str(path.parent / "captures")])
    assert done.exit_code == 0, done.stderr
    return path


def ask(index: Path, *arguments: str) -> str:
    return CliRunner().invoke(cli, ["--index", str(index), *arguments]).stdout


def record_on_hardware(index: Path, capture: int) -> None:
    """Change an indexed capture to look like another plug-in's recording."""
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("UPDATE captures SET is_on_mock = 0 WHERE id = ?", (capture,))
        connection.execute(
            "UPDATE arguments SET json = replace(json, 'the mock TPU', '/lib/libtpu.so') WHERE id IN"
            " (SELECT c.arguments FROM call_rows c JOIN call_kinds k ON k.id = c.kind WHERE k.capture = ?)",
            (capture,),
        )
        connection.execute(
            "DELETE FROM call_kinds WHERE capture = ? AND boundary IN"
            " (SELECT id FROM boundaries WHERE boundary = 'mock_tpu')",
            (capture,),
        )


@pytest.mark.parametrize("verb", VERBS)
def test_answers_with_device_times_name_the_mock(index: Path, verb: str) -> None:
    assert ask(index, verb).splitlines()[0].endswith(f", {NOTE}")
    assert json.loads(ask(index, verb, "--json"))["on_mock"]
    everything = ask(index, verb, "--capture", "all").splitlines()[0]
    assert everything.endswith(f", {NOTE}") and "capture 1" not in everything
    record_on_hardware(index, 2)
    assert ask(index, verb, "--capture", "all").splitlines()[0].endswith(f", capture 1 {NOTE}")
    assert NOTE not in ask(index, verb, "--capture", "2")
    assert json.loads(ask(index, verb, "--capture", "2", "--json"))["on_mock"] == []


def test_a_report_names_the_mock(index: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert CliRunner().invoke(cli, ["--index", str(index), "report", "-o", str(page)]).exit_code == 0
    assert "on the mock TPU; device times are its CPU" in page.read_text()

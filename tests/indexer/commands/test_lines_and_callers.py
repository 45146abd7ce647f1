"""`where` on every line of a statement, and `callers` with data from the sources."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Store
from framedex.model import ExtractedFile
from tests.server.spread import Spread, record_spread


@pytest.fixture
def spread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spread:
    monkeypatch.chdir(tmp_path)
    return record_spread(tmp_path)


def run(*arguments: str) -> Result:
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 0, done.output
    return done


def test_where_names_the_line_of_the_statement_for_each_frame(spread: Spread) -> None:
    told = run("where", "spread.cc:4").stdout
    assert "spread.cc:2 [the statement on line 4]  1 call" in told
    assert "[the statement" not in run("where", "spread.cc:2").stdout
    assert json.loads(run("where", "spread.cc:4", "--json").stdout)["summary"]["frame_lines"] == [2]


def test_where_lists_all_frames_of_the_statement(spread: Spread) -> None:
    told = run("where", "spread.cc:9").stdout
    assert "spread.cc:8 [the statement on line 9]  2 calls" in told
    assert "and at " in told and "spread.cc:10" in told
    assert "spread.cc:10" not in run("where", "spread.cc:8").stdout


def test_where_excludes_the_adjacent_statement(spread: Spread) -> None:
    done = CliRunner().invoke(cli, ("where", "spread.cc:6"))
    assert done.exit_code == 1
    assert "call" not in done.stdout and "No recorded call passes" in done.stderr


@pytest.fixture
def read(spread: Spread) -> Spread:
    """The same with its sources: `main` was seen calling `later`, two others were not, and one may."""
    calls: list[tuple[str, str, int, int, str | None]] = [
        ("a::sure", "function", 30, 32, '[[31, 3, "call", "later"], [32, 3, "call", "later"]]'),
        ("a::later", "function", 13, 21, None),
        ("b::Other::method", "method", 40, 42, '[[41, 3, "call", "later", "x->later"]]'),
        ("b::else", "function", 50, 52, '[[51, 3, "call", "later", "std::later"]]'),
    ]
    rows = [
        (name, name.split("::")[-1], kind, "()", line, end, False, False, text) for name, kind, line, end, text in calls
    ]
    with Store(spread.index) as store, store.transaction():
        store.sources.replace_files([ExtractedFile(str(spread.cpp), "cpp", 0, 0, 0, 0, rows, ())], {})
    return spread


def test_static_callers_follow_the_recorded_ones_on_request(read: Spread) -> None:
    assert "static a::" not in run("callers", "later").stdout
    _, *lines = run("callers", "later", "--static").stdout.splitlines()
    assert "main" in lines[1]
    assert lines[2].split()[:2] == ["static", "a::sure"] and "spread.cc:31" in lines[2]
    assert lines[2].endswith("never recorded") and "spread.cc:32" in lines[3]


def test_without_the_source_of_the_function_static_callers_are_unknown(spread: Spread) -> None:
    assert "the source is not in the index" in run("callers", "later", "--static").stdout
    (function,) = json.loads(run("callers", "later", "--static", "--json").stdout)["functions"]
    assert function["static"] is None


def test_json_output_separates_static_callers(read: Spread) -> None:
    (plain,) = json.loads(run("callers", "later", "--json").stdout)["functions"]
    assert "static" not in plain
    (function,) = json.loads(run("callers", "later", "--static", "--json").stdout)["functions"]
    assert [each["function"]["name"] for each in function["callers"]] == ["main"]
    (static,) = function["static"]["callers"]
    assert (static["name"], static["lines"], static["one_of"], static["is_sure"]) == ("a::sure", [31, 32], 1, True)
    assert function["static"]["doubtful"] == 0

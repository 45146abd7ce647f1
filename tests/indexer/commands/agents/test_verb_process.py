"""Verbs and SQL for agents: each in its own process, with a time limit and an output limit."""

from __future__ import annotations

import os
import resource
import signal
import sys

import anyio
import pytest

from framedex.base.errors import FramedexError
from framedex.commands.agents import query_process, verb_process
from framedex.commands.agents.verb_process import VerbRunner
from framedex.index.ask.sql import MAX_MEMORY_BYTES
from tests.indexer.recorded import Project


@pytest.fixture
def verbs(project: Project) -> VerbRunner:
    project.ingest().close()
    return VerbRunner(project.index)


def test_output_lines_and_notes_are_separated(verbs: VerbRunner) -> None:
    answer = anyio.run(verbs.run, ["find", "--limit=1", "--", "transfer"], "")

    assert len(answer.lines) == 1
    assert "transfer" in answer.lines[0]
    assert not answer.is_failure
    wrong = anyio.run(verbs.run, ["calls", "--capture=many", "--"], "")
    assert wrong.is_failure
    assert wrong.notes[0].startswith("Invalid value for '--capture': 'many' is not a list of captures")


def test_a_slow_verb_is_stopped(verbs: VerbRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb_process, "VERB_TIMEOUT_S", 0.02)

    with pytest.raises(FramedexError, match="The command took more than 20 ms and was stopped"):
        anyio.run(verbs.run, ["captures", "--"], "")


def test_excessive_output_is_cut_after_a_line(verbs: VerbRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verb_process, "MAX_OUTPUT_BYTES", 150)
    answer = anyio.run(verbs.run, ["trace", "--all", "--", "1"], "")

    assert answer.is_cut
    assert not answer.is_failure
    assert sum(map(len, answer.lines)) < 150


@pytest.mark.exhaustive(keep=["SELECT printf('%.*c', 1000000000, 'x')"])
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT printf('%.*c', 1000000000, 'x')",
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n",
        "SELECT instr(hex(zeroblob(500000)), hex(zeroblob(250000)) || '1')",
    ],
)
def test_a_query_without_time_checks_is_stopped(
    project: Project, verbs: VerbRunner, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    monkeypatch.setattr(verb_process, "QUERY_TIMEOUT_S", 0.1)

    with pytest.raises(FramedexError, match="The query took more than 100 ms and was stopped"):
        anyio.run(verbs.query, project.index, statement)


def test_a_row_of_wide_values_is_bounded_in_memory(project: Project, verbs: VerbRunner) -> None:
    """Also in Python: one non-ASCII character makes a string four times as large."""
    wide = "hex(zeroblob(450000)) || char(128512)"
    answer = anyio.run(verbs.query, project.index, f"SELECT {', '.join([wide] * 170)}")

    assert answer.is_failure
    assert f"needs more than {MAX_MEMORY_BYTES >> 20} MiB of memory" in answer.notes[0]


@pytest.mark.parametrize(
    ("code", "end"),
    [
        (f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})", "ended by SIGKILL"),
        (f"import os; os.kill(os.getpid(), {int(signal.SIGSEGV)})", "ended by SIGSEGV"),
        ("raise SystemExit(9)", "ended with status 9"),
    ],
)
def test_a_process_that_dies_silently_is_reported(
    project: Project, verbs: VerbRunner, monkeypatch: pytest.MonkeyPatch, code: str, end: str
) -> None:
    monkeypatch.setattr(verb_process, "build_own_module_command", lambda *_: [sys.executable, "-c", code])
    monkeypatch.setattr(verb_process, "build_own_code_command", lambda *_: [sys.executable, "-c", code])
    query = anyio.run(verbs.query, project.index, None)
    verb = anyio.run(verbs.run, ["captures"], "")

    assert query.is_failure and verb.is_failure
    said = f"The query {end}: it may have needed too much memory. Select fewer rows or columns."
    assert query.notes == (said,)
    assert verb.notes[0].startswith(f"The command {end}: ")


def test_a_query_out_of_memory_names_the_remedy(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(query_process, "format_query_rows", exhausted)
    answer = query_process._run_request({"index": os.fspath(project.index), "query": None, "seconds": 1.0})

    assert answer.is_failure
    assert answer.notes == ("The query needed too much memory. Select fewer rows or columns.",)


def test_a_lower_memory_limit_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "setrlimit", lambda _, both: limits.append(both))
    infinite = resource.RLIM_INFINITY
    for soft in (100 << 20, 4 << 30, infinite):
        monkeypatch.setattr(resource, "getrlimit", lambda _, soft=soft: (soft, infinite))
        query_process._limit_memory()

    assert limits == [(100 << 20, infinite), (2 * MAX_MEMORY_BYTES, infinite), (2 * MAX_MEMORY_BYTES, infinite)]


def test_query_rows_are_returned_unchanged(project: Project, verbs: VerbRunner) -> None:
    answer = anyio.run(verbs.query, project.index, "SELECT '' AS text UNION ALL SELECT char(10) || 'a'")

    assert answer.lines == ("text", "", "\\x0aa")
    assert not answer.is_cut
    assert anyio.run(verbs.query, project.index, None).lines[0] == "view | columns"
    assert anyio.run(verbs.query, project.index, "SELECT no_such").is_failure
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"
    assert anyio.run(verbs.query, project.index, endless).is_cut

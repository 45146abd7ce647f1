"""Verbs that are asked for agents: each in a process of its own, which ends in time and prints no more than is read."""

from __future__ import annotations

import anyio
import pytest

from framedex.commands.agents import asking
from framedex.commands.agents.asking import Verbs
from framedex.errors import FramedexError
from tests.indexer.recorded import Project


@pytest.fixture
def verbs(project: Project) -> Verbs:
    project.ingest().close()
    return Verbs(project.index)


def test_lines_and_notes_are_told_apart(verbs: Verbs) -> None:
    answer = anyio.run(verbs.ask, ["find", "--limit=1", "--", "transfer"], "")

    assert len(answer.lines) == 1
    assert "transfer" in answer.lines[0]
    assert not answer.is_failure
    wrong = anyio.run(verbs.ask, ["calls", "--capture=many", "--"], "")
    assert wrong.is_failure
    assert wrong.notes[0].startswith("Invalid value for '--capture': 'many' names no captures")


def test_what_takes_too_long_is_stopped(verbs: Verbs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "PATIENCE", 0.02)

    with pytest.raises(FramedexError, match="It took more than 20 ms and was stopped"):
        anyio.run(verbs.ask, ["captures", "--"], "")


def test_what_prints_too_much_is_cut_after_a_line(verbs: Verbs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "MOST_READ", 150)
    answer = anyio.run(verbs.ask, ["trace", "--all", "--", "1"], "")

    assert answer.is_cut
    assert not answer.is_failure
    assert sum(map(len, answer.lines)) < 150

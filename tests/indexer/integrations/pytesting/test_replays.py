"""The fixture `replay_recording` replays recordings at the plug-in under test."""

from __future__ import annotations

from pathlib import Path

from tests.indexer.integrations.pytesting.projects import pytest_in
from tests.indexer.plugins.replay.test_replay import FAULT, recorded

TESTS = """
def test_exactly(replay_recording):
    replay_recording({path!r})

def test_nearly(replay_recording):
    replay_recording({path!r}, rtol=1e-3)
"""


def test_a_recording_is_replayed_with_a_tolerance(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS.format(path=str(recorded("trained"))))
    (tmp_path / "fault.py").write_text(FAULT)
    done = pytest_in(tmp_path, FRAMEDEX_BEHAVIOUR=str(tmp_path / "fault.py"))
    assert done.outcomes == {"test_exactly": "failed", "test_nearly": "passed"}, done.output
    assert "contents differ" in done.section("test_exactly") and "first difference: jit_step" in done.output
    none = pytest_in(tmp_path, "--framedex-plugin", "none.so", "-k", "exactly")
    assert none.outcomes == {"test_exactly": "failed"} and "There is no plug-in" in none.output

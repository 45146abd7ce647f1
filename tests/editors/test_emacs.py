"""editors/emacs in a real Emacs with eglot, doing what a person would do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.editors.sessions import EDITORS, WALK, play

SCRIPT = Path(__file__).with_name("emacs_session.el")


def has_eglot() -> bool:
    """Whether there is an Emacs with eglot."""
    if shutil.which("emacs") is None:
        return False
    probe = ["emacs", "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"]
    return subprocess.run(probe, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(
    not has_eglot(), reason="needs Emacs with eglot (Debian: apt-get install emacs-nox elpa-eglot)"
)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one session saw."""
    command = ["emacs", "--batch", "--load", str(SCRIPT)]
    return play(command, EDITORS / "emacs" / "framedex.el", tmp_path_factory.mktemp("emacs"))


def test_hover_tells_what_was_recorded(seen: dict[str, Any]) -> None:
    assert "3 recorded calls" in seen["hover"]


def test_references_list_where_the_stacks_came_from(seen: dict[str, Any]) -> None:
    assert seen["references"] == [{"file": "demo.py", "line": 11}]


def test_definition_goes_to_the_frame_and_on(seen: dict[str, Any]) -> None:
    assert seen["definition"] == {"file": "demo.py", "line": 5, "column": 4}
    assert seen["next"] == {"file": "library.py", "line": 4, "column": 4}


def test_a_frame_line_of_a_log_leads_to_its_source(seen: dict[str, Any]) -> None:
    assert (seen["from_log"]["file"], seen["from_log"]["line"]) == ("library.py", 4)


def test_a_walk_goes_through_trees_of_their_own(seen: dict[str, Any]) -> None:
    assert [(place["file"], place["line"]) for place in seen["walk"]] == WALK


def test_a_load_without_eglot_says_where_to_get_it() -> None:
    # A hidden eglot is what Emacs 28 is without the package.
    hidden = """(progn
      (setq backtrace-on-error-noninteractive nil)
      (advice-add 'require :around
                  (lambda (load feature &rest more) (unless (eq feature 'eglot) (apply load feature more)))))"""
    plugin = EDITORS / "emacs" / "framedex.el"
    command = ["emacs", "-Q", "--batch", "--eval", hidden, "--load", str(plugin)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "Emacs 29" in done.stderr
    assert "elpa-eglot" in done.stderr


def test_a_frame_line_of_a_trace_document_leads_to_its_source(seen: dict[str, Any]) -> None:
    assert seen["trace_mode"] == "framedex-trace-mode"
    assert seen["from_trace"] == {"file": "library.py", "line": 4, "column": 4}


def test_steps_go_along_one_stack_out_of_the_project_too(seen: dict[str, Any]) -> None:
    assert [(place["file"], place["line"]) for place in seen["steps"]] == [
        ("demo.py", 5),
        ("library.py", 4),
        ("client.cc", 4),
        ("library.py", 4),
    ]


def test_captures_are_offered_and_a_trace_is_opened(seen: dict[str, Any]) -> None:
    assert seen["capture"] == 1
    assert seen["opened_trace"]["file"] == "call-3.fdtrace"

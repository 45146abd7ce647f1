"""editors/emacs in a real Emacs with eglot, driven like a user."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.editors.sessions import EDITORS, WALK, play

SCRIPT = Path(__file__).with_name("emacs_session.el")


def has_eglot() -> bool:
    """Whether there is an Emacs with eglot."""
    return has_package("eglot")


@functools.cache
def has_package(name: str) -> bool:
    """Whether there is an Emacs with this package."""
    if shutil.which("emacs") is None:
        return False
    probe = ["emacs", "--batch", "--eval", f"(progn (package-initialize) (require '{name}))"]
    return subprocess.run(probe, capture_output=True).returncode == 0


pytestmark = pytest.mark.skipif(
    not has_eglot(), reason="needs Emacs with eglot (Debian: apt-get install emacs-nox elpa-eglot)"
)


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of one session."""
    command = ["emacs", "--batch", "--load", str(SCRIPT)]
    return play(command, EDITORS / "emacs", tmp_path_factory.mktemp("emacs"))


def test_hover_shows_recorded_data(seen: dict[str, Any]) -> None:
    assert "3 recorded calls" in seen["hover"]


def test_references_list_the_origins_of_stacks(seen: dict[str, Any]) -> None:
    assert seen["references"] == [{"file": "demo.py", "line": 11}]


def test_definition_goes_to_the_frame_and_continues_inward(seen: dict[str, Any]) -> None:
    assert seen["definition"] == {"file": "demo.py", "line": 5, "column": 4}
    assert seen["next"] == {"file": "library.py", "line": 4, "column": 4}


def test_a_frame_line_of_a_log_leads_to_its_source(seen: dict[str, Any]) -> None:
    assert (seen["from_log"]["file"], seen["from_log"]["line"]) == ("library.py", 4)


def test_stepping_crosses_separate_source_trees(seen: dict[str, Any]) -> None:
    assert [(place["file"], place["line"]) for place in seen["walk"]] == WALK


def test_loading_without_eglot_names_the_package_to_install() -> None:
    # Hiding eglot simulates an Emacs 28 without the package.
    hidden = """(progn
      (setq backtrace-on-error-noninteractive nil)
      (advice-add 'require :around
                  (lambda (load feature &rest more) (unless (eq feature 'eglot) (apply load feature more)))))"""
    command = ["emacs", "-Q", "--batch", "--eval", hidden, "-L", str(EDITORS / "emacs"), "-l", "framedex"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0
    assert "Emacs 29" in done.stderr
    assert "elpa-eglot" in done.stderr


def test_a_frame_line_of_a_trace_document_leads_to_its_source(seen: dict[str, Any]) -> None:
    assert seen["trace_mode"] == "framedex-trace-mode"
    assert seen["from_trace"] == {"file": "library.py", "line": 4, "column": 4}


def test_n_and_p_move_between_the_frame_buttons_of_a_trace(seen: dict[str, Any]) -> None:
    """The text alone is enough, before any server has the trace."""
    assert seen["moved"] == ["  1 P <module>", "  2 P main", "  1 P <module>"]
    assert (seen["by_return"]["file"], seen["by_return"]["line"]) == ("library.py", 4)
    assert seen["imenu"][:4] == ["<module>", "main", "make_input", "device_put"]


def test_interpreter_frames_are_folded_and_skipped(seen: dict[str, Any]) -> None:
    assert seen["folds"] == ["    … 2 glue or interpreter frames"]
    assert seen["behind_fold"] == "  7 N jax::Moved"
    assert seen["unfolded"] == 0


def test_a_hostile_trace_is_displayed_but_never_executed(seen: dict[str, Any]) -> None:
    """Opening and visiting file-local variables and TRAMP-like paths has no side effects."""
    assert seen["hostile"] == {
        "mode": "framedex-trace-mode",
        "fill": 70,
        "visited": "No source found for this line",
    }


def test_the_stepped_stack_is_highlighted_until_cleared(seen: dict[str, Any]) -> None:
    assert seen["highlights"] == [[5, "framedex-stack"], [8, "framedex-here"], [11, "framedex-stack"]]
    assert seen["cleared"] == []


def test_a_stack_is_picked_from_a_list_and_its_frames_are_listed(seen: dict[str, Any]) -> None:
    assert [row.split() for row in seen["stacks"]] == [["3", "6", "µs", "PJRT_Client_BufferFromHostBuffer"]]
    frames = [row.split()[:2] for row in seen["frames"]]
    assert frames[:4] == [["1", "<module>"], ["2", "main"], ["3", "make_input"], ["4", "device_put"]]
    assert (seen["from_frames"]["file"], seen["from_frames"]["line"]) == ("library.py", 4)


def test_further_steps_are_listed_by_function(seen: dict[str, Any]) -> None:
    assert [row.split() for row in seen["callees"]] == [
        ["2", "demo.py:5", "make_input"],
        ["1", "library.py:7", "devices"],
    ]
    assert (seen["from_callees"]["file"], seen["from_callees"]["line"]) == ("library.py", 7)
    assert [row.split()[1:] for row in seen["callers"]] == [["demo.py:11", "<module>"]]


def test_recorded_lines_have_a_mark_in_the_fringe(seen: dict[str, Any]) -> None:
    assert {8, 9} <= set(seen["recorded_lines"])


def test_a_step_reports_its_direction_and_offers_alternatives(seen: dict[str, Any]) -> None:
    assert seen["way"] == "way 1 of 2"
    assert (seen["from_ways"]["file"], seen["from_ways"]["line"]) == ("library.py", 7)


def test_the_public_source_at_the_end_of_a_stack_opens_in_the_browser(seen: dict[str, Any]) -> None:
    assert seen["public"] == "https://example.org/shape.cc#L12"


def test_a_call_is_picked_from_a_list_and_its_trace_is_opened(seen: dict[str, Any]) -> None:
    assert [row.split()[0] for row in seen["calls"]] == ["3", "2", "1"]
    assert seen["from_calls"]["file"] == "call-2.fdtrace"


def test_a_reopened_trace_is_reloaded_without_a_prompt(seen: dict[str, Any]) -> None:
    assert seen["opened_again"] == {"asked": False, "stale": False}


def test_a_trace_opened_from_a_file_uses_the_running_server(seen: dict[str, Any]) -> None:
    assert seen["folds_of_fresh"] > 0
    assert seen["server_of_elsewhere"] is True


def test_framedex_answers_beside_another_server(seen: dict[str, Any]) -> None:
    assert seen["beside_another"] == {"eglot": "other", "asked": "framedex", "stacks": []}


def test_an_empty_answer_tells_end_of_stack_from_not_recorded(seen: dict[str, Any]) -> None:
    nothing = "No recorded call went through this line: the line is empty. Nearest: line 5 (5 calls)."
    assert seen["nothing_there"] == [nothing] * 2
    assert seen["at_the_end"] == "No frame with source is further inward on this stack."


def test_an_empty_answer_reports_index_problems_each_time(seen: dict[str, Any]) -> None:
    assert len(seen["damaged"]) == 2
    for each in seen["damaged"]:
        assert "index.db is empty." in each and "framedex index" in each


def test_a_failing_script_reports_its_output_file(seen: dict[str, Any]) -> None:
    assert seen["failed"].startswith("Recorded, exit status 1: M-x eglot-events-buffer")


def test_captures_are_picked_and_compared(seen: dict[str, Any]) -> None:
    assert seen["picked"] == "Answers now cover only demo.py"
    assert seen["compared"].startswith("demo.py:8, before → after:")
    assert seen["without_captures"].startswith("Nothing has been recorded here yet")
    assert seen["without_captures"].endswith(" (M-x framedex-record)")
    assert seen["unpicked"] == "Answers now cover the captures in the project's settings"


def test_every_file_byte_compiles_without_warnings(tmp_path: Path) -> None:
    for source in (EDITORS / "emacs").glob("framedex*.el"):
        shutil.copy(source, tmp_path)
    strict = "(progn (package-initialize) (setq byte-compile-error-on-warn t))"
    files = sorted(map(str, tmp_path.glob("*.el")))
    done = subprocess.run(
        ["emacs", "--batch", "--eval", strict, "-L", str(tmp_path), "-f", "batch-byte-compile", *files],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert len(list(tmp_path.glob("*.elc"))) == len(files)


def test_the_main_file_has_the_headers_of_a_package() -> None:
    parse = """(with-temp-buffer
      (insert-file-contents (pop command-line-args-left))
      (let ((package (package-buffer-info)))
        (princ (list (package-desc-name package) (package-version-join (package-desc-version package))
                     (mapcar #'car (package-desc-reqs package))
                     (alist-get :keywords (package-desc-extras package))))))"""
    main = EDITORS / "emacs" / "framedex.el"
    done = subprocess.run(
        ["emacs", "-Q", "--batch", "--eval", "(require 'package)", "--eval", parse, str(main)],
        capture_output=True,
        text=True,
    )
    assert re.fullmatch(r"\(framedex [\d.]+ \(emacs eglot\) \(tools languages c processes\)\)", done.stdout), (
        done.stderr
    )


def test_steps_follow_one_stack_out_of_the_project(seen: dict[str, Any]) -> None:
    assert [(place["file"], place["line"]) for place in seen["steps"]] == [
        ("demo.py", 5),
        ("library.py", 4),
        ("client.cc", 4),
        ("library.py", 4),
    ]


def test_captures_are_offered_and_a_trace_is_opened(seen: dict[str, Any]) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d demo\.py \(capture 1\)", seen["captures"][0])
    assert (seen["captures"][1:], seen["capture"]) == (["as the project has it"], 1)
    assert seen["opened_trace"]["file"] == "call-3.fdtrace"

"""editors/neovim in a real, headless Neovim, doing what a person would do."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.editors.sessions import EDITORS, WALK, play

SCRIPT = Path(__file__).with_name("neovim_session.lua")

pytestmark = pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim (Debian: apt-get install neovim)")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one session saw."""
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", str(SCRIPT)]
    return play(command, EDITORS / "neovim" / "framedex.lua", tmp_path_factory.mktemp("neovim"))


def test_hover_tells_what_was_recorded(seen: dict[str, Any]) -> None:
    assert seen["filetype"] == "python"
    assert "3 recorded calls" in seen["hover"]
    assert "PJRT_Client_BufferFromHostBuffer" in seen["hover"]


def test_references_list_where_the_stacks_came_from(seen: dict[str, Any]) -> None:
    assert seen["references"] == [{"file": "demo.py", "line": 11, "text": "main()"}]


def test_the_call_hierarchy_is_listed_both_ways(seen: dict[str, Any]) -> None:
    assert seen["incoming"] == [{"file": "demo.py", "line": 11, "text": "<module>"}]
    assert {call["text"] for call in seen["outgoing"]} == {"make_input", "devices"}


def test_neovims_own_definition_goes_to_the_frame(seen: dict[str, Any]) -> None:
    assert seen["definition"] == {"file": "demo.py", "line": 5, "column": 4}


def test_go_to_frame_goes_on_across_the_border(seen: dict[str, Any]) -> None:
    assert seen["frame"] == {"file": "library.py", "line": 4, "column": 4}
    assert seen["across_the_border"] == {"file": "client.cc", "line": 4, "column": 0}


def test_a_frame_line_of_a_log_leads_to_its_source(seen: dict[str, Any]) -> None:
    assert (seen["from_log"]["file"], seen["from_log"]["line"]) == ("library.py", 4)


def test_a_walk_goes_through_trees_of_their_own_with_one_server(seen: dict[str, Any]) -> None:
    assert [(place["file"], place["line"]) for place in seen["walk"]] == WALK
    assert seen["servers"] == 1


def test_a_frame_line_of_a_trace_document_leads_to_its_source(seen: dict[str, Any]) -> None:
    assert seen["trace_filetype"] == "framedex-trace"
    assert seen["from_trace"] == {"file": "library.py", "line": 4, "column": 4}


def test_steps_go_along_one_stack_and_back(seen: dict[str, Any]) -> None:
    assert [(place["file"], place["line"]) for place in seen["steps"]] == [
        ("demo.py", 5),
        ("library.py", 4),
        ("demo.py", 5),
        ("demo.py", 8),
    ]
    assert seen["opened_trace"]["file"] == "call-3.fdtrace"


def test_captures_are_picked_and_compared(seen: dict[str, Any]) -> None:
    assert seen["captures"][-1].endswith("python demo.py")
    assert seen["picked"] == "framedex: answers are of python demo.py alone."
    assert seen["compared"].startswith("demo.py:8, before → after:")

"""editors/neovim in a real, headless Neovim, driven like a user."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.editors.sessions import EDITORS, WALK, play
from tests.server.recording import record

SCRIPT = Path(__file__).with_name("neovim_session.lua")

pytestmark = pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim (Debian: apt-get install neovim)")


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The report of one session."""
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", str(SCRIPT)]
    return play(command, EDITORS / "neovim", tmp_path_factory.mktemp("neovim"))


def test_hover_shows_recorded_data(seen: dict[str, Any]) -> None:
    assert seen["filetype"] == "python"
    assert "3 recorded calls" in seen["hover"]
    assert "PJRT_Client_BufferFromHostBuffer" in seen["hover"]


def test_references_list_the_origins_of_stacks(seen: dict[str, Any]) -> None:
    assert seen["references"] == [{"file": "demo.py", "line": 11, "text": "main()"}]


def test_the_call_hierarchy_lists_callers_and_callees(seen: dict[str, Any]) -> None:
    assert seen["incoming"] == [{"file": "demo.py", "line": 11, "text": "<module>"}]
    assert {call["text"] for call in seen["outgoing"]} == {"make_input", "devices"}


def test_the_built_in_definition_command_goes_to_the_frame(seen: dict[str, Any]) -> None:
    assert seen["definition"] == {"file": "demo.py", "line": 5, "column": 4}


def test_go_to_frame_crosses_from_python_into_native_code(seen: dict[str, Any]) -> None:
    assert seen["frame"] == {"file": "library.py", "line": 4, "column": 4}
    assert seen["across_the_border"] == {"file": "client.cc", "line": 4, "column": 0}


def test_a_frame_line_of_a_log_leads_to_its_source(seen: dict[str, Any]) -> None:
    assert (seen["from_log"]["file"], seen["from_log"]["line"]) == ("library.py", 4)


def test_stepping_crosses_separate_source_trees_with_one_server(seen: dict[str, Any]) -> None:
    assert [(place["file"], place["line"]) for place in seen["walk"]] == WALK
    assert seen["servers"] == 1


def test_a_frame_line_of_a_trace_document_leads_to_its_source(seen: dict[str, Any]) -> None:
    assert seen["trace_filetype"] == "framedex-trace"
    assert seen["from_trace"] == {"file": "library.py", "line": 4, "column": 4}


def test_interpreter_frames_of_a_trace_are_folded(seen: dict[str, Any]) -> None:
    assert seen["fold"].strip().startswith("… 2 glue or interpreter frames")


def test_buffers_opened_after_a_trace_keep_the_users_folding(seen: dict[str, Any]) -> None:
    assert seen["folding_behind_trace"] == seen["folding_beside_trace"] == ["indent", 99, 1, "foldtext()"]


def test_steps_follow_one_stack_and_return(seen: dict[str, Any]) -> None:
    assert [(place["file"], place["line"]) for place in seen["steps"]] == [
        ("demo.py", 5),
        ("library.py", 4),
        ("demo.py", 5),
        ("demo.py", 8),
    ]
    assert seen["opened_trace"]["file"] == "call-3.fdtrace"


def test_the_stepped_stack_has_signs_until_cleared(seen: dict[str, Any]) -> None:
    assert seen["marks"] == {"here": [8], "stack": [5, 11]}
    assert seen["cleared"] == {"here": [], "stack": []}


def test_a_stack_is_picked_from_a_list_and_its_frames_are_listed(seen: dict[str, Any]) -> None:
    assert [entry["text"] for entry in seen["stacks"]] == ["▶ PJRT_Client_BufferFromHostBuffer  3 calls, 6 µs"]
    assert [(entry["file"], entry["line"]) for entry in seen["frames"]] == [
        ("demo.py", 11),
        ("demo.py", 8),
        ("demo.py", 5),
        ("library.py", 4),
        ("", 0),
        ("client.cc", 4),
        ("mock.cc", 4),
    ]
    assert seen["frames"][4]["text"] == "jax::Moved  /build/moved.cc:20 [not here]"
    assert seen["frames"][5]["text"] == "xla::Client::BufferFromHost [definition]"


def test_further_steps_are_listed_by_function(seen: dict[str, Any]) -> None:
    assert [(entry["file"], entry["line"], entry["text"]) for entry in seen["callees"]] == [
        ("demo.py", 5, "make_input  2 calls"),
        ("library.py", 7, "devices  1 call"),
    ]
    assert (seen["from_callees"]["file"], seen["from_callees"]["line"]) == ("library.py", 7)


def test_a_call_is_picked_from_a_list_and_its_trace_is_opened(seen: dict[str, Any]) -> None:
    """The server's workspace is another project with its own index."""
    assert [entry["text"].split()[:2] for entry in seen["calls"]] == [
        [number, "PJRT_Client_BufferFromHostBuffer"] for number in ("3", "2", "1")
    ]
    assert seen["trace_of_call"] == "call-3.fdtrace"
    assert (seen["from_trace_of_call"]["file"], seen["from_trace_of_call"]["line"]) == ("library.py", 4)


def test_a_trace_without_a_file_is_a_buffer(seen: dict[str, Any]) -> None:
    assert seen["virtual"]["name"].startswith("framedex-trace:///") and "#" not in seen["virtual"]["name"]
    assert seen["virtual"]["name"].endswith("/call-3.fdtrace")
    assert not seen["virtual"]["modifiable"]
    assert (seen["from_virtual"]["file"], seen["from_virtual"]["line"]) == ("library.py", 11)


def test_return_in_another_quickfix_list_opens_its_own_entry(seen: dict[str, Any]) -> None:
    assert seen["frames_of_newer"] == seen["frames"]
    assert (seen["from_other_list"]["file"], seen["from_other_list"]["line"]) == ("crash.log", 2)
    assert seen["gone"].startswith("E92: ")


def test_captures_are_picked_and_compared(seen: dict[str, Any]) -> None:
    picked, *compared = seen["captures"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d demo\.py \(capture 1\)", picked[1])
    assert picked[0] == "captures that the project's settings select"
    assert compared == [picked[1:], picked[1:]]
    assert seen["picked"] == "framedex: Answers now cover only demo.py."
    assert seen["compared"].startswith("demo.py:8, before → after:")
    assert seen["without_captures"].startswith("framedex: Nothing has been recorded here yet")


def test_an_empty_answer_tells_end_of_stack_from_not_recorded(seen: dict[str, Any]) -> None:
    assert seen["nowhere_further"][:4] == [
        "framedex: No frame with source is further inward from here; the trace has the whole stack."
        " (:Framedex open_trace)",
        "framedex: No frame with source is further inward on this stack.",
        *["framedex: No recorded call went through this line: the file has 3 lines. Nearest: line 3 (3 calls)."] * 2,
    ]


def test_an_empty_answer_reports_index_problems_each_time(seen: dict[str, Any]) -> None:
    """Frames, steps and two lists with an emptied index."""
    told = seen["nowhere_further"][4:]
    assert len(told) == 4
    for each in told:
        assert "index.db is empty." in each and "Then run `framedex index`" in each


def test_the_output_of_a_failing_script_is_reported(seen: dict[str, Any]) -> None:
    assert seen["failed"].startswith("framedex: recorded, exit status 1: boom: need --epochs")
    assert seen["failed_output"][:2] == ["hello", "boom: need --epochs"]


def test_cuda_files_get_the_server(seen: dict[str, Any]) -> None:
    assert seen["cuda"] == "cuda"  # the session ends where no client attaches


def test_the_end_of_indexing_is_reported(seen: dict[str, Any]) -> None:
    assert seen["indexed"] == "framedex: indexed"


def test_an_unnamed_buffer_has_no_recording_and_no_trace(seen: dict[str, Any]) -> None:
    assert seen["without_file"] == ["framedex: this buffer has no file"] * 2


def test_a_trace_of_a_missing_folder_is_not_taken_from_another_project(seen: dict[str, Any]) -> None:
    assert "The folder /no/such/folder does not exist" in seen["nowhere"]


def health(folder: Path, command: str | Sequence[str], *files: str) -> str:
    """The output of `:checkhealth framedex` in a folder with these open files and this server command."""
    report = folder / "health.txt"
    words = [command] if isinstance(command, str) else command
    started = ", ".join(map(repr, words))
    setup = (
        f"lua vim.opt.rtp:append({str(EDITORS / 'neovim')!r}); require('framedex').setup({{ cmd = {{ {started} }} }})"
    )
    arguments = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", setup, *files]
    finish = ["-c", "checkhealth framedex", "-c", f"write! {report}", "-c", "qall!"]
    environment = {**os.environ, "HOME": str(folder)}
    subprocess.run(
        [*arguments, *finish], cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60
    )
    return report.read_text(encoding="utf-8")


def test_checkhealth_reports_missing_parts_and_how_to_install_them(tmp_path: Path) -> None:
    told = health(tmp_path, "no-such-framedex")

    assert "`no-such-framedex` is not on Neovim's PATH" in told and "pip install framedex" in told
    assert "No server is running" in told and "framedex run SCRIPT" in told


def test_checkhealth_reports_available_parts(tmp_path: Path) -> None:
    program = tmp_path / "framedex"
    program.write_text("#!/bin/sh\necho framedex, version 9\n")
    program.chmod(0o755)
    (tmp_path / ".framedex").mkdir()
    (tmp_path / ".framedex" / "index.db").touch()

    told = health(tmp_path, str(program))

    assert "framedex, version 9" in told
    assert f"{tmp_path}/.framedex/index.db" in told


def test_checkhealth_reports_index_problems(tmp_path: Path) -> None:
    index = tmp_path / ".framedex" / "index.db"
    index.parent.mkdir()
    index.touch()
    program = [sys.executable, "-c", "from framedex.commands.main import cli; cli(prog_name='framedex')", "serve"]

    told = health(tmp_path, program)

    assert f"The index {index} is empty." in told and "Then run `framedex" in told
    assert "Index found" not in told


def test_checkhealth_also_searches_from_open_files(tmp_path: Path) -> None:
    """A file in a subfolder of a project, as in the demo: its index is named once."""
    demo = tmp_path / "a b" / "demo"
    (demo / ".framedex").mkdir(parents=True)
    (demo / ".framedex" / "index.db").touch()
    for name in ("one.py", "two.py"):
        (demo / name).touch()

    told = health(tmp_path, "no-such-framedex", str(demo / "one.py"), "a b/demo/two.py")

    assert told.count(f"{demo}/.framedex/index.db") == 1
    assert "framedex run SCRIPT" not in told


def test_a_silent_server_is_not_reported_to_lack_hovers(tmp_path: Path) -> None:
    (tmp_path / "train.py").touch()
    report = tmp_path / "report.txt"
    look = f"""
      vim.opt.runtimepath:append({str(EDITORS / "neovim")!r})
      vim.cmd("filetype plugin on")
      require("framedex").setup({{ cmd = {{ "sleep", "60" }} }})
      vim.cmd("edit train.py")
      vim.lsp.buf.hover()
      vim.fn.writefile({{ vim.fn.execute("messages") }}, {str(report)!r})
      vim.cmd("qall!")
    """
    script = tmp_path / "look.lua"
    script.write_text(look)
    subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-S", str(script)],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
    )

    assert "not supported" not in report.read_text(encoding="utf-8")


def test_a_plugin_manager_installs_the_repository_unchanged(tmp_path: Path) -> None:
    """The checkout on the runtimepath, as lazy.nvim, vim.pack and others install it."""
    report = tmp_path / "report.json"
    look = f"""
      vim.opt.runtimepath:append({str(EDITORS.parent)!r})
      require("framedex").setup({{ cmd = {{ "no-such-framedex" }} }})
      vim.cmd("help framedex")
      local help = vim.api.nvim_buf_get_name(0)
      vim.cmd("edit call-1.fdtrace")
      local seen = {{ help = help, command = vim.fn.exists(":Framedex"), filetype = vim.bo.filetype,
                     steps = type(require("framedex.steps").step_in) }}
      vim.fn.writefile({{ vim.fn.json_encode(seen) }}, {str(report)!r})
    """
    script = tmp_path / "look.lua"
    script.write_text(look)
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {script}", "-c", "qall!"]
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    assert report.is_file(), done.stderr
    assert json.loads(report.read_text(encoding="utf-8")) == {
        "help": str(EDITORS / "neovim" / "doc" / "framedex.txt"),
        "command": 2,
        "filetype": "framedex-trace",
        "steps": "function",
    }


def test_native_lenses_and_diagnostics_show_line_costs(tmp_path: Path) -> None:
    recording = record(tmp_path)
    report = tmp_path / "report.json"
    script = tmp_path / "look.lua"
    script.write_text(f"""
      vim.opt.runtimepath:append({str(EDITORS / "neovim")!r})
      require("framedex").setup({{
        cmd = {{ {sys.executable!r}, "-m", "framedex_server" }},
        settings = {{ framedex = {{ editor = {{ transfers = true }} }} }},
      }})
      vim.cmd("filetype plugin on")
      vim.cmd("edit {recording.library}")
      vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 5)
      local hints = {{}}
      for _, each in ipairs(vim.diagnostic.get(0)) do
        table.insert(hints, {{ each.lnum + 1, each.message, each.severity == vim.diagnostic.severity.INFO }})
      end
      vim.wait(20000, function() return #vim.lsp.codelens.get(0) > 0 end, 5)
      local lenses = {{}}
      for _, each in ipairs(vim.lsp.codelens.get(0)) do
        table.insert(lenses, {{ each.range.start.line + 1, each.command.title, each.command.command }})
      end
      vim.api.nvim_win_set_cursor(0, {{ 4, 0 }})
      vim.lsp.codelens.run()
      vim.wait(20000, function() return vim.bo.filetype == "framedex-trace" end, 5)
      local opened = vim.fn.expand("%:t")
      vim.fn.writefile({{ vim.fn.json_encode({{ hints = hints, lenses = lenses, opened = opened }}) }}, {str(report)!r})
    """)
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {script}", "-c", "qall!"]
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
    )

    assert report.is_file(), done.stderr
    seen = json.loads(report.read_text(encoding="utf-8"))
    said = "implicit transfer, at least 72 B, 5 times: host to device, operand of a call"
    ((line, message, is_information),) = seen["hints"]
    assert (line, message.split("\n")[0], is_information) == (4, said, True)
    assert seen["lenses"] == [[4, f"{said} · latest run", "framedex.openTrace"]]
    assert seen["opened"] == "call-5.fdtrace"


def test_a_file_answers_in_its_first_seconds(tmp_path: Path) -> None:
    """With a newly started server, the hover waits for it, and recorded lines get their signs."""
    recording = record(tmp_path)
    report = tmp_path / "report.json"
    script = tmp_path / "look.lua"
    script.write_text(f"""
      vim.opt.runtimepath:append({str(EDITORS / "neovim")!r})
      local framedex = require("framedex")
      framedex.setup({{ cmd = {{ {sys.executable!r}, "-m", "framedex_server" }} }})
      vim.cmd("filetype plugin on")
      vim.cmd("edit {recording.demo}")
      vim.api.nvim_win_set_cursor(0, {{ {recording.main_calls_both}, 0 }})
      local seen = {{}}
      framedex.hover()
      vim.wait(20000, function()
        for _, window in ipairs(vim.api.nvim_list_wins()) do
          if vim.api.nvim_win_get_config(window).relative ~= "" then
            seen.hover = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, 1, false)[1]
          end
        end
        return seen.hover
      end, 5)
      local namespace = vim.api.nvim_get_namespaces()["framedex-recorded"]
      local function signs()
        return vim.tbl_map(function(mark)
          return mark[2] + 1
        end, vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, {{}}))
      end
      vim.wait(20000, function() return #signs() > 0 end, 5)
      seen.signs = signs()

      framedex.go_to_frame()
      vim.wait(20000, function() return framedex.statusline() ~= "" end, 5)
      seen.way = framedex.statusline()
      vim.ui.select = function(choices, options, take)
        seen.ways = vim.tbl_map(options.format_item, choices)
        take(choices[2])
      end
      framedex.ways()
      vim.wait(20000, function() return vim.fn.expand("%:t") == "library.py" end, 5)
      seen.chosen = {{ vim.fn.expand("%:t"), vim.fn.line(".") }}

      vim.cmd("edit {recording.demo}")
      vim.api.nvim_win_set_cursor(0, {{ {recording.make_input_calls_device_put}, 0 }})
      local back = {{ text = "way 1 of 2", ways = 2, request = "framedex/waysOut" }}
      back.at = vim.lsp.util.make_position_params(0, "utf-16")
      require("framedex.steps").on_led(nil, back)
      vim.api.nvim_win_set_cursor(0, {{ {recording.main_calls_both}, 0 }})
      vim.ui.select = function(choices)
        seen.back = vim.tbl_map(function(way) return way.place end, choices)
      end
      framedex.ways()
      vim.wait(20000, function() return seen.back end, 5)

      local told
      vim.lsp.handlers["window/showMessage"] = function(_, message) told = message.message end
      local action = {{ command = "framedex.openPublic", arguments = {{ "https://example.org/shape.cc#L12" }} }}
      local at = vim.lsp.util.make_position_params(0, "utf-16")
      require("framedex.steps").on_led(nil, {{ text = "Shape continues at shape.cc:12", action = action, at = at }})
      framedex.go_to_frame()
      vim.wait(20000, function() return told end, 5)
      seen.public = told
      vim.fn.writefile({{ vim.fn.json_encode(seen) }}, {str(report)!r})
    """)
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {script}", "-c", "qall!"]
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=90
    )

    assert report.is_file(), done.stderr
    seen = json.loads(report.read_text(encoding="utf-8"))
    assert "recorded call" in seen["hover"], done.stderr
    assert {recording.main_calls_make_input, recording.main_calls_both} <= set(seen["signs"]), done.stderr
    assert seen["way"] == "way 1 of 2"
    assert [way.split()[0] for way in seen["ways"]] == ["make_input", "devices"]
    assert seen["chosen"] == ["library.py", 7]
    assert seen["back"] == [f"demo.py:{recording.main_calls_both}"]
    assert "https://example.org/shape.cc#L12" in seen["public"]


def test_help_tags_equal_those_that_neovim_generates(tmp_path: Path) -> None:
    """They are committed because plug-in managers only generate them for the root folder."""
    doc = shutil.copytree(EDITORS / "neovim" / "doc", tmp_path / "doc")
    (doc / "tags").unlink()
    subprocess.run(["nvim", "--headless", "-u", "NONE", "-c", f"helptags {doc}", "-c", "qall!"], check=True, timeout=60)

    assert (doc / "tags").read_text() == (EDITORS / "neovim" / "doc" / "tags").read_text()

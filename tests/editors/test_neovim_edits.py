"""Random edits in a real, headless Neovim: surviving lines lead to the same targets as before, other lines to none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.editors.edited_program import Answer, answer, record_and_edit
from tests.editors.sessions import EDITORS

pytestmark = pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim (Debian: apt-get install neovim)")

_ASK = """
  local function ask(method, line)
    local document = vim.lsp.util.make_text_document_params()
    local params = { textDocument = document, position = { line = line, character = 0 } }
    for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, 20000) or {}) do
      if answer.result then return answer.result end
    end
  end
  local function look()
    local seen = {}
    for line = 1, vim.api.nvim_buf_line_count(0) do
      local places = {}
      for _, each in ipairs(ask("textDocument/definition", line - 1) or {}) do
        local range = each.targetSelectionRange or each.range
        table.insert(places, { vim.fn.fnamemodify(each.targetUri or each.uri, ":t"), range.start.line + 1 })
      end
      table.insert(seen, { places, ask("textDocument/hover", line - 1) ~= nil })
    end
    return seen
  end
"""


def test_definition_and_hover_follow_random_edits(tmp_path: Path) -> None:
    edited = record_and_edit(tmp_path, seeds=[30])  # moves, changes, adds and deletes lines
    before = _look(edited.program)
    after = []
    for lines in edited.lines():
        after.append(_look(edited.program, typed=lines))  # saves the texts
        after.append(_look(edited.program))
    edited.expect_answers(before, after)


def _look(program: Path, typed: list[str] | None = None) -> list[Answer]:
    """The answers for each line of a program in its own Neovim; later answers continue earlier walks.

    With `typed`, the buffer has these lines, which are saved after the answers.
    """
    folder = program.parent
    report, script = folder / "report.json", folder / "look.lua"
    script.write_text(f"""
      vim.opt.runtimepath:append({str(EDITORS / "neovim")!r})
      require("framedex").setup({{ cmd = {{ {sys.executable!r}, "-m", "framedex_server" }} }})
      vim.cmd("filetype plugin on")
      vim.cmd("edit {program}")
      {_ASK}
      vim.wait(20000, function() return next(vim.lsp.buf_get_clients(0)) ~= nil end, 20)
      vim.wait(20000, function()
        for line = 0, vim.api.nvim_buf_line_count(0) - 1 do
          if ask("textDocument/hover", line) then return true end
        end
      end, 50)
      local typed = vim.fn.json_decode({json.dumps(json.dumps(typed))})
      if typed ~= vim.NIL then
        vim.api.nvim_buf_set_lines(0, 0, -1, false, typed)
      end
      vim.fn.writefile({{ vim.fn.json_encode(look()) }}, {str(report)!r})
      vim.cmd("silent write")
    """)
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {script}", "-c", "qall!"]
    environment = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100
    )
    assert report.is_file(), done.stderr
    seen = json.loads(report.read_text(encoding="utf-8"))
    report.unlink()
    return [answer(*each) for each in seen]

"""Random edits in a real, headless Neovim: a line that survives them leads where it led before, no other line leads."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.editors.edited_program import answer, record_and_edit
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
    edited = record_and_edit(tmp_path, seeds=(1, 3))
    written = json.dumps(edited.lines())
    report = tmp_path / "report.json"
    script = tmp_path / "edit.lua"
    script.write_text(f"""
      vim.opt.runtimepath:append({str(EDITORS / "neovim")!r})
      require("framedex").setup({{ cmd = {{ {sys.executable!r}, "-m", "framedex_server" }} }})
      vim.cmd("filetype plugin on")
      vim.cmd("edit {edited.program}")
      {_ASK}
      vim.wait(20000, function() return ask("textDocument/hover", {len(edited.original) - 1}) ~= nil end, 50)
      local seen = {{ look() }}
      for _, lines in ipairs(vim.fn.json_decode({json.dumps(written)})) do
        vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
        table.insert(seen, look())
        vim.cmd("silent write")
        table.insert(seen, look())
      end
      vim.fn.writefile({{ vim.fn.json_encode(seen) }}, {str(report)!r})
    """)
    command = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {script}", "-c", "qall!"]
    environment = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100
    )

    assert report.is_file(), done.stderr
    seen = json.loads(report.read_text(encoding="utf-8"))
    before, *after = ([answer(*each) for each in answers] for answers in seen)
    edited.expect_answers(before, after)

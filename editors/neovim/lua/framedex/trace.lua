--- Trace documents: `framedex-trace:///FOLDER/call-17.fdtrace` as a buffer, and folds over glue and the interpreter.

local request = require("framedex.request")

local M = {}

local SCHEME = "framedex-trace"
local WAIT_MS = 10000

local function start_of(uri)
  local start = { line = 0, character = 0 }
  return { uri = uri, range = { start = start, ["end"] = start } }
end

--- Open the trace of the longest stack through this line, or of the `call` with this id, as a file next to the index.
function M.open_trace(call)
  if not request.has_file() then
    return
  end
  request.execute("framedex.openTrace", function(encoding)
    return vim.tbl_extend("error", request.here(encoding), { call = call })
  end, function(uri, encoding)
    if uri then
      request.show(start_of(uri), encoding)
    end
  end)
end

--- Fill the buffer of a `framedex-trace:` URI; plugin/framedex.lua calls it for BufReadCmd.
function M.read(buffer, name)
  local folder, kind, id = name:match("framedex%-trace:/*(/.*)/(%a+)%-(%d+)%.fdtrace$")
  local client = require("framedex.server").client()
  if not folder or not client then
    return request.warn(folder and "no server is running; see :checkhealth framedex" or "not the name of a trace")
  end
  local params = { uri = ("%s:%s/%s-%s.fdtrace"):format(SCHEME, folder, kind, id) }
  local told, problem = request.call(client, "request_sync", "workspace/textDocumentContent", params, WAIT_MS, buffer)
  local answer = told and told.result
  if not answer or answer == vim.NIL then
    return request.warn(problem or told and told.err and told.err.message or ("no %s %s in the index"):format(kind, id))
  end
  vim.bo[buffer].modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split((answer.text:gsub("\n$", "")), "\n", { plain = true }))
  vim.bo[buffer].buftype = "nofile"
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].modified = false
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].filetype = "framedex-trace"
  vim.lsp.buf_attach_client(buffer, client.id) -- attaching folds the glue frames
end

local folds = {} -- by buffer, then by the first line of the fold, 1-based: its text

--- The text of a closed fold: the number of its frames.
function M.fold_text()
  local texts = folds[vim.api.nvim_get_current_buf()] or {}
  return "    " .. (texts[vim.v.foldstart] or ("… %d lines"):format(vim.v.foldend - vim.v.foldstart + 1)) .. " "
end

local function close_folds(buffer, ranges)
  folds[buffer] = {}
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    vim.api.nvim_win_call(window, function()
      -- Local options, so that the window folds the next buffer as the user configured.
      vim.opt_local.foldmethod = "manual"
      vim.opt_local.foldminlines = 0
      vim.opt_local.foldtext = "v:lua.require'framedex.trace'.fold_text()"
      vim.cmd("normal! zE")
      for _, range in ipairs(ranges) do
        folds[buffer][range.startLine + 1] = range.collapsedText
        vim.cmd(("%d,%dfold"):format(range.startLine + 1, range.endLine + 1))
      end
      vim.opt_local.foldlevel = 0
    end)
  end
end

--- Close a fold over every run of glue and interpreter frames; `zR` opens them all.
function M.fold_glue(client, buffer)
  local params = { textDocument = { uri = vim.uri_from_bufnr(buffer) } }
  local function on_answer(problem, ranges)
    if problem or not ranges or ranges == vim.NIL or not vim.api.nvim_buf_is_loaded(buffer) then
      return
    end
    close_folds(buffer, vim.tbl_filter(function(range)
      return range.kind == "framedex.glue" and range.endLine < vim.api.nvim_buf_line_count(buffer)
    end, ranges))
  end
  request.call(client, "request", "textDocument/foldingRange", params, on_answer, buffer)
end

return M

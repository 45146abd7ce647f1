--- A sign (`FramedexRecorded`) on each recorded line of the program's own files. `setup({ recorded_lines = false })`
--- switches the signs off.

local request = require("framedex.request")

local M = {}

local namespace = vim.api.nvim_create_namespace("framedex-recorded")
local attached = {} -- by buffer: the id of its client

local function draw(buffer, lines)
  vim.api.nvim_buf_clear_namespace(buffer, namespace, 0, -1)
  local last = vim.api.nvim_buf_line_count(buffer)
  for _, each in ipairs(lines) do
    if each.line < last then
      vim.api.nvim_buf_set_extmark(buffer, namespace, each.line, 0, {
        sign_text = "·",
        sign_hl_group = "FramedexRecorded",
        priority = 5,
      })
    end
  end
end

local function refresh(buffer)
  local client = vim.lsp.get_client_by_id(attached[buffer])
  if not client or not vim.api.nvim_buf_is_loaded(buffer) then
    attached[buffer] = nil
    return
  end
  local params = { textDocument = { uri = vim.uri_from_bufnr(buffer) } }
  local function on_answer(problem, answer)
    if not problem and vim.api.nvim_buf_is_loaded(buffer) then
      local found = request.value(answer)
      draw(buffer, found and found.lines or {})
    end
  end
  request.call(client, "request", "framedex/recordedLines", params, on_answer, buffer)
end

--- Refresh the signs of every buffer after a change of the index.
function M.refresh()
  for buffer in pairs(attached) do
    refresh(buffer)
  end
end

--- Mark the lines of a buffer from now on, also after edits.
function M.attach(client, buffer)
  vim.api.nvim_set_hl(0, "FramedexRecorded", { link = "LineNr", default = true })
  attached[buffer] = client.id
  vim.api.nvim_create_autocmd({ "TextChanged", "InsertLeave", "BufWritePost" }, {
    group = vim.api.nvim_create_augroup("framedex-recorded-" .. buffer, { clear = true }),
    buffer = buffer,
    callback = function()
      refresh(buffer)
    end,
  })
  refresh(buffer)
end

return M

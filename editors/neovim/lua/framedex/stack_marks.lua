--- Signs on every line of the selected stack: `FramedexHere` on the current frame, `FramedexStack` on the others.

local request = require("framedex.request")

local M = {}

local others = vim.api.nvim_create_namespace("framedex-stack")
local here = vim.api.nvim_create_namespace("framedex-here")
local lines = {} -- by URI, then by 0-based line: whether it is the current frame's line
local group

local function draw(buffer)
  vim.api.nvim_buf_clear_namespace(buffer, others, 0, -1)
  vim.api.nvim_buf_clear_namespace(buffer, here, 0, -1)
  local last = vim.api.nvim_buf_line_count(buffer)
  for line, is_here in pairs(lines[vim.uri_from_bufnr(buffer)] or {}) do
    if line < last then
      vim.api.nvim_buf_set_extmark(buffer, is_here and here or others, line, 0, {
        sign_text = is_here and "▶" or "│",
        sign_hl_group = is_here and "FramedexHere" or "FramedexStack",
        line_hl_group = is_here and "FramedexHereLine" or nil,
        priority = is_here and 30 or 20,
      })
    end
  end
end

local function draw_all()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) and vim.api.nvim_buf_get_name(buffer) ~= "" then
      draw(buffer)
    end
  end
end

local function start()
  if group then
    return
  end
  group = vim.api.nvim_create_augroup("framedex-stack", { clear = true })
  vim.api.nvim_set_hl(0, "FramedexHere", { link = "WarningMsg", default = true })
  vim.api.nvim_set_hl(0, "FramedexStack", { link = "Comment", default = true })
  vim.api.nvim_set_hl(0, "FramedexHereLine", { link = "CursorLine", default = true })
  vim.api.nvim_create_autocmd("BufWinEnter", {
    group = group,
    callback = function(event)
      draw(event.buf)
    end,
  })
end

--- Refresh the signs of the selected stack.
function M.refresh()
  request.send("framedex/stack", {}, function(picked)
    start()
    lines = {}
    for number, frame in ipairs(picked and picked.stackFrames or {}) do
      local location = request.value(frame.location)
      if location then
        local uri, line = location.uri, location.range.start.line
        lines[uri] = lines[uri] or {}
        lines[uri][line] = lines[uri][line] or number == picked.frame + 1
      end
    end
    draw_all()
  end)
end

--- Remove the signs.
function M.clear_stack()
  lines = {}
  draw_all()
end

return M

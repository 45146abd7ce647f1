--- Going from frame to frame: one frame inward by definition, or along one recorded stack.

local request = require("framedex.request")
local marks = require("framedex.stack_marks")

local M = {}

local last = {} -- the server's note about the last step

--- Show what was recorded on this line, once the server has started.
function M.hover()
  local buffer = vim.api.nvim_get_current_buf()
  require("framedex.server").when_ready(buffer, function()
    if vim.api.nvim_get_current_buf() == buffer then
      vim.lsp.buf.hover()
    end
  end, vim.lsp.buf.hover)
end

local function is_at(place)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  return place.textDocument.uri == vim.uri_from_bufnr(0) and place.position.line == line
end

--- Go one frame inward, to the callee that ran. If its source is only on a public page, a second call opens the page.
function M.go_to_frame()
  local action = last.action
  if action and is_at(last.at) then
    last = {}
    return request.execute(action.command, action.arguments[1])
  end
  request.find("textDocument/definition", request.here, function(locations, encoding)
    request.show(locations[1], encoding)
  end)
end

--- Show the note about a step, such as skipped frames; it replaces the note about the previous step.
function M.on_led(_, led)
  if not led or type(led.text) ~= "string" then
    return
  end
  last = led
  local again = led.action and " (:Framedex go_to_frame again opens it)" or ""
  vim.api.nvim_echo({ { led.text .. again } }, false, {})
end

--- For 'statusline': the number of ways of the last step (`way 1 of 3`), or an empty text.
function M.statusline()
  return last.ways and ("way 1 of %d"):format(last.ways) or ""
end

--- Choose another way from the line of the last step, or from this line if that line had only one way.
function M.ways()
  local method = last.ways and last.request or "framedex/waysIn"
  request.find(method, last.ways and last.at or request.here, function(ways, encoding)
    vim.ui.select(ways, {
      prompt = "framedex: callees of this line",
      format_item = function(each)
        return ("%s  %s  %s"):format(each["function"], each.place, each.detail)
      end,
    }, function(chosen)
      if chosen then
        request.show(chosen.location, encoding)
      end
    end)
  end)
end

--- Go to the target of a step, and mark its stack.
function M.go_to(position, encoding)
  if request.value(position.location) then
    request.show(position.location, encoding)
  end
  marks.refresh()
  vim.api.nvim_echo({ { position.text } }, false, {})
end

local function step(method)
  return function()
    request.find("framedex/" .. method, request.here, M.go_to)
  end
end

--- Step one frame inward or outward along the selected stack, or to the same line on another stack.
M.step_in = step("stepIn")
M.step_out = step("stepOut")
M.next_stack = step("nextStack")
M.previous_stack = step("previousStack")

return M

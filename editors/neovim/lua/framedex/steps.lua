--- Going from frame to frame: one frame inward by definition, or along one recorded stack.

local request = require("framedex.request")
local marks = require("framedex.stack_marks")

local M = {}

--- Go one frame inward, to the callee that really ran.
function M.go_to_frame()
  request.find("textDocument/definition", request.here, function(locations, encoding)
    request.show(locations[1], encoding)
  end)
end

--- Show what a step went over, and take away what was said of the one before.
function M.on_led(_, led)
  if led and type(led.text) == "string" then
    vim.api.nvim_echo({ { led.text } }, false, {})
  end
end

--- Go where the server says that a step leads, and show the stack along which it went.
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

--- Along the picked stack one frame inward or outward; to the same line on another stack.
M.step_in = step("stepIn")
M.step_out = step("stepOut")
M.next_stack = step("nextStack")
M.previous_stack = step("previousStack")

return M

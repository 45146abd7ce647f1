--- Going from frame to frame: one frame inward by definition, or along one recorded stack.

local request = require("framedex.request")
local marks = require("framedex.stack_marks")
local nothing = require("framedex.nothing")

local M = {}

--- Go one frame inward, to the callee that really ran; several callees also fill the quickfix list.
function M.go_to_frame()
  request.ask("textDocument/definition", request.here, function(locations, encoding)
    if not locations then
      local is_source = vim.tbl_contains({ "python", "c", "cpp", "cuda" }, vim.bo.filetype)
      if not is_source then
        return nothing.say("no source is known of this line")
      end
      return nothing.say_of_line("no frame with source is further inward; :Framedex open_trace has the whole stack")
    end
    request.show(locations[1], encoding)
    if #locations > 1 then
      vim.fn.setqflist({}, " ", {
        title = "framedex: callees",
        items = vim.lsp.util.locations_to_items(locations, encoding),
      })
    end
  end)
end

--- Go where the server says that a step leads, and show the stack along which it went.
function M.go_to(position, encoding)
  if not position then
    return nothing.say_of_line("no further frame or stack from here")
  end
  if request.value(position.location) then
    request.show(position.location, encoding)
  end
  marks.refresh()
  local where = "%s: frame %d of %d on the way to %s"
  local told = where:format(position["function"], position.frame + 1, position.frames, position.boundary)
  vim.api.nvim_echo({ { told } }, false, {})
end

local function step(method)
  return function()
    request.ask("framedex/" .. method, request.here, M.go_to)
  end
end

--- Along the picked stack one frame inward or outward; to the same line on another stack.
M.step_in = step("stepIn")
M.step_out = step("stepOut")
M.next_stack = step("nextStack")
M.previous_stack = step("previousStack")

return M

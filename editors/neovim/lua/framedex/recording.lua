--- Running this script under the recorder, and its output.

local request = require("framedex.request")

local M = {}

local LOG = 4 -- MessageType.Log: an output line of the recorded script
local MAX_OUTPUT_LINES = 1000
local output = {} -- the script's output lines since the recording began

--- Keep the output of a script, which Neovim's own handler drops.
function M.on_log(problem, message, ...)
  if message and message.type == LOG then
    table.insert(output, message.message)
    if #output > MAX_OUTPUT_LINES then
      table.remove(output, 1)
    end
  end
  return vim.lsp.handlers["window/logMessage"](problem, message, ...)
end

-- The last line that the script itself wrote: `framedex run` appends a line of its own, and indents remedies.
local function last_words()
  for number = #output, 1, -1 do
    if output[number]:match("^%S") and not vim.startswith(output[number], "framedex: ") then
      return output[number]
    end
  end
  return output[1]
end

--- Record this script. If it fails, show its output in the quickfix list.
function M.record()
  if not request.has_file() then
    return
  end
  output = {}
  request.execute("framedex.record", vim.uri_from_bufnr(0), function(status)
    local words = last_words()
    if not status then
      return -- the server has shown the reason
    elseif status == 0 or not words then
      return vim.notify("framedex: recorded, exit status " .. status)
    end
    vim.fn.setqflist({}, " ", {
      title = "framedex: output of the recorded script",
      lines = output,
      efm = [[%*\sFile "%f"\, line %l%.%#,%+G%.%#]],
    })
    request.warn(("recorded, exit status %d: %s (:copen has all of its output)"):format(status, words))
  end)
end

return M

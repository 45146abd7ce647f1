--- Why an answer is empty: an index that cannot be used, none at all, the end of a walk, or a line without recordings.

local request = require("framedex.request")

local M = {}

-- What is wrong with the index above the file; where no index `answers`, with any.
local function problem_of(indexes, path, answers)
  local found = nil
  for _, index in ipairs(indexes) do
    local problem = request.value(index.problem)
    if problem and vim.startswith(path, index.folder .. "/") then
      return problem
    elseif problem and not answers then
      found = found or problem
    end
  end
  return found
end

--- Say what is wrong with the index of this file; where nothing is, `otherwise`.
function M.say(otherwise)
  local uri = vim.uri_from_bufnr(0)
  local path = vim.loop.fs_realpath(vim.api.nvim_buf_get_name(0)) or ""
  request.ask("framedex/captures", { textDocument = { uri = uri } }, function(known)
    request.ask("framedex/indexes", {}, function(listed)
      local problem = problem_of(listed.indexes, path, known ~= nil)
      if problem then
        request.warn((problem:gsub("\n", " ")))
      elseif not known then
        request.warn("there is no index here; `framedex index` makes one of what :Framedex record has recorded")
      elseif #known.captures == 0 then
        request.warn("nothing was recorded here; :Framedex record records this script")
      else
        vim.notify("framedex: " .. otherwise)
      end
    end)
  end)
end

--- Say why it goes nowhere from this line; `at_end` where calls through it were recorded.
function M.say_of_line(at_end)
  request.ask("framedex/stacks", request.here, function(stacks)
    if #stacks > 0 then
      return vim.notify("framedex: " .. at_end)
    end
    M.say("nothing recorded on this line")
  end)
end

return M

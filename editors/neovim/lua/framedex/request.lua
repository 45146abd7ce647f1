--- Requests to framedex, without other language servers, and jumps to the locations in its answers.

local M = {}

function M.warn(message)
  vim.notify("framedex: " .. message, vim.log.levels.WARN)
end

--- Whether the buffer has a file; warns if it has none.
function M.has_file()
  local has = vim.api.nvim_buf_get_name(0) ~= "" and vim.bo.buftype == ""
  if not has then
    M.warn("this buffer has no file")
  end
  return has
end

--- A value of an answer, nil for JSON's null, which some versions of Neovim leave in tables as vim.NIL.
function M.value(value)
  if value ~= vim.NIL then
    return value
  end
end

--- Call a method of a client: before Neovim 0.11 these were functions bound to their client.
function M.call(client, name, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return client[name](client, ...)
  end
  return client[name](...)
end

--- Send a request to the server once it has started. `on_answer` gets the answer (nil if empty), the encoding of its
--- positions, and the parameters. `params` may be a function of the encoding, called at once if the server is running.
function M.send(method, params, on_answer)
  local buffer = vim.api.nvim_get_current_buf()
  require("framedex.server").when_ready(buffer, function(client)
    if vim.api.nvim_get_current_buf() ~= buffer then
      return -- the user has left the buffer
    end
    local encoding = client.offset_encoding
    if type(params) == "function" then
      params = params(encoding)
    end
    local function handler(problem, answer)
      if problem then
        M.warn(problem.message)
      else
        on_answer(M.value(answer), encoding, params)
      end
    end
    M.call(client, "request", method, params, handler, 0)
  end, function()
    M.warn("no server is running; see :checkhealth framedex")
  end)
end

-- The `:Framedex NAME` for each command of the server.
local NAMES = {
  ["framedex.index"] = "index",
  ["framedex.openTrace"] = "open_trace",
  ["framedex.record"] = "record",
  ["framedex.selectCapture"] = "pick_capture",
}

--- Show the server's reason for an empty answer to `method`, and the remedy.
function M.show_reason(method, params)
  M.send("framedex/why", vim.tbl_extend("error", params, { request = method }), function(why)
    local action = M.value(why.action)
    local name = action and NAMES[action.command]
    vim.notify("framedex: " .. why.text .. (name and (" (:Framedex %s)"):format(name) or ""))
  end)
end

--- Like `send`, but show the reason for an empty answer instead of calling `on_answer`.
function M.find(method, params, on_answer)
  M.send(method, params, function(answer, encoding, asked)
    if answer and next(answer) ~= nil then
      on_answer(answer, encoding)
    else
      M.show_reason(method, asked)
    end
  end)
end

--- Have the server run one of its commands.
function M.execute(command, argument, on_answer)
  M.send("workspace/executeCommand", function(encoding)
    return { command = command, arguments = { type(argument) == "function" and argument(encoding) or argument } }
  end, on_answer or function() end)
end

--- The document and position of the cursor.
function M.here(encoding)
  return vim.lsp.util.make_position_params(0, encoding)
end

--- Go to an LSP location, so that CTRL-O leads back.
function M.show(location, encoding)
  if vim.lsp.util.show_document then
    vim.lsp.util.show_document(location, encoding, { focus = true })
  else
    vim.lsp.util.jump_to_location(location, encoding)
  end
  vim.cmd("normal! zv")
end

return M

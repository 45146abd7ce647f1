--- Asking framedex alone, and showing where an answer leads.

local M = {}

function M.warn(message)
  vim.notify("framedex: " .. message, vim.log.levels.WARN)
end

--- Whether the buffer has a file; where it has none, that is said.
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

--- Call a method of a client: before Neovim 0.11 these were functions that know their client.
function M.call(client, name, ...)
  if vim.fn.has("nvim-0.11") == 1 then
    return client[name](client, ...)
  end
  return client[name](...)
end

--- Ask the server; `take` gets the answer, nil where there is none, and the encoding of its positions. `params` may be
--- a function of the encoding.
function M.ask(method, params, take)
  local client = require("framedex.server").client(vim.api.nvim_get_current_buf())
  if not client then
    return M.warn("no server runs yet; :checkhealth framedex says why")
  end
  local encoding = client.offset_encoding
  local function handler(problem, answer)
    if problem then
      M.warn(problem.message)
    else
      take(M.value(answer), encoding)
    end
  end
  if type(params) == "function" then
    params = params(encoding)
  end
  M.call(client, "request", method, params, handler, 0)
end

--- Have the server run one of its commands.
function M.execute(command, argument, take)
  M.ask("workspace/executeCommand", function(encoding)
    return { command = command, arguments = { type(argument) == "function" and argument(encoding) or argument } }
  end, take or function() end)
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

--- Nanoseconds in the unit that people would use.
function M.duration(nanoseconds)
  if nanoseconds < 0 then
    return "never returned"
  end
  local number, unit = nanoseconds, "ns"
  for _, larger in ipairs({ "µs", "ms", "s" }) do
    if number < 999.5 then -- from there on %.3g writes 1e+03
      break
    end
    number, unit = number / 1000, larger
  end
  return (number < 999.5 and "%.3g %s" or "%.0f %s"):format(number, unit)
end

return M

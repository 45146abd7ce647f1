--- The stacks and the calls through a line, and the frames of a stack, in the quickfix window.
---
--- <CR> on a stack picks it and lists its frames, <CR> on a call opens its trace; :colder leads back to the list before.

local request = require("framedex.request")

local M = {}

-- What <CR> does in a list of ours; others keep Neovim's.
local function choose(take)
  return function()
    local list = vim.fn.getqflist({ context = 0 })
    local chosen = type(list.context) == "table" and list.context.framedex
    local given = chosen and chosen[vim.api.nvim_win_get_cursor(0)[1]]
    if not given then
      return vim.cmd([[execute "normal! \<CR>"]])
    end
    take(given)
  end
end

local function open_list(title, items, values, take)
  vim.fn.setqflist({}, " ", { title = title, items = items, context = { framedex = values } })
  vim.cmd("botright copen")
  if take then
    vim.keymap.set("n", "<CR>", choose(take), { buffer = true, desc = "framedex: choose" })
  end
end

-- An entry that stays where the question was asked.
local function entry(buffer, line, text)
  return { bufnr = buffer, lnum = line, text = text }
end

local function list_through_line(method, title, text, take)
  local buffer, line = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1]
  request.ask(method, request.here, function(found)
    if not found or #found == 0 then
      return vim.notify("framedex: nothing recorded on this line")
    end
    local items = vim.tbl_map(function(each)
      return entry(buffer, line, text(each))
    end, found)
    open_list(title, items, found, function(chosen)
      vim.cmd("wincmd p")
      vim.api.nvim_set_current_buf(buffer)
      vim.api.nvim_win_set_cursor(0, { line, 0 })
      take(chosen)
    end)
  end)
end

--- List the stacks through the line, the longest first.
function M.stacks()
  list_through_line("framedex/stacks", "framedex: stacks through this line", function(stack)
    local picked = stack.selected and "▶ " or ""
    local calls = stack.calls == 1 and "1 call" or stack.calls .. " calls"
    return ("%s%s  %s, %s"):format(picked, stack.boundary, calls, request.duration(stack.duration))
  end, function(stack)
    local function params(encoding)
      return vim.tbl_extend("error", request.here(encoding), { stack = stack.stack })
    end
    request.ask("framedex/selectStack", params, function(position, encoding)
      require("framedex.steps").go_to(position, encoding)
      M.frames()
    end)
  end)
end

--- List the latest calls through the line.
function M.calls()
  list_through_line("framedex/callsThrough", "framedex: calls through this line", function(call)
    local parts = { call.id, call["function"], request.duration(call.duration), call.arguments, "on " .. call.thread }
    if call.error ~= 0 then
      table.insert(parts, "failed")
    end
    return table.concat(vim.tbl_filter(function(part)
      return part ~= ""
    end, parts), "  ")
  end, function(call)
    require("framedex.trace").virtual_trace("call", call.id)
  end)
end

--- List the frames with source of the stack along which you step, outermost first.
function M.frames()
  request.ask("framedex/stack", {}, function(picked, encoding)
    if not picked then
      return vim.notify("framedex: no stack is picked yet; step into one, or pick one of :Framedex stacks")
    end
    local items, now = {}, 1
    for number, frame in ipairs(picked.stackFrames) do
      if request.value(frame.location) then
        local item = vim.lsp.util.locations_to_items({ frame.location }, encoding)[1]
        local how = frame.how ~= "exact" and (" [%s]"):format(frame.how) or ""
        table.insert(items, vim.tbl_extend("force", item, { text = frame["function"] .. how }))
        now = number <= picked.frame + 1 and #items or now
      end
    end
    open_list("framedex: the stack of " .. picked.boundary, items, nil, nil)
    vim.fn.setqflist({}, "a", { idx = now })
  end)
end

return M

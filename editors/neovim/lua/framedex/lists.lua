--- The stacks and the calls through a line, and the frames of a stack, in the quickfix window.
---
--- <CR> on a stack selects it and lists its frames. <CR> on a call opens its trace, and on a frame whose source is not
--- on this machine its public page. :colder shows the previous list again.

local request = require("framedex.request")

local M = {}

-- Functions that act on a chosen entry, by the kind of list: :colder may show an earlier list of another kind.
local act_on = {}

-- <CR> goes to the entry's line, as in any list; in our lists it then acts on the entry.
local function choose()
  local context = vim.fn.getqflist({ context = 0 }).context
  local chosen = type(context) == "table" and context.framedex and context.framedex[vim.fn.line(".")]
  local went, problem = pcall(vim.cmd, [[execute "normal! \<CR>"]])
  if not went then -- for example, its buffer was wiped out: show Vim's message without a traceback
    vim.notify((problem:gsub("^Vim%b():", "")), vim.log.levels.ERROR)
  elseif chosen then
    act_on[context.kind](chosen)
  end
end

local function open_list(list)
  vim.fn.setqflist({}, " ", list)
  vim.cmd("botright copen")
  vim.keymap.set("n", "<CR>", choose, { buffer = true, desc = "framedex: choose" })
end

local function list_through_line(method, kind, text)
  local buffer, line = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1]
  request.find(method, request.here, function(found)
    local items = vim.tbl_map(function(each)
      return { bufnr = buffer, lnum = line, text = text(each) }
    end, found)
    local title = ("framedex: %s through this line"):format(kind)
    open_list({ title = title, items = items, context = { kind = kind, framedex = found } })
  end)
end

--- List the stacks through the line, longest first.
function M.stacks()
  list_through_line("framedex/stacks", "stacks", function(stack)
    local picked = stack.selected and "▶ " or ""
    local calls = stack.calls == 1 and "1 call" or stack.calls .. " calls"
    return ("%s%s  %s, %s"):format(picked, stack.boundary, calls, stack.durationText)
  end)
end

function act_on.stacks(stack)
  local function params(encoding)
    return vim.tbl_extend("error", request.here(encoding), { stack = stack.stack })
  end
  request.find("framedex/selectStack", params, function(position, encoding)
    require("framedex.steps").go_to(position, encoding)
    M.frames()
  end)
end

local function list_ways(method, kind)
  request.find(method, request.here, function(ways, encoding)
    local items = {}
    for _, way in ipairs(ways) do
      local item = vim.lsp.util.locations_to_items({ way.location }, encoding)[1]
      table.insert(items, vim.tbl_extend("force", item, { text = way["function"] .. "  " .. way.detail }))
    end
    open_list({ title = "framedex: " .. kind .. " of this line", items = items, context = { kind = kind } })
  end)
end

--- List the callees of the line, likeliest first: go_to_frame() goes to the first.
function M.callees()
  list_ways("framedex/waysIn", "callees")
end

--- List the callers of the line, most calls first.
function M.callers()
  list_ways("framedex/waysOut", "callers")
end

--- List the latest calls through the line.
function M.calls()
  list_through_line("framedex/callsThrough", "calls", function(call)
    local parts = { call.id, call["function"], call.durationText, call.arguments, "on " .. call.thread }
    if call.error ~= 0 then
      table.insert(parts, "failed")
    end
    return table.concat(vim.tbl_filter(function(part)
      return part ~= ""
    end, parts), "  ")
  end)
end

function act_on.calls(call)
  require("framedex.trace").open_trace(call.id)
end

--- List the frames of the selected stack, outermost first, if their source is on this machine or public.
function M.frames()
  request.find("framedex/stack", {}, function(picked, encoding)
    local items, urls, now = {}, {}, 1
    for number, frame in ipairs(picked.stackFrames) do
      local place = request.value(frame.publicPlace)
      if place and frame.role == "code" then
        table.insert(items, { text = ("%s  %s [not here]"):format(frame["function"], place) })
        urls[#items] = request.value(frame.url) or ""
      elseif request.value(frame.location) then
        local item = vim.lsp.util.locations_to_items({ frame.location }, encoding)[1]
        local how = frame.how ~= "exact" and (" [%s]"):format(frame.how) or ""
        table.insert(items, vim.tbl_extend("force", item, { text = frame["function"] .. how }))
        urls[#items] = ""
        now = number <= picked.frame + 1 and #items or now
      end
    end
    local title = "framedex: the stack of " .. picked.boundary
    open_list({ title = title, items = items, idx = now, context = { kind = "frames", framedex = urls } })
  end)
end

function act_on.frames(url)
  if url ~= "" then
    request.execute("framedex.openPublic", url)
  end
end

return M

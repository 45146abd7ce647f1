-- What a person does in Neovim, headless: open the demo, hover, go to frames, open a trace. Sourced with -S.
-- Reads $FRAMEDEX_SESSION (JSON: plugin, cmd, demo, trace, log, roads, lines); writes what was seen to its
-- `report`, also JSON.

local session = vim.fn.json_decode(vim.env.FRAMEDEX_SESSION)
local report = {}

local function wait_for(what, condition)
  if not vim.wait(20000, condition, 5) then
    error("waited in vain for " .. what)
  end
end

local function here()
  local cursor = vim.api.nvim_win_get_cursor(0)
  return { file = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(0), ":t"), line = cursor[1], column = cursor[2] }
end

local function edit(path, line)
  vim.cmd("edit " .. vim.fn.fnameescape(path))
  vim.api.nvim_win_set_cursor(0, { line, 0 })
  wait_for("the server to attach", function()
    local clients = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.lsp.buf_get_clients(0)
    local _, client = next(clients)
    return client and client.initialized
  end)
end

local function moved_by(action)
  local before = vim.inspect(here())
  action()
  wait_for("the cursor to move", function()
    return vim.inspect(here()) ~= before
  end)
  return here()
end

local function floating_text()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      return table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), "\n")
    end
  end
end

-- The places that an action lists, as Neovim shows them to a person: in the quickfix window, which is closed again.
local function listed_by(action, stay)
  local before = vim.fn.getqflist({ id = 0, title = 0 })
  if not stay then
    vim.fn.setqflist({}, "r")
  end
  action()
  wait_for("the list", function()
    return #vim.fn.getqflist() > 0 and (not stay or vim.fn.getqflist({ id = 0 }).id ~= before.id)
  end)
  local places = {}
  for _, item in ipairs(vim.fn.getqflist()) do
    local file = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(item.bufnr), ":t")
    table.insert(places, { file = file, line = item.lnum, text = item.text })
  end
  if not stay then
    vim.cmd("cclose")
  end
  return places
end

local function press_return()
  vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes("<CR>", true, false, true), "mx", false)
end

local function signs_in(buffer)
  local signs = {}
  for _, kind in ipairs({ "here", "stack" }) do
    signs[kind] = {}
    local namespace = vim.api.nvim_get_namespaces()["framedex-" .. kind]
    for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buffer, namespace, 0, -1, {})) do
      table.insert(signs[kind], mark[2] + 1)
    end
  end
  return signs
end

local function folding()
  return { vim.wo.foldmethod, vim.wo.foldlevel, vim.wo.foldminlines, vim.wo.foldtext }
end

local function play()
  vim.cmd("set foldmethod=indent foldlevel=99")
  vim.opt.runtimepath:append(session.plugin)
  vim.cmd("runtime! plugin/*.lua | filetype plugin on")
  local framedex = require("framedex")
  framedex.setup({ cmd = session.cmd })

  vim.cmd("edit " .. vim.fn.fnameescape(session.roads)) -- the server's workspace, while it is being started
  edit(session.demo, session.lines.main_calls_make_input)
  report.filetype = vim.bo.filetype
  vim.lsp.buf.hover()
  wait_for("the hover", floating_text)
  report.hover = floating_text()

  report.references = listed_by(function()
    vim.lsp.buf.references()
  end)
  report.incoming = listed_by(vim.lsp.buf.incoming_calls)
  report.outgoing = listed_by(vim.lsp.buf.outgoing_calls)
  edit(session.demo, session.lines.main_calls_make_input)

  report.definition = moved_by(vim.lsp.buf.definition)
  report.frame = moved_by(framedex.go_to_frame)
  report.across_the_border = moved_by(framedex.go_to_frame)

  report.walk = {}
  edit(session.roads, 1)
  for _ = 1, 4 do
    table.insert(report.walk, moved_by(framedex.go_to_frame))
  end
  local clients = vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()
  report.servers = #clients

  edit(session.demo, session.lines.main_calls_make_input)
  report.steps = {}
  for _, command in ipairs({ "step_in", "step_in", "step_out", "step_out" }) do
    table.insert(report.steps, moved_by(function()
      vim.cmd("Framedex " .. command)
    end))
  end
  wait_for("the mark to move", function()
    report.marks = signs_in(vim.fn.bufnr(session.demo))
    return report.marks.here[1] == 8
  end)
  vim.cmd("Framedex clear_stack")
  report.cleared = signs_in(vim.fn.bufnr(session.demo))
  report.opened_trace = moved_by(framedex.open_trace)
  report.modeline = vim.bo.modeline

  edit(session.demo, session.lines.main_calls_make_input)
  report.stacks = listed_by(framedex.stacks, true)
  report.frames = listed_by(press_return, true)
  vim.cmd("cclose")
  edit(session.demo, session.lines.main_calls_make_input)
  report.calls = listed_by(framedex.calls, true)
  press_return()
  wait_for("the trace", function()
    return vim.bo.filetype == "framedex-trace"
  end)
  report.trace_of_call = here().file
  vim.cmd("cclose")
  vim.fn.search("P device_put", "w")
  report.from_trace_of_call = moved_by(press_return)

  edit(session.demo, session.lines.main_calls_make_input + 1)
  report.callees = listed_by(framedex.callees, true)
  vim.cmd("2")
  report.from_callees = moved_by(press_return)
  vim.cmd("cclose")

  local project = vim.fn.fnamemodify(vim.uri_from_fname(session.roads), ":h"):gsub("^file", "framedex-trace")
  vim.cmd("edit " .. vim.fn.fnameescape(project .. "/call-3.fdtrace"))
  report.virtual = { name = vim.api.nvim_buf_get_name(0), modifiable = vim.bo.modifiable }
  vim.fn.search("P initialise", "w")
  report.from_virtual = moved_by(press_return)

  -- <CR> in lists of every kind, reached by :colder and :cnewer, and in one that is not framedex's.
  edit(session.demo, session.lines.main_calls_make_input)
  listed_by(framedex.calls, true)
  vim.cmd("wincmd p")
  listed_by(framedex.stacks, true)
  vim.cmd("colder")
  press_return()
  wait_for("the trace of a call in an older list", function()
    return vim.bo.filetype == "framedex-trace"
  end)
  vim.cmd("copen | cnewer")
  report.frames_of_newer = listed_by(press_return, true)
  vim.cmd("copen")
  vim.fn.setqflist({}, " ", { items = { { filename = session.log, lnum = 2 } } })
  press_return()
  report.from_other_list = here()
  vim.cmd("cclose")

  edit(session.demo, session.lines.main_calls_make_input)
  report.captures = {}
  vim.ui.select = function(choices, options, take)
    table.insert(report.captures, vim.tbl_map(options.format_item, choices))
    take(choices[#choices])
  end
  local told
  vim.lsp.handlers["window/showMessage"] = function(_, message)
    told = message.message
  end
  vim.notify = function(message)
    told = message
  end
  local function told_by(action)
    told = nil
    action()
    wait_for("the message", function()
      return told
    end)
    return told
  end
  report.picked = told_by(framedex.pick_capture)
  report.compared = told_by(framedex.compare_captures)
  report.indexed = told_by(framedex.index)
  vim.cmd("enew")
  report.without_file = { told_by(framedex.record), told_by(framedex.open_trace) }
  vim.fn.setqflist({}, " ", { items = { { bufnr = vim.fn.bufadd("gone.py"), lnum = 1 } } })
  vim.cmd("bwipeout gone.py | copen")
  report.gone = told_by(press_return)
  vim.cmd("cclose")
  report.nowhere = told_by(function()
    vim.cmd("edit framedex-trace:///no/such/folder/call-3.fdtrace")
  end)

  edit(session.trace, session.lines.trace)
  report.trace_filetype = vim.bo.filetype
  wait_for("the fold", function()
    return vim.fn.foldclosed(session.lines.trace + 1) > 0
  end)
  report.fold = vim.fn.foldtextresult(session.lines.trace + 1)
  report.from_trace = moved_by(vim.lsp.buf.definition)
  -- Files that were open before have folding of their own.
  local trace = "buffer " .. vim.fn.bufnr(session.trace)
  vim.cmd(trace .. " | edit first.py")
  report.folding_behind_trace = folding()
  vim.cmd(trace .. " | split second.py")
  report.folding_beside_trace = folding()
  vim.cmd("close")

  edit(session.log, session.lines.log)
  report.from_log = moved_by(vim.lsp.buf.definition)

  -- The end of a walk, a line without recordings, and what is wrong with an index.
  edit(session.roads, 1)
  report.nowhere_further = {}
  local function nowhere(what)
    table.insert(report.nowhere_further, told_by(what))
  end
  for _ = 1, 4 do
    moved_by(framedex.go_to_frame)
  end
  nowhere(framedex.go_to_frame)
  nowhere(framedex.step_in)
  edit(session.roads, 1)
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { "# new" })
  vim.api.nvim_win_set_cursor(0, { vim.fn.line("$"), 0 })
  nowhere(framedex.go_to_frame)
  nowhere(framedex.step_in)
  local index = vim.fn.fnamemodify(session.roads, ":h") .. "/.framedex/index.db"
  vim.fn.writefile({}, index)
  vim.lsp.handlers["window/showMessage"] = function() end -- the server tells of it too, once
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
  for _, what in ipairs({ "go_to_frame", "step_in", "stacks", "calls" }) do
    nowhere(framedex[what])
  end

  local failing = vim.fn.fnamemodify(session.roads, ":h") .. "/failing.py"
  vim.fn.writefile({ "import sys", "print('hello')", "sys.exit('boom: need --epochs')" }, failing)
  edit(failing, 1)
  report.failed = told_by(framedex.record)
  report.failed_output = vim.tbl_map(function(item)
    return item.text
  end, vim.fn.getqflist())
  local cuda = vim.fn.fnamemodify(session.roads, ":h") .. "/kernel.cu"
  vim.fn.writefile({ "" }, cuda)
  edit(cuda, 1)
  report.cuda = vim.bo.filetype

  for _, file in ipairs({ session.demo, session.roads }) do
    vim.fn.delete(vim.fn.fnamemodify(file, ":h") .. "/.framedex", "rf")
  end
  report.without_captures = told_by(framedex.compare_captures)
end

vim.o.hidden = true
local fine, problem = pcall(play)
if not fine then
  report.problem = problem
end
vim.fn.writefile({ vim.fn.json_encode(report) }, session.report)
vim.cmd("qall!")

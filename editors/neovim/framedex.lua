--- framedex in Neovim 0.7 and later: starts `framedex serve` for Python, C, C++, trace documents, logs and crash texts.
---
--- Put this file into a `lua/` folder on your runtimepath and add `require("framedex").setup()` to init.lua.
--- Definition, hover and call hierarchy then answer through Neovim's own functions, beside your other servers;
--- `require("framedex").go_to_frame()` asks framedex alone. `:Framedex step_in` and its like (`:Framedex <Tab>`) step
--- along one recorded stack, index, record, and pick or compare captures; each is a function of this module too.

local M = {}

local TRACE = "framedex-trace"

M.defaults = {
  cmd = { "framedex", "serve" },
  filetypes = { "python", "c", "cpp", TRACE, "log", "text", "mlir" },
  root_markers = { ".framedex", ".git" },
}

local COMMANDS = {
  "go_to_frame", "step_in", "step_out", "next_stack", "previous_stack",
  "open_trace", "pick_capture", "compare_captures", "index", "record",
}

local function command_names(lead)
  return vim.tbl_filter(function(name)
    return vim.startswith(name, lead)
  end, COMMANDS)
end

local function root_of(markers, buffer)
  local folder = vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buffer), ":p:h")
  while true do
    for _, marker in ipairs(markers) do
      if vim.loop.fs_stat(folder .. "/" .. marker) then
        return folder
      end
    end
    local parent = vim.fn.fnamemodify(folder, ":h")
    if parent == folder then
      return vim.loop.cwd()
    end
    folder = parent
  end
end

-- One server is enough: it finds the index for every file, whatever tree that is in. A server per root would know
-- nothing of the project from which a file of an installed library was reached.
local function is_framedex(client)
  return client.name == "framedex" and not client.is_stopped(client)
end

-- Before 0.8 there was no vim.lsp.start, which shares one server between buffers.
local function start_without_sharing_helper(config)
  if not M._client or vim.lsp.client_is_stopped(M._client) then
    M._client = vim.lsp.start_client(config)
  end
  if M._client then
    vim.lsp.buf_attach_client(0, M._client)
  end
end

local function start_by_autocommand(options)
  vim.api.nvim_create_autocmd("FileType", {
    group = vim.api.nvim_create_augroup("framedex", { clear = true }),
    pattern = options.filetypes,
    callback = function(event)
      local config = {
        name = "framedex",
        cmd = options.cmd,
        root_dir = root_of(options.root_markers, event.buf),
        settings = options.settings,
        on_attach = options.on_attach,
      }
      if vim.lsp.start then
        vim.lsp.start(config, { reuse_client = is_framedex })
      else
        start_without_sharing_helper(config)
      end
    end,
  })
end

--- Start framedex for matching buffers. Options: `cmd`, `filetypes`, `root_markers`, `on_attach`, and `settings`, such as
--- `{ framedex = { editor = { ["static-calls"] = true } } }`: docs/settings.md has the keys.
function M.setup(options)
  options = vim.tbl_extend("force", M.defaults, options or {})
  vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
    group = vim.api.nvim_create_augroup("framedex-filetype", { clear = true }),
    pattern = "*.fdtrace",
    callback = function()
      vim.bo.filetype = TRACE
    end,
  })
  -- Neovim itself knows few logs; what it has taken for something else stays that.
  vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
    group = "framedex-filetype",
    pattern = { "*.log", "*.err", "*.out" },
    callback = function()
      if vim.bo.filetype == "" then
        vim.bo.filetype = "log"
      end
    end,
  })
  vim.api.nvim_create_user_command("Framedex", function(called)
    if vim.tbl_contains(COMMANDS, called.args) then
      M[called.args]()
    else
      vim.notify("framedex: no command " .. called.args .. "; there are " .. table.concat(COMMANDS, ", "), vim.log.levels.WARN)
    end
  end, { nargs = 1, complete = command_names })
  if vim.fn.has("nvim-0.11") == 1 then
    vim.lsp.config("framedex", vim.tbl_extend("error", options, { reuse_client = is_framedex }))
    vim.lsp.enable("framedex")
  else
    start_by_autocommand(options)
  end
end

local function attached_client(buffer)
  local clients = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = buffer }) or vim.lsp.buf_get_clients(buffer)
  for _, client in pairs(clients) do
    if is_framedex(client) then
      return client
    end
  end
end

local function show(location, encoding)
  if vim.lsp.util.show_document then
    vim.lsp.util.show_document(location, encoding, { focus = true })
  else
    vim.lsp.util.jump_to_location(location, encoding)
  end
end

local function go_to_first(encoding)
  return function(problem, locations)
    if problem then
      vim.notify("framedex: " .. problem.message, vim.log.levels.WARN)
    elseif not locations or vim.tbl_isempty(locations) then
      vim.notify("framedex: nothing recorded on this line")
    else
      show(locations[1] or locations, encoding)
      if #locations > 1 then
        vim.fn.setqflist({}, " ", {
          title = "framedex: callees",
          items = vim.lsp.util.locations_to_items(locations, encoding),
        })
      end
    end
  end
end

local function warn(message)
  vim.notify("framedex: " .. message, vim.log.levels.WARN)
end

-- Asks framedex alone; `take` gets the answer, nil where there is none, and the encoding of its positions.
local function ask(method, params, take)
  local client = attached_client(0)
  if not client then
    warn("no server for this buffer")
    return
  end
  local encoding = client.offset_encoding or "utf-16"
  local function handler(problem, answer)
    if problem then
      warn(problem.message)
    else
      take(answer ~= vim.NIL and answer or nil, encoding)
    end
  end
  if type(params) == "function" then
    params = params(encoding)
  end
  if vim.fn.has("nvim-0.11") == 1 then
    client:request(method, params, handler, 0)
  else
    client.request(method, params, handler, 0)
  end
end

local function here(encoding)
  return vim.lsp.util.make_position_params(0, encoding)
end

local function go_to_first(locations, encoding)
  if not locations or vim.tbl_isempty(locations) then
    vim.notify("framedex: nothing recorded on this line")
    return
  end
  show(locations[1] or locations, encoding)
  if #locations > 1 then
    vim.fn.setqflist({}, " ", {
      title = "framedex: callees",
      items = vim.lsp.util.locations_to_items(locations, encoding),
    })
  end
end

--- Go one frame inward, to the callee that really ran; several callees also fill the quickfix list.
function M.go_to_frame()
  ask("textDocument/definition", here, go_to_first)
end

local function step(method)
  return function()
    ask("framedex/" .. method, here, function(position, encoding)
      if not position then
        vim.notify("framedex: no further frame or stack from here")
      elseif position.location ~= vim.NIL then
        show(position.location, encoding)
        local where = "%s: frame %d of %d on the way to %s"
        local told = where:format(position["function"], position.frame + 1, position.frames, position.boundary)
        vim.api.nvim_echo({ { told } }, false, {})
      end
    end)
  end
end

--- Along the picked stack one frame inward or outward; to the same line on another stack.
M.step_in = step("stepIn")
M.step_out = step("stepOut")
M.next_stack = step("nextStack")
M.previous_stack = step("previousStack")

local function execute(command, argument, take)
  ask("workspace/executeCommand", function(encoding)
    return { command = command, arguments = { type(argument) == "function" and argument(encoding) or argument } }
  end, take or function() end)
end

--- Index the captures and sources of this file's project; record this script.
function M.index()
  execute("framedex.index", vim.uri_from_bufnr(0))
end

function M.record()
  execute("framedex.record", vim.uri_from_bufnr(0), function(status)
    vim.notify("framedex: recorded, exit status " .. tostring(status))
  end)
end

--- Open the trace of the longest stack through this line.
function M.open_trace()
  execute("framedex.openTrace", here, function(uri, encoding)
    if uri then
      local start = { line = 0, character = 0 }
      show({ uri = uri, range = { start = start, ["end"] = start } }, encoding)
    end
  end)
end

local function choose_capture(prompt, extra, take)
  ask("framedex/captures", { textDocument = { uri = vim.uri_from_bufnr(0) } }, function(listed)
    local choices = vim.list_extend({ unpack(extra) }, listed and listed.captures or {})
    vim.ui.select(choices, {
      prompt = prompt,
      format_item = function(capture)
        local started = capture.started and vim.fn.strftime("%Y-%m-%d %H:%M:%S ", math.floor(capture.started)) or ""
        return started .. capture.command
      end,
    }, function(capture)
      if capture then
        take(capture)
      end
    end)
  end)
end

--- Choose the capture that answers are about, or all of them.
function M.pick_capture()
  choose_capture("Answers are about:", { { id = vim.NIL, command = "all captures" } }, function(capture)
    execute("framedex.selectCapture", { textDocument = { uri = vim.uri_from_bufnr(0) }, capture = capture.id })
  end)
end

--- Compare what two captures came to at this line.
function M.compare_captures()
  choose_capture("Before:", {}, function(before)
    choose_capture("After:", {}, function(after)
      execute("framedex.compareCaptures", function(encoding)
        return vim.tbl_extend("error", here(encoding), { before = before.id, after = after.id })
      end)
    end)
  end)
end

return M

--- Start of the server, in Neovim 0.7 and later.

local M = {}

local defaults = {
  cmd = { "framedex", "serve" },
  filetypes = { "python", "c", "cpp", "cuda", "framedex-trace", "log", "text", "mlir" },
  root_markers = { ".framedex", ".git" },
  recorded_lines = true,
  lenses = true,
}

-- One server serves all files: it finds the index for each file in any tree. A server per root would not know the
-- project from which the user reached a file of an installed library.
local function is_framedex(client)
  return client.name == "framedex" and not client.is_stopped(client)
end

local function is_absolute(folder)
  return folder:sub(1, 1) == "/"
end

-- The command with the full path of its program. An empty or relative entry of the PATH means Neovim's working folder,
-- which may be untrusted, so no framedex is started from there.
local function with_path(command)
  if type(command) ~= "table" or command[1]:find("/") then
    return command
  end
  for _, folder in ipairs(vim.split(vim.env.PATH or "", ":", { plain = true })) do
    local program = folder .. "/" .. command[1]
    if is_absolute(folder) and vim.fn.executable(program) == 1 then
      return vim.list_extend({ program }, command, 2)
    end
  end
  return command
end

-- The same applies to PYTHONPATH: Python would import standard modules from there. Recorded programs get the user's
-- own PYTHONPATH.
local function environment()
  local theirs = vim.env.PYTHONPATH
  local entries = theirs and vim.split(theirs, ":", { plain = true }) or {}
  local kept = vim.tbl_filter(is_absolute, entries)
  if #kept == #entries then
    return nil
  end
  return { PYTHONPATH = table.concat(kept, ":"), FRAMEDEX_PROGRAM_PYTHONPATH = theirs }
end

-- The client's capabilities: Neovim's (which it does not add by itself before 0.11), the user's (for completion, say),
-- and framedex's notes about steps and changes of the index.
local function capabilities(theirs)
  local ours = { experimental = { framedex = { led = true, indexChanges = true } } }
  return vim.tbl_deep_extend("force", vim.lsp.protocol.make_client_capabilities(), theirs or {}, ours)
end

-- Request code lenses: the server's settings decide which lines have one, but Neovim does not request them by itself.
local function show_lenses(buffer)
  if vim.lsp.codelens.enable then -- Neovim 0.12
    return vim.lsp.codelens.enable(true, { bufnr = buffer })
  end
  local function refresh()
    if vim.api.nvim_get_current_buf() == buffer then
      vim.lsp.codelens.refresh()
    end
  end
  vim.api.nvim_create_autocmd({ "BufEnter", "InsertLeave", "BufWritePost" }, {
    group = vim.api.nvim_create_augroup("framedex-lenses-" .. buffer, { clear = true }),
    buffer = buffer,
    callback = refresh,
  })
  refresh()
end

-- The server's configuration for Neovim; lsp/framedex.lua passes it to `vim.lsp.enable` unchanged.
function M.configuration(options)
  local configuration = vim.tbl_extend("force", defaults, options or {})
  configuration.cmd = with_path(configuration.cmd)
  configuration.cmd_env = vim.tbl_extend("force", environment() or {}, configuration.cmd_env or {})
  local theirs = configuration.on_attach
  local with_signs, with_lenses = configuration.recorded_lines, configuration.lenses
  configuration.recorded_lines, configuration.lenses = nil, nil
  configuration.on_attach = function(client, buffer)
    if vim.bo[buffer].filetype == "framedex-trace" then
      require("framedex.trace").fold_glue(client, buffer)
    elseif with_signs then
      require("framedex.recorded_lines").attach(client, buffer)
    end
    if with_lenses then
      show_lenses(buffer)
    end
    if theirs then
      theirs(client, buffer)
    end
  end
  configuration.handlers = {
    ["window/logMessage"] = function(...)
      return require("framedex.recording").on_log(...)
    end,
    ["framedex/led"] = function(...)
      return require("framedex.steps").on_led(...)
    end,
    ["framedex/didChangeIndex"] = function()
      require("framedex.recorded_lines").refresh()
    end,
  }
  configuration.capabilities = capabilities(configuration.capabilities)
  configuration.reuse_client = is_framedex
  return configuration
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

local started = nil -- the client's id; Neovim does not list the client until the server has answered
local waiting = {} -- the buffers to attach once the server has answered

local function attach_waiting(client)
  local buffers = waiting
  waiting = {}
  for _, buffer in ipairs(buffers) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      vim.lsp.buf_attach_client(buffer, client.id)
    end
  end
end

-- Before 0.8 there was no vim.lsp.start, which shares one server between buffers. Neovim 0.7 reports every
-- request as unsupported until the server has answered, so buffers are attached afterwards.
local function start_without_sharing_helper(configuration)
  local client = started and vim.lsp.get_client_by_id(started)
  if client and not client.is_stopped() and client.initialized then
    vim.lsp.buf_attach_client(0, started)
    return
  end
  table.insert(waiting, vim.api.nvim_get_current_buf())
  if not client or client.is_stopped() then
    started = vim.lsp.start_client(vim.tbl_extend("error", configuration, { on_init = attach_waiting }))
  end
end

local function start_by_autocommand(configuration)
  vim.api.nvim_create_autocmd("FileType", {
    group = vim.api.nvim_create_augroup("framedex", { clear = true }),
    pattern = configuration.filetypes,
    callback = function(event)
      local given = {
        name = "framedex",
        cmd = configuration.cmd,
        cmd_env = configuration.cmd_env,
        root_dir = root_of(configuration.root_markers, event.buf),
        settings = configuration.settings,
        init_options = configuration.settings, -- Neovim 0.7 does not announce that it answers requests for settings
        on_attach = configuration.on_attach,
        handlers = configuration.handlers,
        capabilities = configuration.capabilities,
      }
      if vim.bo[event.buf].buftype ~= "" then
        return
      elseif vim.lsp.start then
        vim.lsp.start(given, { reuse_client = is_framedex })
      else
        start_without_sharing_helper(given)
      end
    end,
  })
end

local given = nil

--- The options of setup(), with the defaults.
function M.configured()
  return M.configuration(given)
end

--- See `require("framedex").setup`.
function M.setup(options)
  given = options
  -- The command of a code lens: older Neovims do not support `window/showDocument`.
  vim.lsp.commands["framedex.openTrace"] = function(command)
    require("framedex.trace").open_trace(command.arguments[1].call)
  end
  local configuration = M.configuration(options)
  if vim.fn.has("nvim-0.11") == 1 then
    vim.lsp.config("framedex", configuration)
    vim.lsp.enable("framedex")
  else
    start_by_autocommand(configuration)
  end
end

--- The client of the buffer, else any running client, because frames lead to files without one. Nil if none is running.
function M.client(buffer)
  local all = vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()
  local found = nil
  for _, client in pairs(all) do
    if is_framedex(client) then
      if buffer and vim.lsp.buf_is_attached(buffer, client.id) then
        return client
      end
      found = found or client
    end
  end
  return found
end

local TIMEOUT_MS = 10000
local POLL = 50

-- Whether a server for this buffer is starting, or its file type would start one.
local function is_expected(buffer)
  local configuration = M.configured()
  local program = type(configuration.cmd) ~= "table" or vim.fn.executable(configuration.cmd[1]) == 1
  return program and vim.tbl_contains(configuration.filetypes, vim.bo[buffer].filetype)
end

--- Call `on_ready` with the client of a buffer as soon as there is one, or `fail` if none starts.
function M.when_ready(buffer, on_ready, fail)
  local began = vim.loop.now()
  local function look()
    local client = M.client(buffer)
    if client then
      on_ready(client)
    elseif not vim.api.nvim_buf_is_loaded(buffer) or not is_expected(buffer) or vim.loop.now() - began > TIMEOUT_MS then
      fail()
    else
      vim.defer_fn(look, POLL)
    end
  end
  look()
end

return M

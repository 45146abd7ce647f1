--- `:checkhealth framedex`

local M = {}

local health = vim.health or require("health")
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local warn = health.warn or health.report_warn
local problem = health.error or health.report_error

local function check_program(command)
  if type(command) ~= "table" then
    return ok("Your own function starts the server")
  end
  if vim.fn.executable(command[1]) ~= 1 then
    return problem(("`%s` is not on Neovim's PATH"):format(command[1]), {
      "pip install framedex in the environment of your programs,",
      'or set its full path: require("framedex").setup({ cmd = { "/path/to/.venv/bin/framedex", "serve" } })',
    })
  end
  local told = vim.fn.system({ command[1], "--version" })
  if vim.v.shell_error == 0 then
    ok(("`%s`: %s"):format(command[1], vim.trim(told)))
  else
    problem(("`%s --version` failed: %s"):format(command[1], vim.trim(told)))
  end
end

local function check_client()
  local client = require("framedex.server").client()
  if client then
    ok(("A server is running (client %d, positions in %s)"):format(client.id, client.offset_encoding))
  else
    warn("No server is running", {
      "Open a Python, C, C++, CUDA or *.fdtrace file after setup(), or :edit it again if the server has ended",
      "The server's errors are in " .. require("vim.lsp.log").get_filename(),
    })
  end
end

-- The folders from which the server searches upwards for an index: those of open files, and the working folder.
local function starts()
  local folders = { vim.fn.getcwd() }
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buffer)
    if name ~= "" and vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == "" then
      table.insert(folders, vim.fn.fnamemodify(name, ":p:h"))
    end
  end
  return folders
end

local function index_above(folder)
  while true do
    local index = (folder == "/" and "" or folder) .. "/.framedex/index.db"
    if vim.fn.filereadable(index) == 1 then
      return index
    end
    local above = vim.fn.fnamemodify(folder, ":h")
    if above == folder then
      return nil
    end
    folder = above
  end
end

-- The command line in `cmd` up to its verb `serve`; nil if it has none.
local function program_of(command)
  for number, word in ipairs(type(command) == "table" and command or {}) do
    if word == "serve" then
      return vim.list_slice(command, 1, number - 1)
    end
  end
end

local function check_one_index(index, program)
  if not program or vim.fn.executable(program[1]) ~= 1 then
    return ok("Index found: " .. index)
  end
  -- Listing the captures opens the index, as the server does.
  local told = vim.fn.system(vim.list_extend(vim.list_extend({}, program), { "--index", index, "captures" }))
  if vim.v.shell_error == 0 then
    ok("Index found: " .. index)
  else
    local lines = vim.split(vim.trim(told), "\n%s*")
    problem(table.remove(lines, 1), lines)
  end
end

local function check_index(program)
  local known = {}
  for _, folder in ipairs(starts()) do
    local index = index_above(folder)
    if index and not known[index] then
      known[index] = true
      check_one_index(index, program)
    end
  end
  if next(known) == nil then
    warn("No .framedex/index.db in or above this folder and those of the open files", {
      "framedex run SCRIPT, then framedex index, creates one",
    })
  end
end

function M.check()
  start("framedex")
  if vim.fn.has("nvim-0.7") == 1 then
    ok("Neovim is 0.7 or later")
  else
    problem("framedex needs Neovim 0.7 or later")
  end
  local command = require("framedex.server").configured().cmd
  check_program(command)
  check_client()
  check_index(program_of(command))
end

return M

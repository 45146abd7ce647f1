--- framedex in Neovim 0.7 and later: starts `framedex serve` for Python, C, C++, trace documents, logs and crash texts.
---
--- Put this file into a `lua/` folder on your runtimepath and add `require("framedex").setup()` to init.lua.
--- Definition, hover and call hierarchy then answer through Neovim's own functions, beside your other servers;
--- `require("framedex").go_to_frame()` asks framedex alone.

local M = {}

local TRACE = "framedex-trace"

M.defaults = {
  cmd = { "framedex", "serve" },
  filetypes = { "python", "c", "cpp", TRACE, "log", "text", "mlir" },
  root_markers = { ".framedex", ".git" },
}

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

--- Start framedex for matching buffers. Options: `cmd`, `filetypes`, `root_markers`, `on_attach`.
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

--- Go one frame inward, to the callee that really ran; several callees also fill the quickfix list.
function M.go_to_frame()
  local client = attached_client(0)
  if not client then
    vim.notify("framedex: no server for this buffer", vim.log.levels.WARN)
    return
  end
  local encoding = client.offset_encoding or "utf-16"
  local params = vim.lsp.util.make_position_params(0, encoding)
  local handler = go_to_first(encoding)
  if vim.fn.has("nvim-0.11") == 1 then
    client:request("textDocument/definition", params, handler, 0)
  else
    client.request("textDocument/definition", params, handler, 0)
  end
end

return M

--- Recorded JAX and XLA call stacks in Neovim 0.7 and later, from the language server `framedex serve`.
---
--- `require("framedex").setup()` starts the server for Python, C, C++, CUDA, trace documents, logs and crash texts.
--- Definition, hover and call hierarchy then work through Neovim's own functions, next to your other servers. The
--- functions below query framedex only. `:Framedex <Tab>` completes their names; `:help framedex` describes them.

local M = {}

-- The functions of this module by the submodule that defines them, which is loaded at the first call.
local WHERE = {
  go_to_frame = "steps", step_in = "steps", step_out = "steps", next_stack = "steps", previous_stack = "steps",
  hover = "steps", ways = "steps", statusline = "steps",
  clear_stack = "stack_marks",
  stacks = "lists", calls = "lists", frames = "lists", callees = "lists", callers = "lists",
  open_trace = "trace",
  pick_capture = "captures", compare_captures = "captures", index = "captures",
  record = "recording",
}

M.commands = {
  "go_to_frame", "hover", "ways", "callees", "callers", "step_in", "step_out", "next_stack", "previous_stack",
  "clear_stack", "stacks", "calls", "frames", "open_trace", "pick_capture", "compare_captures", "index", "record",
}

for name, module in pairs(WHERE) do
  M[name] = function(...)
    return require("framedex." .. module)[name](...)
  end
end

--- Start framedex for matching buffers. Options: `cmd`, `filetypes`, `root_markers`, `recorded_lines`, `lenses`,
--- `on_attach`, and `settings`, such as `{ framedex = { editor = { ["static-calls"] = true } } }`:
--- docs/reference/settings.md has the keys.
function M.setup(options)
  require("framedex.server").setup(options)
end

--- Run `:Framedex NAME`.
function M.command(name)
  if vim.tbl_contains(M.commands, name) then
    M[name]()
  else
    local known = table.concat(M.commands, ", ")
    vim.notify("framedex: unknown command " .. name .. "; the commands are " .. known, vim.log.levels.WARN)
  end
end

return M

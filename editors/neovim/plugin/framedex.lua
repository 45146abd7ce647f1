-- Loaded at start: the command, and the buffers of `framedex-trace:` URIs.

if vim.g.loaded_framedex or vim.fn.has("nvim-0.7") == 0 then
  return
end
vim.g.loaded_framedex = true

vim.api.nvim_create_user_command("Framedex", function(called)
  require("framedex").command(called.args)
end, {
  nargs = 1,
  desc = "Show recorded call stacks; see :help framedex",
  complete = function(lead)
    return vim.tbl_filter(function(name)
      return vim.startswith(name, lead)
    end, require("framedex").commands)
  end,
})

vim.api.nvim_create_autocmd("BufReadCmd", {
  group = vim.api.nvim_create_augroup("framedex-trace", { clear = true }),
  pattern = "framedex-trace:/*",
  callback = function(event)
    require("framedex.trace").read(event.buf, event.match)
  end,
})

local group = vim.api.nvim_create_augroup("framedex-filetype", { clear = true })

vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  group = group,
  pattern = "*.fdtrace",
  callback = function()
    vim.bo.filetype = "framedex-trace"
    vim.bo.modeline = false -- a function name must not act as a modeline
  end,
})

-- Neovim itself detects few logs; a file type that it has detected stays.
vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  group = group,
  pattern = { "*.log", "*.err", "*.out" },
  callback = function()
    if vim.bo.filetype == "" then
      vim.bo.filetype = "log"
    end
  end,
})

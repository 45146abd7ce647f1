local group = vim.api.nvim_create_augroup("framedex-filetype", { clear = true })

vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  group = group,
  pattern = "*.fdtrace",
  callback = function()
    vim.bo.filetype = "framedex-trace"
    vim.bo.modeline = false -- names of functions are no settings
  end,
})

-- Neovim itself knows few logs; what it has taken for something else stays that.
vim.api.nvim_create_autocmd({ "BufRead", "BufNewFile" }, {
  group = group,
  pattern = { "*.log", "*.err", "*.out" },
  callback = function()
    if vim.bo.filetype == "" then
      vim.bo.filetype = "log"
    end
  end,
})

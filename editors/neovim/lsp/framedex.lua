-- For `vim.lsp.enable("framedex")` of Neovim 0.11 and later, without setup().
return require("framedex.server").configuration()

-- An init file for a first look, with framedex from this checkout's .venv:
--
--     nvim -u editors/neovim/try.lua +8 demo/device_put.py
--
-- F12 goes one frame inward, CTRL-O back, K shows what was recorded on the line.

local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")
local framedex = dofile(here .. "/framedex.lua")

vim.o.hidden = true
vim.cmd("filetype on | syntax on")
vim.keymap.set("n", "<F12>", framedex.go_to_frame)
vim.keymap.set("n", "K", vim.lsp.buf.hover)
framedex.setup({ cmd = { vim.fn.fnamemodify(here, ":h:h") .. "/.venv/bin/framedex", "serve" } })

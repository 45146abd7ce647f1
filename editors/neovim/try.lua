-- An init file for a first look, with framedex from this checkout's .venv:
--
--     nvim -u editors/neovim/try.lua +8 framedex-demo/device_put.py
--
-- F12 goes one frame inward, CTRL-O back, K shows the recorded calls of the line; F10 and F9 step in and out along one
-- stack, and :Framedex stacks lists those through the line.

local here = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h")

vim.o.hidden = true
vim.opt.runtimepath:append(here)
vim.cmd("silent! helptags " .. vim.fn.fnameescape(here .. "/doc")) -- for :help framedex, as plug-in managers do
vim.cmd("filetype plugin on | syntax on")

local framedex = require("framedex")
framedex.setup({ cmd = { vim.fn.fnamemodify(here, ":h:h") .. "/.venv/bin/framedex", "serve" } })
vim.keymap.set("n", "<F12>", framedex.go_to_frame)
vim.keymap.set("n", "<F10>", framedex.step_in)
vim.keymap.set("n", "<F9>", framedex.step_out)
vim.keymap.set("n", "K", vim.lsp.buf.hover)

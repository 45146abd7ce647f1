-- For plug-in managers, which take a repository's root: the plug-in itself is the folder editors/neovim.

local root = vim.fn.fnamemodify(debug.getinfo(1, "S").source:sub(2), ":p:h:h")
local plugin = root .. "/editors/neovim"

vim.opt.runtimepath:append(plugin)
-- Where Neovim has started already it looks for these no more.
dofile(plugin .. "/plugin/framedex.lua")
dofile(plugin .. "/ftdetect/framedex.lua")

return dofile(plugin .. "/lua/framedex/init.lua")

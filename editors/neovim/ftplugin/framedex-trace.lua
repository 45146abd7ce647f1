-- A trace document has one frame per line.

vim.opt_local.wrap = false
vim.opt_local.spell = false

for _, key in ipairs({ "<CR>", "gf" }) do
  vim.keymap.set("n", key, function()
    require("framedex").go_to_frame()
  end, { buffer = true, desc = "framedex: the source of this frame" })
end

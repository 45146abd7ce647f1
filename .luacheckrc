-- luacheck, of the files that Neovim and WezTerm load and of those that tests play in Neovim (tests/editors/test_lints.py)
std = "luajit"
globals = { "vim" }
max_line_length = 120

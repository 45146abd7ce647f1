-- For ~/.config/wezterm/. Add to wezterm.lua, before `return config`: require("framedex")(config)
-- (save this file as framedex.lua). Ctrl+Shift+click, or a click if no program uses the mouse, opens a location.
local wezterm = require("wezterm")

-- WezTerm does not read your shell's settings, so the editor is named here.
local editor = "code"
local in_terminal = { hx = true, nano = true, nvim = true, vi = true, vim = true }

wezterm.on("open-uri", function(window, pane, uri)
  if not uri:find("^file://.*#L?%d+$") then
    return -- WezTerm's default action for every other link
  end
  local command = { "env", "FRAMEDEX_EDITOR=" .. editor, "framedex", "open", "--", uri }
  if in_terminal[editor] then
    window:perform_action(wezterm.action.SpawnCommandInNewTab({ args = command }), pane)
  else
    wezterm.background_child_process(command)
  end
  return false
end)

return function(config)
  -- Absolute path:line in output without links, such as a compiler's.
  config.hyperlink_rules = config.hyperlink_rules or wezterm.default_hyperlink_rules()
  table.insert(config.hyperlink_rules, {
    regex = [[(?:^|[\s("'])(/[^\s:"'()]+):(\d+)]],
    format = "file://$1#$2",
    highlight = 1,
  })
end

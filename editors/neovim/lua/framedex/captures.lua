--- Captures: indexing, comparison, and selection of the capture that restricts answers.

local request = require("framedex.request")

local M = {}

--- Index the captures and sources of this file's project.
function M.index()
  request.execute("framedex.index", vim.uri_from_bufnr(0), function(indexed)
    if indexed then -- otherwise the server has shown the reason
      vim.notify("framedex: indexed")
    end
  end)
end

local function choose(prompt, extra, on_choice)
  request.send("framedex/captures", { textDocument = { uri = vim.uri_from_bufnr(0) } }, function(listed, _, asked)
    if not listed or #listed.captures == 0 then
      return request.show_reason("framedex/captures", asked)
    end
    local choices = vim.list_extend({ unpack(extra) }, listed.captures)
    vim.ui.select(choices, {
      prompt = prompt,
      format_item = function(capture)
        if not capture.started then -- the entry that removes the restriction
          return capture.name
        end
        local started = vim.fn.strftime("%Y-%m-%d %H:%M:%S", math.floor(capture.started))
        return ("%s %s (capture %d)"):format(started, capture.name, capture.id)
      end,
    }, function(capture)
      if capture then
        on_choice(capture)
      end
    end)
  end)
end

--- Select the capture that restricts answers, or none: then the project's settings choose the captures.
function M.pick_capture()
  local unrestricted = { id = vim.NIL, name = "captures that the project's settings select" }
  choose("Restrict answers to:", { unrestricted }, function(capture)
    local document = { uri = vim.uri_from_bufnr(0) }
    request.execute("framedex.selectCapture", { textDocument = document, capture = capture.id })
  end)
end

--- Compare the calls of two captures at this line.
function M.compare_captures()
  choose("Before:", {}, function(before)
    choose("After:", {}, function(after)
      request.find("framedex/compareCaptures", function(encoding)
        return vim.tbl_extend("error", request.here(encoding), { before = before.id, after = after.id })
      end, function(compared)
        vim.notify(compared.text)
      end)
    end)
  end)
end

return M

#include "extractor/cpp/broken_scopes.h"

#include <algorithm>

#include "extractor/source/scopes.h"
#include "extractor/source/text.h"
#include "extractor/trees/syntax_tree.h"

namespace framedex::extractor {

std::vector<BrokenScope> find_broken_scopes(TSNode error, std::string_view source) {
  std::vector<BrokenScope> found, open;
  std::string_view keyword;
  std::string name;
  const uint32_t error_end = ts_node_end_byte(error);
  TSTreeCursor cursor = ts_tree_cursor_new(error);
  for (bool more = ts_tree_cursor_goto_first_child(&cursor); more; more = ts_tree_cursor_goto_next_sibling(&cursor)) {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    const std::string_view type = ts_node_type(node);
    if (type == "namespace" || type == "class" || type == "struct") {
      keyword = type;
      name = type == "namespace" ? kAnonymous : "";
    } else if (ends_with(type, "identifier") || type == "nested_namespace_specifier" || type == "template_type") {
      if (!keyword.empty() && (name.empty() || name == kAnonymous)) {
        name = on_one_line(text_of(source, node));
        name = name.substr(0, name.find('<'));
      }
    } else if (type == "{") {
      open.push_back({ts_node_start_byte(node), error_end, keyword.empty() ? "" : name, keyword != "namespace"});
      keyword = {};
    } else if (type == "}" && !open.empty()) {
      open.back().end = ts_node_end_byte(node);
      found.push_back(std::move(open.back()));
      open.pop_back();
    } else if (type != "base_class_clause") {
      keyword = {};
    }
  }
  ts_tree_cursor_delete(&cursor);
  std::move(open.begin(), open.end(), std::back_inserter(found));
  found.erase(std::remove_if(found.begin(), found.end(), [](const BrokenScope& scope) { return scope.name.empty(); }),
              found.end());
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  return found;
}

}  // namespace framedex::extractor

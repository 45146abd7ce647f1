#pragma once

#include <tree_sitter/api.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace framedex::extractor {

// A namespace or class whose node was lost to a syntax error inside it: bytes [begin, end).
struct BrokenScope {
  uint32_t begin;
  uint32_t end;
  std::string name;
  bool is_class;
};

// Returns the broken scopes of an error node. Its children include their tokens: `namespace`, a name, `{`, and perhaps
// a `}` much later.
std::vector<BrokenScope> find_broken_scopes(TSNode error, std::string_view source);

}  // namespace framedex::extractor

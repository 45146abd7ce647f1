#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace framedex::extractor {

// Processes the #if ... #else ... #endif of a source. If each branch is complete, all branches are kept. If they split
// a construct, only one branch can be parsed, and the others are reported for blanking.
class Conditionals {
 public:
  using Span = std::pair<size_t, size_t>;

  // Processes a directive whose `#` is at `begin`. `depth` is the number of open brackets there. `last` is the last
  // character before it that is neither space nor comment. Returns the depth after the directive.
  int directive(std::string_view text, size_t begin, size_t end, int depth, char last);

  const std::vector<Span>& dropped() const { return dropped_; }

 private:
  struct Branch {
    Span span;
    int depth;        // brackets it leaves open
    bool is_whole;    // ends at the end of a statement, member or element
    bool is_foreign;  // its condition selects another system, or is never true
  };
  struct Conditional {
    int depth;
    std::vector<Branch> branches;
    size_t begin;
    bool is_foreign;
  };
  void close_branch(Conditional& conditional, size_t at, int depth, char last);
  int choose(const Conditional& conditional);

  std::vector<Conditional> open_;
  std::vector<Span> dropped_;
};

}  // namespace framedex::extractor

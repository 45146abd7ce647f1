#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace framedex::extractor {

// Follows #if ... #else ... #endif through a source. Where each branch is whole, both stay. Where they split a
// construct, only one branch can be read, and the others are given out to be blanked.
class Conditionals {
 public:
  using Span = std::pair<size_t, size_t>;

  // Takes a directive whose `#` is at `begin`. `depth` is the number of brackets open there, `last` the last character
  // before it that is neither space nor comment. Returns the depth to go on with.
  int directive(std::string_view text, size_t begin, size_t end, int depth, char last);

  const std::vector<Span>& dropped() const { return dropped_; }

 private:
  struct Branch {
    Span span;
    int depth;        // brackets it leaves open
    bool is_whole;    // it ends where a statement, a member or an element does
    bool is_foreign;  // its condition says that it is for another system, or for nobody
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

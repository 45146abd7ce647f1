#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framedex::line_scanner {

// Bytes [begin, end) of a text.
struct Range {
  size_t begin;
  size_t end;
};

// A line with a needle in it. `range` ends behind its line break, `stop` is before that. `words` are all the words with
// a needle, in order, if the line is decided by words; else it is empty.
struct Line {
  Range range;
  size_t stop;
  bool decided_by_words;
  std::vector<Range> words;
};

// The line that begins at a position, whatever is on it.
Line whole_line(std::string_view text, size_t begin);

// Finds the lines that hold one of many needles in one pass of an automaton (Aho and Corasick, 1975), whatever their
// number. Colours (ECMA-48 control sequences) within a needle do not hide it.
class LineScanner {
 public:
  // A line whose only needles are in `word_needles` is decided by the words around them: what is between blanks. Throws
  // std::invalid_argument for a needle that is empty or holds a line break or an escape character, and for needles of
  // more than some 30,000 bytes in all.
  LineScanner(const std::vector<std::string>& needles, const std::vector<std::string>& word_needles);

  std::vector<Line> scan(std::string_view text) const;

  // The first of those lines from the beginning of a line on.
  std::optional<Line> next(std::string_view text, size_t position) const;

 private:
  using State = uint16_t;

  Line line_at(std::string_view text, size_t begin, size_t end) const;

  std::vector<State> next_;      // [state * 256 + byte]
  State first_with_needle_ = 0;  // states from here on end a needle
  State first_with_any_ = 0;     // and from here on one that is no word needle
  State escape_ = 0;             // reached by the escape character alone
};

}  // namespace framedex::line_scanner

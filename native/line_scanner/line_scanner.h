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

// A line that contains a needle. `range` includes the line break, and `stop` is the position before it. If the line is
// decided by words, `words` has all words with a needle, in order; otherwise it is empty.
struct Line {
  Range range;
  size_t stop;
  bool decided_by_words;
  std::vector<Range> words;
};

// Returns the line that begins at a position, with or without a needle.
Line whole_line(std::string_view text, size_t begin);

// Finds the lines that contain any of many needles, in one pass of an automaton (Aho and Corasick, 1975). Colours
// (ECMA-48 control sequences) inside a needle do not hide it.
class LineScanner {
 public:
  // A line whose only needles are in `word_needles` is decided by the words (text between blanks) around them. Throws
  // std::invalid_argument for an empty needle, for one with a line break or escape character, and for needles of more
  // than about 30,000 bytes in total.
  LineScanner(const std::vector<std::string>& needles, const std::vector<std::string>& word_needles);

  std::vector<Line> scan(std::string_view text) const;

  // Returns the first such line at or after `position`, the beginning of a line.
  std::optional<Line> next(std::string_view text, size_t position) const;

 private:
  using State = uint16_t;

  Line line_at(std::string_view text, size_t begin, size_t end) const;

  std::vector<State> next_;      // [state * 256 + byte]
  State first_with_needle_ = 0;  // states from here on end a needle
  State first_with_any_ = 0;     // states from here on end a needle that is not a word needle
  State escape_ = 0;             // reached by the escape character alone
};

}  // namespace framedex::line_scanner

#include "line_scanner/line_scanner.h"

#include <array>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace framedex::line_scanner {
namespace {

constexpr size_t kBytes = 256;
constexpr char kEscape = '\x1b';
constexpr size_t kMaxWordLength = 4096;
constexpr size_t kMaxWords = 64;

enum class NeedleEnd : uint8_t { kNone, kWordNeedle, kNeedle };

struct Node {
  std::array<int, kBytes> next{};  // 0, the root, if there is no child
  int fallback = 0;
  NeedleEnd ending = NeedleEnd::kNone;
};

using Trie = std::vector<Node>;

size_t index_of(char byte) { return static_cast<unsigned char>(byte); }

bool is_blank(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

void add(Trie& trie, const std::string& needle, NeedleEnd ending) {
  if (needle.empty() || needle.find('\n') != std::string::npos || needle.find(kEscape) != std::string::npos) {
    throw std::invalid_argument("a needle must not be empty, and must not contain line breaks or escape characters");
  }
  int node = 0;
  for (char byte : needle) {
    int child = trie[static_cast<size_t>(node)].next[index_of(byte)];
    if (child == 0) {
      child = static_cast<int>(trie.size());
      trie.emplace_back();
      trie[static_cast<size_t>(node)].next[index_of(byte)] = child;
    }
    node = child;
  }
  NeedleEnd& known = trie[static_cast<size_t>(node)].ending;
  if (ending > known) known = ending;
}

// Completes the transitions. If a node has no child for a byte, the transition goes to that of its longest suffix in
// the trie.
void complete(Trie& trie) {
  std::vector<size_t> queue;
  for (int child : trie[0].next) {
    if (child != 0) queue.push_back(static_cast<size_t>(child));
  }
  for (size_t done = 0; done < queue.size(); ++done) {
    Node& node = trie[queue[done]];
    const Node& fallback = trie[static_cast<size_t>(node.fallback)];
    if (fallback.ending > node.ending) node.ending = fallback.ending;
    for (size_t byte = 0; byte < kBytes; ++byte) {
      int& child = node.next[byte];
      if (child == 0) {
        child = fallback.next[byte];
      } else {
        trie[static_cast<size_t>(child)].fallback = fallback.next[byte];
        queue.push_back(static_cast<size_t>(child));
      }
    }
  }
}

size_t line_end(std::string_view text, size_t position) {
  const void* found = std::memchr(text.data() + position, '\n', text.size() - position);
  return found == nullptr ? text.size() : static_cast<size_t>(static_cast<const char*>(found) - text.data()) + 1;
}

size_t length_of_break(std::string_view line) {
  if (line.empty() || line.back() != '\n') return 0;
  return line.size() > 1 && line[line.size() - 2] == '\r' ? 2 : 1;
}

// Returns the position after a control sequence, or after the escape character alone.
size_t behind_escape(std::string_view text, size_t position) {
  size_t end = position + 1;
  if (end == text.size() || text[end] != '[') return end;
  ++end;
  while (end < text.size() && text[end] >= ' ' && text[end] <= '?') ++end;
  return end < text.size() && text[end] >= '@' && text[end] <= '~' ? end + 1 : end;
}

}  // namespace

Line whole_line(std::string_view text, size_t begin) {
  const size_t end = line_end(text, begin);
  return {{begin, end}, end - length_of_break(text.substr(begin, end - begin)), false, {}};
}

LineScanner::LineScanner(const std::vector<std::string>& needles, const std::vector<std::string>& word_needles) {
  Trie trie(1);
  for (const std::string& needle : needles) add(trie, needle, NeedleEnd::kNeedle);
  for (const std::string& needle : word_needles) add(trie, needle, NeedleEnd::kWordNeedle);
  if (trie.size() >= std::numeric_limits<State>::max()) throw std::invalid_argument("the needles are too long");
  complete(trie);

  // States are numbered by the kind of needle they end, so the scan needs one comparison per byte.
  std::vector<State> number(trie.size());
  State count = 0;
  for (NeedleEnd ending : {NeedleEnd::kNone, NeedleEnd::kWordNeedle, NeedleEnd::kNeedle}) {
    if (ending == NeedleEnd::kWordNeedle) first_with_needle_ = count;
    if (ending == NeedleEnd::kNeedle) first_with_any_ = count;
    for (size_t node = 0; node < trie.size(); ++node) {
      if (trie[node].ending == ending) number[node] = count++;
    }
  }
  escape_ = count;
  next_.resize(trie.size() * kBytes);
  for (size_t node = 0; node < trie.size(); ++node) {
    State* row = &next_[number[node] * kBytes];
    for (size_t byte = 0; byte < kBytes; ++byte) row[byte] = number[static_cast<size_t>(trie[node].next[byte])];
    row[index_of(kEscape)] = escape_;
  }
}

std::vector<Line> LineScanner::scan(std::string_view text) const {
  std::vector<Line> lines;
  for (std::optional<Line> line = next(text, 0); line; line = next(text, line->range.end)) lines.push_back(*line);
  return lines;
}

std::optional<Line> LineScanner::next(std::string_view text, size_t position) const {
  State state = 0;
  while (position < text.size()) {
    const State reached = next_[state * kBytes + index_of(text[position])];
    if (reached < first_with_needle_) {
      state = reached;
      ++position;
    } else if (reached == escape_) {
      position = behind_escape(text, position);
    } else {
      const size_t before = text.rfind('\n', position);
      return line_at(text, before == std::string_view::npos ? 0 : before + 1, line_end(text, position));
    }
  }
  return std::nullopt;
}

Line LineScanner::line_at(std::string_view text, size_t begin, size_t end) const {
  const size_t stop = end - length_of_break(text.substr(begin, end - begin));
  Line undecided{{begin, end}, stop, false, {}};
  Line line{{begin, end}, stop, true, {}};
  State state = 0;
  for (size_t position = begin; position < stop; ++position) {
    state = next_[state * kBytes + index_of(text[position])];
    if (state < first_with_needle_) {
      // Text overwritten on a terminal is not part of the line.
      if (text[position] == '\r') return undecided;
      continue;
    }
    if (state >= first_with_any_) return undecided;
    if (!line.words.empty() && position < line.words.back().end) continue;  // another needle in the same word
    Range word{position, position + 1};
    while (word.begin > begin && !is_blank(text[word.begin - 1])) --word.begin;
    while (word.end < stop && !is_blank(text[word.end])) ++word.end;
    if (word.end - word.begin > kMaxWordLength || line.words.size() == kMaxWords) return undecided;
    line.words.push_back(word);
  }
  return line;
}

}  // namespace framedex::line_scanner

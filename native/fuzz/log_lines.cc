// Fuzzes the log scanner: it finds exactly the lines that contain a needle.
#include "fuzz/input.h"
#include "line_scanner/line_scanner.h"

namespace {

namespace line_scanner = framedex::line_scanner;
using framedex::fuzz::require;

const std::vector<std::string> kNeedles = {"File \"", ", line ", "#0", "    @ 0x", "*** "};
const std::vector<std::string> kWordNeedles = {".cc:", ".h:", ".py:"};

bool holds(std::string_view line, const std::vector<std::string>& needles) {
  for (const std::string& needle : needles) {
    if (line.find(needle) != std::string_view::npos) return true;
  }
  return false;
}

// Compares with a simple line-by-line scan; only for texts without colours.
void compare(std::string_view text, const std::vector<line_scanner::Line>& found) {
  size_t next = 0;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    std::string_view line = text.substr(begin, end - begin);
    bool is_found = next < found.size() && found[next].range.begin == begin;
    require(is_found == (holds(line, kNeedles) || holds(line, kWordNeedles)));
    // The converse does not hold: very long or very many words do not decide about a line.
    if (is_found) require(!found[next++].decided_by_words || !holds(line, kNeedles));
    begin = end;
  }
  require(next == found.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const line_scanner::LineScanner scanner(kNeedles, kWordNeedles);
  std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<line_scanner::Line> found = scanner.scan(text);
  size_t before = 0;
  for (const line_scanner::Line& line : found) {
    require(before <= line.range.begin && line.range.begin <= line.stop && line.stop <= line.range.end);
    require(line.range.end <= text.size() && line.decided_by_words == !line.words.empty());
    for (const line_scanner::Range& word : line.words) {
      require(line.range.begin <= word.begin && word.begin < word.end && word.end <= line.range.end);
    }
    before = line.range.end;
  }
  bool is_plain = text.find('\x1b') == std::string::npos && text.find('\r') == std::string::npos;
  if (is_plain) compare(text, found);
  return 0;
}

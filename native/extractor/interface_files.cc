#include "extractor/interface_files.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "extractor/source/scopes.h"
#include "extractor/source/text.h"

namespace framedex::extractor {
namespace {

// Words and single punctuation characters, without comments. A literal's text is dropped.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  // Returns the next token, empty at the end. A word may contain dots: `a.b.C`.
  std::string_view next() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (is_space(c)) {
        ++at_;
        continue;
      }
      size_t end = find_comment_end(text_, at_);
      const bool is_comment = end > at_;
      if (!is_comment) end = token_end(c);
      const std::string_view token = text_.substr(at_, end - at_);
      for (char inside : token) line_ += inside == '\n';
      at_ = end;
      if (!is_comment) return token;
    }
    return {};
  }

  uint32_t line() const { return line_; }

 private:
  size_t token_end(char c) const {
    if (c == '"' || c == '\'') return find_string_end(text_, at_);
    if (c == '[' && text_.substr(at_, 2) == "[{") {  // code in TableGen
      const size_t end = text_.find("}]", at_);
      return end == std::string_view::npos ? text_.size() : end + 2;
    }
    size_t end = at_;
    while (end < text_.size() && (is_word(text_[end]) || (end > at_ && text_[end] == '.'))) ++end;
    return end > at_ ? end : at_ + 1;
  }

  std::string_view text_;
  size_t at_ = 0;
  uint32_t line_ = 1;
};

Definition definition_of(std::string name, std::string_view lookup, const char* kind, uint32_t line) {
  Definition definition;
  definition.name = std::move(name);
  definition.lookup = lookup;
  definition.kind = kind;
  definition.line = definition.end_line = line;
  return definition;
}

}  // namespace

Extraction extract_proto(std::string_view source) {
  Extraction found;
  Tokens tokens(source);
  std::string package;
  std::vector<int> blocks;  // the definition of each open brace, -1: none
  int pending = -1;
  bool at_start = true;
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    const bool is_named = token == "message" || token == "enum" || token == "service" || token == "rpc";
    if (token == "{") {
      blocks.push_back(std::exchange(pending, -1));
      at_start = true;
    } else if (token == "}") {
      if (!blocks.empty()) {
        if (blocks.back() >= 0) found.definitions[blocks.back()].end_line = tokens.line();
        blocks.pop_back();
      }
      at_start = true;
    } else if (token == ";") {
      pending = -1;
      at_start = true;
    } else if (at_start && token == "package") {
      for (char c : tokens.next().substr(0, kMaxPathLength)) package += c == '.' ? "::" : std::string(1, c);
      at_start = false;
    } else if (at_start && is_named) {
      const uint32_t line = tokens.line();
      const std::string name(tokens.next());
      const Definition* outer = blocks.empty() || blocks.back() < 0 ? nullptr : &found.definitions[blocks.back()];
      if (outer && outer->name.size() > kMaxPathLength) outer = nullptr;
      const std::string prefix = outer             ? outer->name + (token == "rpc" ? "::" : "_")
                                 : package.empty() ? ""
                                                   : package + "::";
      const std::string lookup = outer && token != "rpc" ? outer->lookup + "_" + name : name;
      const char* kind = token == "message" ? "message"
                         : token == "enum"  ? "enum"
                         : token == "rpc"   ? "method"
                                            : "service";
      pending = static_cast<int>(found.definitions.size());
      found.definitions.push_back(definition_of(prefix + name, lookup, kind, line));
      at_start = false;
    } else {
      at_start = false;
    }
  }
  return found;
}

Extraction extract_tablegen(std::string_view source) {
  Extraction found;
  Tokens tokens(source);
  size_t depth = 0;
  std::vector<std::pair<int, size_t>> open;  // a record and the number of braces around it
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    const bool ends = (token == "}" && !open.empty() && depth == open.back().second + 1) ||
                      (token == ";" && !open.empty() && depth == open.back().second);
    if (token == "{") ++depth;
    if (token == "}" && depth > 0) --depth;
    if (ends) {
      found.definitions[open.back().first].end_line = tokens.line();
      open.pop_back();
    }
    if (token == "def" || token == "defm" || token == "class" || token == "multiclass") {
      const uint32_t line = tokens.line();
      const std::string_view record = tokens.next();
      if (record.empty() || !is_word(record[0])) continue;
      const std::string_view name =
          record.substr(record.find('_') == std::string_view::npos ? 0 : record.find('_') + 1);
      open.emplace_back(static_cast<int>(found.definitions.size()), depth);
      found.definitions.push_back(definition_of(std::string(name), name, "record", line));
    }
  }
  return found;
}

}  // namespace framedex::extractor

#include "extractor/preprocessing/local_macros.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <unordered_map>
#include <utility>

#include "extractor/source/text.h"

namespace framedex::extractor {
namespace {

constexpr size_t kMaxExpansionSize = 1 << 16;  // bytes of one expansion
constexpr int kMaxExpansionDepth = 4;          // macros that call macros
constexpr int kMaxCalls = 2000;                // per file; files with more are data
constexpr size_t kAllTogether = 1 << 22;

struct LocalMacro {
  std::string_view name;
  std::vector<std::string_view> parameters;
  std::string body;  // on one line
  uint32_t line;
  uint32_t end_line;
  bool is_long;  // continued over several lines
};

using Macros = std::unordered_map<std::string_view, std::vector<LocalMacro>>;

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t comma = text.find(',');
    parts.push_back(trim(text.substr(0, comma)));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// Parses a directive `#define NAME(a, b) body` from its `#`.
std::optional<LocalMacro> read_macro(std::string_view source, size_t hash, size_t end, uint32_t line) {
  size_t at = hash + 1;
  while (at < end && (source[at] == ' ' || source[at] == '\t')) ++at;
  if (!starts_with(source.substr(at), "define")) return std::nullopt;
  at = skip_space(source, at + 6);
  const size_t name_end = find_word_end(source, at);
  if (name_end == at || name_end >= end || source[name_end] != '(') return std::nullopt;
  const size_t close = source.find(')', name_end);
  if (close >= end) return std::nullopt;
  LocalMacro macro{source.substr(at, name_end - at),
                   split(source.substr(name_end + 1, close - name_end - 1)),
                   {},
                   line,
                   line,
                   false};
  macro.body = source.substr(close + 1, end - close - 1);
  for (size_t i = 0; (i = macro.body.find('\n', i)) != std::string::npos; ++i) {
    ++macro.end_line;
    macro.body[i] = ' ';
    size_t slash = i > 0 && macro.body[i - 1] == '\r' ? i - 2 : i - 1;
    if (slash < macro.body.size() && macro.body[slash] == '\\') macro.body[slash] = ' ';
  }
  macro.is_long = macro.end_line > macro.line;
  return macro;
}

// Calls `line(begin, end, number)` for every line outside directives and `macro(LocalMacro)` for each macro.
template <typename OnLine, typename OnMacro>
void for_each_line(std::string_view source, OnLine on_line, OnMacro on_macro) {
  uint32_t number = 1;
  for (size_t at = 0; at < source.size();) {
    size_t start = at;
    while (start < source.size() && (source[start] == ' ' || source[start] == '\t')) ++start;
    size_t end;
    if (start < source.size() && source[start] == '#') {
      end = std::min(find_directive_end(source, start), source.size());
      if (auto macro = read_macro(source, start, end, number)) on_macro(std::move(*macro));
      number += static_cast<uint32_t>(std::count(source.begin() + at, source.begin() + end, '\n'));
    } else {
      end = std::min(source.find('\n', at), source.size());
      on_line(start, end, number);
    }
    at = end + 1;
    ++number;
  }
}

bool word_at(std::string_view text, size_t at, std::string_view word) {
  return text.substr(at, word.size()) == word && (at == 0 || !is_word(text[at - 1])) &&
         (at + word.size() == text.size() || !is_word(text[at + word.size()]));
}

// Returns the end of the text before `at`, without trailing spaces and without a trailing `word ##`.
size_t before_pasting(std::string_view text, size_t at) {
  while (at > 0 && is_space(text[at - 1])) --at;
  if (at < 2 || text.substr(at - 2, 2) != "##") return at;
  at -= 2;
  while (at > 0 && is_space(text[at - 1])) --at;
  while (at > 0 && is_word(text[at - 1])) --at;
  while (at > 0 && is_space(text[at - 1])) --at;
  return at;
}

size_t after_pasting(std::string_view text, size_t at) {
  at = skip_space(text, at);
  if (text.substr(at, 2) != "##") return at;
  return skip_space(text, find_word_end(text, skip_space(text, at + 2)));
}

// Returns whether a macro names a function or class after one of its arguments.
bool defines_functions(const LocalMacro& macro) {
  const std::string_view body = macro.body;
  const std::string_view start = trim(body);
  const size_t name_end = find_word_end(start, 0);
  const bool calls_macro = is_all_caps(start.substr(0, name_end)) && start.substr(name_end, 1) == "(";
  if (!macro.is_long || (body.find('{') == std::string_view::npos && !calls_macro)) return false;
  for (std::string_view parameter : macro.parameters) {
    if (parameter.empty() || !is_word(parameter[0])) continue;
    for (size_t at = body.find(parameter); at != std::string_view::npos; at = body.find(parameter, at + 1)) {
      if (!word_at(body, at, parameter)) continue;
      const size_t after = after_pasting(body, at + parameter.size());
      if (after < body.size() && body[after] == '(') return true;
      const std::string_view before = body.substr(0, before_pasting(body, at));
      if (ends_with(before, "struct") || ends_with(before, "class")) return true;
    }
  }
  return calls_macro;
}

std::string expansion(const std::vector<LocalMacro>& variants, std::string_view arguments, const Macros& macros,
                      int depth);

// Returns the body with parameters replaced by arguments, tokens pasted, and nested macro calls expanded.
std::string substitute(const LocalMacro& macro, const std::vector<std::string_view>& values, const Macros& macros,
                       int depth) {
  std::string text;
  const std::string_view body = macro.body;
  for (size_t at = 0; at < body.size() && text.size() < kMaxExpansionSize;) {
    if (body[at] == '"') {
      const size_t end = find_string_end(body, at);
      text += body.substr(at, end - at);
      at = end;
    } else if (body.substr(at, 2) == "##") {
      while (!text.empty() && is_space(text.back())) text.pop_back();
      at = skip_space(body, at + 2);
    } else if (const size_t end = find_word_end(body, at); end > at) {
      const std::string_view word = body.substr(at, end - at);
      const auto found = std::find(macro.parameters.begin(), macro.parameters.end(), word);
      const auto index = static_cast<size_t>(found - macro.parameters.begin());
      text += index < values.size() && found != macro.parameters.end() ? values[index] : word;
      at = end;
    } else {
      text += body[at++];
    }
  }
  if (depth == 0) return text;
  std::string result;
  for (size_t at = 0; at < text.size() && result.size() < kMaxExpansionSize;) {
    const size_t end = find_word_end(text, at);
    const auto inner = end > at ? macros.find(std::string_view(text).substr(at, end - at)) : macros.end();
    const size_t close = end < text.size() && text[end] == '(' ? text.find_first_of("()", end + 1) : text.npos;
    if (inner != macros.end() && close != std::string::npos && text[close] == ')') {
      result += expansion(inner->second, std::string_view(text).substr(end + 1, close - end - 1), macros, depth - 1);
      at = close + 1;
    } else {
      result.append(text, at, end > at ? end - at : 1);
      at = end > at ? end : at + 1;
    }
  }
  return result;
}

// Returns the expansion of a call. If the branches of an #if define the macro several times, returns all expansions.
std::string expansion(const std::vector<LocalMacro>& variants, std::string_view arguments, const Macros& macros,
                      int depth) {
  const std::vector<std::string_view> values = split(arguments);
  std::string text;
  for (const LocalMacro& variant : variants) {
    if (text.size() < kMaxExpansionSize) text += substitute(variant, values, macros, depth) + ' ';
  }
  return text;
}

// Matches `NAME(arguments)` on a line of its own, except for spaces and a semicolon. Returns the name and the
// arguments.
std::optional<std::pair<std::string_view, std::string_view>> call_on(std::string_view line) {
  line = trim(line);
  if (!line.empty() && line.back() == ';') line = trim(line.substr(0, line.size() - 1));
  const size_t name_end = find_word_end(line, 0);
  if (name_end == 0 || name_end + 1 >= line.size() || line[name_end] != '(' || line.back() != ')') return std::nullopt;
  const std::string_view arguments = line.substr(name_end + 1, line.size() - name_end - 2);
  if (arguments.find_first_of("(){};\"") != std::string_view::npos) return std::nullopt;
  return std::pair(line.substr(0, name_end), arguments);
}

bool contains_call(std::string_view body) {
  for (size_t at = body.find('('); at != std::string_view::npos; at = body.find('(', at + 1)) {
    if (at > 0 && is_word(body[at - 1])) return true;
  }
  return false;
}

}  // namespace

std::string expand_local_macros(std::string_view source) {
  Macros macros;
  bool is_needed = false;
  for_each_line(
      source, [](size_t, size_t, uint32_t) {},
      [&](LocalMacro macro) {
        is_needed |= defines_functions(macro);
        if (macro.is_long) macros[macro.name].push_back(std::move(macro));
      });
  if (!is_needed) return {};
  std::string text;
  size_t done = 0;
  int calls = 0;
  for_each_line(
      source,
      [&](size_t start, size_t end, uint32_t) {
        const auto call = call_on(source.substr(start, end - start));
        const auto found = call ? macros.find(call->first) : macros.end();
        if (found == macros.end() || calls >= kMaxCalls || text.size() > source.size() + kAllTogether) return;
        if (std::none_of(found->second.begin(), found->second.end(), defines_functions)) return;
        ++calls;
        text += source.substr(done, start - done);
        text += expansion(found->second, call->second, macros, kMaxExpansionDepth);
        done = end;
      },
      [](const LocalMacro&) {});
  if (calls == 0) return {};
  return text.append(source.substr(done));
}

std::vector<Definition> calling_macros(std::string_view source) {
  std::vector<Definition> found;
  for_each_line(
      source, [](size_t, size_t, uint32_t) {},
      [&](const LocalMacro& macro) {
        if (!is_all_caps(macro.name) || !contains_call(macro.body)) return;
        Definition definition;
        definition.name = definition.lookup = macro.name;
        definition.kind = "macro";
        definition.line = macro.line;
        definition.end_line = macro.end_line;
        found.push_back(std::move(definition));
      });
  return found;
}

}  // namespace framedex::extractor

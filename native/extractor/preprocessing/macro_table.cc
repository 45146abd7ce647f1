#include "extractor/preprocessing/macro_table.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_set>
#include <vector>

#include "extractor/source/text.h"

namespace framedex::extractor {
namespace {

using Names = std::unordered_set<std::string_view>;

// Endings of macro names that mark attributes in any project: ABSL_GUARDED_BY, TF_EXPORT.
const Names& attribute_endings() {
  static const Names endings = {"GUARDED_BY",
                                "LOCKS_EXCLUDED",
                                "LOCKS_REQUIRED",
                                "ACQUIRED_AFTER",
                                "ACQUIRED_BEFORE",
                                "LOCK_RETURNED",
                                "LOCK_FUNCTION",
                                "TRYLOCK_FUNCTION",
                                "UNLOCK_FUNCTION",
                                "ASSERT_EXCLUSIVE_LOCK",
                                "ASSERT_SHARED_LOCK",
                                "LOCKABLE",
                                "NO_THREAD_SAFETY_ANALYSIS",
                                "THREAD_ANNOTATION_ATTRIBUTE__",
                                "PRINTF_ATTRIBUTE",
                                "MUST_USE_RESULT",
                                "NODISCARD",
                                "CONST_INIT",
                                "DEPRECATED",
                                "DEPRECATE_AND_INLINE",
                                "EXPORT",
                                "EXPORTED",
                                "INLINE",
                                "FORCEINLINE",
                                "NOINLINE",
                                "DEVICE_FUNC",
                                "CACHELINE_ALIGNED",
                                "NO_SANITIZE",
                                "NULLABILITY_COMPATIBLE",
                                "LIFETIME_BOUND",
                                "LIFETIME_CAPTURE_BY",
                                "REQUIRE_EXPLICIT_INIT",
                                "HIDDEN",
                                "UNROLL_LOOP",
                                "DEBUG_ALIGNED_LOAD",
                                "DEBUG_ALIGNED_STORE",
                                "DEBUG_UNALIGNED_LOAD",
                                "DEBUG_UNALIGNED_STORE",
                                "EMPTY_BASES",
                                "RESTRICT",
                                "ABI",
                                "RET_MAY_ALIAS"};
  return endings;
}

const Names& attributes() {
  static const Names names = {"absl_nonnull",  "absl_nullable",     "absl_nullability_unknown",
                              "__attribute__", "__attribute",       "__device__",
                              "__host__",      "__global__",        "__forceinline__",
                              "__forceinline", "__launch_bounds__", "__declspec",
                              "__restrict",    "__restrict__",      "__extension__",
                              "alignas",       "__grid_constant__", "__shared__"};
  return names;
}

bool is_attribute(std::string_view name) {
  if (!is_all_caps(name)) return attributes().count(name) > 0;
  if (starts_with(name, "CU") || starts_with(name, "HIP")) return false;  // CUDA's and ROCm's enumerators
  for (size_t i = name.find('_'); i != std::string_view::npos; i = name.find('_', i + 1)) {
    const std::string_view ending = name.substr(i + 1);
    if (starts_with(ending, "ATTRIBUTE_") || starts_with(ending, "NO_SANITIZE_")) return true;
    if (attribute_endings().count(ending) > 0) return true;
  }
  return false;
}

bool is_assignment(std::string_view name) {
  return is_all_caps(name) &&
         (name.find("ASSIGN_OR") != std::string_view::npos || name.find("AND_ASSIGN") != std::string_view::npos);
}

const Names& blank_words() {
  static const Names words = {"inline",        "__inline",   "__inline__", "static",       "extern",
                              "constexpr",     "const",      "virtual",    "explicit",     "noexcept",
                              "override",      "final",      "__restrict", "__restrict__", "volatile",
                              "__forceinline", "__device__", "__host__",   "__global__"};
  return words;
}

const Names& blank_calls() {
  static const Names words = {"__attribute__", "__declspec", "alignas", "_Pragma", "__pragma"};
  return words;
}

size_t find_closing_bracket(std::string_view text, size_t opening) {
  int depth = 0;
  for (size_t i = opening; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if ((text[i] == ')' || text[i] == ']') && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

// Returns whether a macro's body consists only of attributes and specifiers.
bool is_blank(std::string_view body) {
  size_t i = skip_space(body, 0);
  while (i < body.size()) {
    size_t end = find_word_end(body, i);
    const std::string_view word = body.substr(i, end - i);
    if (word.empty()) {
      if (!starts_with(body.substr(i), "[[")) return false;
      end = find_closing_bracket(body, i);
    } else if (blank_calls().count(word) > 0 || (is_attribute(word) && end < body.size() && body[end] == '(')) {
      end = skip_space(body, end);
      if (end >= body.size() || body[end] != '(') return false;
      end = find_closing_bracket(body, end);
    } else if (blank_words().count(word) == 0 && !is_attribute(word)) {
      return false;
    }
    if (end == std::string_view::npos) return false;
    i = skip_space(body, end);
  }
  return true;
}

// Returns whether a macro's body is the head of a statement or declaration, and the parse succeeds without it: `try`,
// `catch (e)`, `if (false)`, `template <typename T>`.
bool is_head(std::string_view body) {
  const size_t begin = skip_space(body, 0), end = find_word_end(body, begin);
  const std::string_view word = body.substr(begin, end - begin), rest = body.substr(skip_space(body, end));
  if (word == "try") return rest.empty();
  if (word == "template") {
    return !rest.empty() && rest[0] == '<' && rest[rest.find_last_not_of(' ')] == '>' &&
           rest.find_first_of(";{}") == std::string_view::npos;
  }
  if (rest.empty() || rest[0] != '(' || (word != "catch" && word != "if")) return false;
  const size_t closed = find_closing_bracket(rest, 0);
  if (closed == std::string_view::npos || skip_space(rest, closed) != rest.size()) return false;
  std::string inside = on_one_line(rest.substr(1, closed - 2));
  inside.erase(std::remove(inside.begin(), inside.end(), ' '), inside.end());
  return word == "catch" || inside == "true" || inside == "false" || inside == "0" || inside == "1";
}

// Returns whether a macro's body has an unmatched opening or closing brace.
bool is_unbalanced(std::string_view body) {
  int depth = 0;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] == '"') {
      i = std::max(find_string_end(body, i), i + 1) - 1;
    } else if (body[i] == '{') {
      ++depth;
    } else if (body[i] == '}' && --depth < 0) {
      return true;
    }
  }
  return depth > 0;
}

// Returns whether a text can be the path of a macro's namespace: a name, one of its arguments, or another macro's call.
bool is_path(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_word(c) || is_space(c) || std::strchr(":$(),", c) != nullptr; });
}

// Extracts `a::b` from `namespace a { inline namespace v1 { namespace b {`. Returns false for any other body.
bool opens_namespaces(std::string_view body, std::string& opened) {
  size_t i = skip_space(body, 0);
  if (i == body.size()) return false;
  while (i < body.size()) {
    size_t end = find_word_end(body, i);
    const bool is_inline = body.substr(i, end - i) == "inline";
    if (is_inline) {
      i = skip_space(body, end);
      end = find_word_end(body, i);
    }
    const std::string_view word = body.substr(i, end - i);
    if (word == "export" || word == "extern") {  // `export {`, `extern "C" {`: a block without a name
      size_t block = skip_space(body, end);
      if (block < body.size() && body[block] == '"') block = skip_space(body, find_string_end(body, block));
      if (block >= body.size() || body[block] != '{') return false;
      i = skip_space(body, block + 1);
      continue;
    }
    if (word != "namespace") return false;
    const size_t brace = body.find('{', end);
    if (brace == std::string_view::npos) return false;
    std::string name = on_one_line(body.substr(end, brace - end));
    if (!is_path(name)) return false;
    if (!name.empty() && name[0] == ' ') name.erase(0, 1);
    while (!name.empty() && name.back() == ' ') name.pop_back();
    if (!is_inline) opened += (opened.empty() ? "" : "::") + (name.empty() ? "(anonymous namespace)" : name);
    i = skip_space(body, brace + 1);
  }
  return true;
}

bool closes_namespaces(std::string_view body) {
  if (body.find('}') == std::string_view::npos) return false;
  for (char c : body) {
    if (c != '}' && c != ';' && !is_space(c)) return false;
  }
  return true;
}

constexpr size_t kShortest = 2;              // characters of a macro's name
constexpr size_t kMaxPatternLength = 300;    // characters of a name pattern
constexpr size_t kMaxFunctionLength = 4000;  // characters of a body that ends with a function's head
constexpr int kMaxAliasDepth = 8;            // macros that call macros

// Splits at commas outside brackets, without spaces around the parts.
std::vector<std::string> arguments_of(std::string_view text) {
  std::vector<std::string> found;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '"' && i < text.size()) {
      i = std::max(find_string_end(text, i), i + 1) - 1;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && (depth <= 0 || i == text.size())) {
      std::string part = on_one_line(text.substr(begin, i - begin));
      if (!part.empty() && part[0] == ' ') part.erase(0, 1);
      found.push_back(std::move(part));
      begin = i + 1;
    }
  }
  return found;
}

// Returns a macro's body with `$1` for its first parameter and pasted tokens joined.
std::string pattern_of(std::string_view body, std::string_view parameters) {
  const std::vector<std::string> names = arguments_of(parameters);
  std::string pattern;
  for (size_t i = 0; i < body.size();) {
    if (body.substr(i, 2) == "##") {
      while (!pattern.empty() && is_space(pattern.back())) pattern.pop_back();
      i = skip_space(body, i + 2);
    } else if (const size_t end = find_word_end(body, i); end > i) {
      const std::string_view word = body.substr(i, end - i);
      const auto found = std::find(names.begin(), names.end(), word);
      const auto index = static_cast<size_t>(found - names.begin());
      if (index < names.size() && index < 9) {
        pattern += '$';
        pattern += static_cast<char>('1' + index);
      } else {
        pattern += word;
      }
      i = end;
    } else {
      pattern += body[i++];
    }
  }
  return pattern;
}

// Returns the start of the bracket that closes at `closing`; npos if there is none.
size_t opening_of(std::string_view text, size_t closing, char open, char close) {
  int depth = 0;
  for (size_t i = closing + 1; i-- > 0;) {
    if (text[i] == close) ++depth;
    if (text[i] == open && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Returns the name of the function whose head ends a body, `void $1$2::run() const`. If a body is only a macro call,
// `OTHER($1, $2)`, returns all of it. Returns an empty text for any other body.
std::string find_function_in_head(std::string_view body) {
  const size_t last = body.find_last_of(";{}");
  if (last != std::string_view::npos && body[last] == '{') return {};
  std::string_view head = last == std::string_view::npos ? body : body.substr(last + 1);
  const size_t closing = head.rfind(')');
  if (closing == std::string_view::npos) return {};
  for (std::string_view rest = head.substr(closing + 1); !rest.empty();) {
    const size_t begin = skip_space(rest, 0), end = find_word_end(rest, begin);
    const std::string_view word = rest.substr(begin, end - begin);
    if (!word.empty() && word != "const" && word != "override" && word != "noexcept" && word != "final") return {};
    if (word.empty() && begin < rest.size()) return {};
    rest.remove_prefix(end);
  }
  const size_t opening = opening_of(head, closing, '(', ')');
  if (opening == std::string_view::npos) return {};
  std::string name;  // collected from its end
  size_t i = opening;
  while (i > 0 && is_space(head[i - 1])) --i;
  const size_t name_end = i;
  while (i > 0) {
    const char c = head[i - 1];
    if (c == '>' || c == ')') {
      const size_t begin = opening_of(head, i - 1, c == '>' ? '<' : '(', c);
      if (begin == std::string_view::npos) return {};
      if (c == ')') name.insert(0, head.substr(begin, i - begin));
      i = begin;
    } else if (is_word(c) || c == ':' || c == '$') {
      name.insert(name.begin(), c);
      --i;
    } else {
      break;
    }
  }
  if (i == name_end) return {};
  const bool has_type = skip_space(head, 0) < i;
  if (has_type) return name;
  if (!is_all_caps(name)) return {};
  return name + std::string(head.substr(opening, closing + 1 - opening));
}

bool is_name(std::string_view text) {
  return !text.empty() && !is_digit(text[0]) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_word(c) || c == ':' || c == '$'; });
}

// Returns whether a text is a path of names, with kAnyScope among them.
bool is_scope(std::string_view text) {
  std::string names(text);
  std::replace(names.begin(), names.end(), kAnyScope[0], '_');
  return is_name(names);
}

// Returns `a` for `a __attribute__((visibility("hidden")))`.
std::string_view remove_attribute(std::string_view text) {
  const size_t end = find_word_end(text, 0), next = skip_space(text, end);
  return end > 0 && next > end && is_blank(text.substr(next)) ? text.substr(0, end) : text;
}

// Replaces `$1`, `$2` by arguments.
std::string fill_arguments(std::string_view pattern, const std::vector<std::string>& arguments) {
  std::string text;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '$' && i + 1 < pattern.size() && pattern[i + 1] >= '1' && pattern[i + 1] <= '9') {
      const auto index = static_cast<size_t>(pattern[++i] - '1');
      if (index < arguments.size()) text += arguments[index];
    } else {
      text += pattern[i];
    }
  }
  return text;
}

// Matches `NAMESPACE_BEGIN` and `X_BEGIN_NAMESPACE` in a tree without their definitions.
MacroEffect namespace_convention(std::string_view name) {
  if (name.find("NAMESPACE") == std::string_view::npos || !is_all_caps(name)) return MacroEffect::kNone;
  const auto has = [&](std::string_view word) {
    return ends_with(name, std::string("NAMESPACE_").append(word)) ||
           ends_with(name, std::string(word).append("_NAMESPACE"));
  };
  if (has("BEGIN") || has("OPEN")) return MacroEffect::kOpenNamespace;
  return has("END") || has("CLOSE") ? MacroEffect::kCloseNamespace : MacroEffect::kNone;
}

// Returns whether `macro` is only a name, perhaps a user-defined one, while `other` changes the structure.
bool is_weaker(const MacroTable::Macro& macro, const MacroTable::Macro& other) {
  return macro.effect >= MacroEffect::kFunction && other.effect != MacroEffect::kNone &&
         other.effect < MacroEffect::kFunction;
}

// Returns whether two definitions of a macro without parameters are different names. Keeps the name that comes first,
// because a name in capitals may be a macro itself.
bool merge_names(MacroTable::Macro& macro, const MacroTable::Macro& other) {
  if (macro.effect != MacroEffect::kName || other.effect != MacroEffect::kName || macro.path == other.path ||
      (macro.path + other.path).find('$') != std::string::npos) {
    return false;
  }
  macro.path = std::min(macro.path, other.path);
  return true;
}

}  // namespace

void MacroTable::learn(std::string_view source) {
  for (size_t at = source.find("define"); at != std::string_view::npos; at = source.find("define", at)) {
    size_t hash = at;
    while (hash > 0 && (source[hash - 1] == ' ' || source[hash - 1] == '\t')) --hash;
    at += 6;
    if (hash == 0 || source[hash - 1] != '#') continue;
    const std::string_view line = source.substr(at, find_directive_end(source, at) - at);
    at += line.size();
    const size_t start = skip_space(line, 0);
    const size_t end = find_word_end(line, start);
    if (start == 0 || end - start < kShortest) continue;
    size_t body = end;
    const bool has_parameters = end < line.size() && line[end] == '(';
    if (has_parameters) {
      body = line.find(')', end);
      if (body == std::string_view::npos) continue;
      ++body;
    }
    std::string text(line.substr(body));
    for (size_t i = text.find("\\\n"); i != std::string::npos; i = text.find("\\\n", i)) text.replace(i, 2, " ");
    const std::string_view parameters = has_parameters ? line.substr(end + 1, body - end - 2) : std::string_view();
    learn_definition(line.substr(start, end - start), has_parameters, parameters, on_one_line(text));
  }
}

void MacroTable::learn_definition(std::string_view name, bool has_parameters, std::string_view parameters,
                                  std::string_view body) {
  Macro macro;
  const bool may_name = is_all_caps(name) && body.size() < kMaxFunctionLength;
  const std::string pattern = may_name && has_parameters ? pattern_of(body, parameters) : std::string(body);
  // An empty macro without parameters is an include guard or a switch, which declarations do not use.
  if (is_blank(body) || is_head(body)) {
    macro.effect = has_parameters ? MacroEffect::kBlankArguments : MacroEffect::kBlank;
  } else if (opens_namespaces(pattern, macro.path)) {
    macro.effect = MacroEffect::kOpenNamespace;
  } else if (closes_namespaces(body)) {
    macro.effect = MacroEffect::kCloseNamespace;
  } else if (may_name && is_name(remove_attribute(pattern))) {
    macro = {MacroEffect::kName, std::string(remove_attribute(pattern))};
  } else if (may_name && has_parameters) {
    macro.path = find_function_in_head(pattern);
    if (!macro.path.empty() && macro.path.size() < kMaxPatternLength) macro.effect = MacroEffect::kFunction;
  }
  // Elsewhere a name this short is a template parameter, unless the macro is explicitly an attribute.
  if (name.size() == kShortest && (macro.effect != MacroEffect::kBlank || body.empty())) macro = {};
  Votes& votes = votes_[std::string(name)];
  if (macro.effect == MacroEffect::kNone) {
    // `} namespace b {` belongs to another build configuration, and does not affect the other definitions.
    if (!is_unbalanced(body)) ++votes.ordinary;
  } else {
    ++votes.special;
    if (macro.effect < MacroEffect::kFunction) shapes_.set(shape(name));
    if (merge_names(votes.macro, macro)) {
      votes.has_several_names = true;
    } else if (votes.macro.effect == MacroEffect::kNone || (!body.empty() && !is_weaker(macro, votes.macro))) {
      votes.macro = std::move(macro);
    }
  }
}

void MacroTable::merge(const MacroTable& other) {
  for (const auto& [name, votes] : other.votes_) {
    Votes& mine = votes_[name];
    mine.special += votes.special;
    mine.ordinary += votes.ordinary;
    mine.has_several_names |= votes.has_several_names;
    if (merge_names(mine.macro, votes.macro)) {
      mine.has_several_names = true;
    } else if (mine.macro.effect == MacroEffect::kNone || is_weaker(mine.macro, votes.macro)) {
      mine.macro = votes.macro;
    }
  }
  shapes_ |= other.shapes_;
}

size_t MacroTable::shape(std::string_view name) {
  return (static_cast<unsigned char>(name[0]) << 6 | (name.size() & 63)) & ((1 << 14) - 1);
}

// In a tie, an effect on structure wins: without it, the surrounding code cannot be parsed.
bool MacroTable::is_special(const Votes& votes) {
  const MacroEffect effect = votes.macro.effect;
  const bool is_structure =
      effect == MacroEffect::kBlank || effect == MacroEffect::kOpenNamespace || effect == MacroEffect::kCloseNamespace;
  return votes.special + (is_structure ? 1 : 0) > votes.ordinary && votes.special > 0;
}

// Returns the macro that was learnt for a name.
MacroTable::Macro MacroTable::learn_macro(std::string_view name) const {
  const auto found = votes_.find(std::string(name));
  return found != votes_.end() && is_special(found->second) ? found->second.macro : Macro{};
}

MacroTable::Macro MacroTable::find(std::string_view name) const {
  if (is_assignment(name)) return {MacroEffect::kAssign, {}};
  if (shapes_.test(shape(name))) {
    Macro macro = learn_macro(name);
    macro.is_learnt = true;
    if (macro.effect != MacroEffect::kNone && macro.effect < MacroEffect::kFunction) return macro;
  }
  if (name.size() > 9 && is_upper(name[0])) {
    if (const MacroEffect effect = namespace_convention(name); effect != MacroEffect::kNone) return {effect, "$1"};
  }
  const bool may_be_known = is_upper(name[0]) || name[0] == '_' || name[0] == 'a';
  return {may_be_known && is_attribute(name) ? MacroEffect::kBlankArguments : MacroEffect::kNone, {}};
}

std::string MacroTable::function(std::string_view name, std::string_view arguments) const {
  const Macro macro = learn_macro(name);
  if (macro.effect != MacroEffect::kFunction) return {};
  const Macro made = expand(macro, arguments_of(arguments));
  return is_name(made.path) ? made.path : std::string();
}

std::string MacroTable::path(const Macro& macro, std::string_view arguments) const {
  const std::vector<std::string> written = arguments_of(arguments);
  std::string path;
  for (size_t i = 0; i <= macro.path.size();) {
    const size_t stop = std::min(macro.path.find("::", i), macro.path.size());
    const std::string part = name(fill_arguments(macro.path.substr(i, stop - i), written));
    if (!part.empty()) path += (path.empty() ? "" : "::") + part;
    i = stop + 2;
  }
  return path;
}

std::string MacroTable::name(std::string_view word) const {
  if (votes_.empty() || !is_all_caps(word)) return std::string(word);
  const Macro made = expand({MacroEffect::kName, std::string(word)}, {});
  return is_scope(made.path) ? made.path : std::string(word);
}

// Returns a macro with its arguments filled in and nested macros expanded. A macro that is only a call has the effect
// of the called macro.
MacroTable::Macro MacroTable::expand(const Macro& macro, const std::vector<std::string>& arguments) const {
  std::string text = fill_arguments(macro.path, arguments);
  MacroEffect effect = macro.effect;
  for (int hop = 0; hop < kMaxAliasDepth && text.size() < kMaxPatternLength; ++hop) {
    std::string next;
    bool has_changed = false;
    for (size_t i = 0; i < text.size();) {
      const size_t end = find_word_end(text, i);
      const Macro inner = end > i ? learn_macro(std::string_view(text).substr(i, end - i)) : Macro{};
      size_t after = end;
      std::vector<std::string> values;
      const size_t opening = skip_space(text, end);
      if (opening < text.size() && text[opening] == '(') {
        const size_t closed = find_closing_bracket(text, opening);
        if (closed != std::string::npos && inner.effect != MacroEffect::kNone) {
          values = arguments_of(std::string_view(text).substr(opening + 1, closed - opening - 2));
          after = closed;
        }
      }
      const bool names = inner.effect == MacroEffect::kName || inner.effect == MacroEffect::kFunction;
      if (names || (i == 0 && after == text.size() && inner.effect == MacroEffect::kOpenNamespace)) {
        next += fill_arguments(inner.path, values);
        if (i == 0 && after == text.size()) effect = inner.effect;
        has_changed = true;
        i = after;
      } else {
        next.append(text, i, end > i ? end - i : 1);
        i = end > i ? end : i + 1;
      }
    }
    text = std::move(next);
    if (!has_changed) break;
  }
  return {effect, std::move(text)};
}

std::string MacroTable::serialize() const {
  std::string text;
  for (const auto& [name, votes] : votes_) {
    if (!is_special(votes)) continue;
    Macro macro = votes.macro;
    for (int hop = 0; hop < kMaxAliasDepth && macro.effect == MacroEffect::kName;
         ++hop) {  // `#define A B`, B an attribute
      const Macro named = learn_macro(macro.path);
      if (named.effect == MacroEffect::kNone || named.effect == MacroEffect::kFunction) break;
      macro = named;
    }
    if (macro.effect == MacroEffect::kFunction) {  // most are ordinary and call macros that name nothing
      std::vector<std::string> parameters;
      for (char digit = '1'; digit <= '9'; ++digit) parameters.push_back({'$', digit});
      macro = expand(macro, parameters);
      const bool names = is_name(macro.path) && macro.path.find('$') != std::string::npos;
      if (!names || macro.effect == MacroEffect::kBlank) continue;
    }
    if (macro.effect == MacroEffect::kName && votes.has_several_names) macro.path = kAnyScope;
    text += name + ' ' + std::to_string(static_cast<int>(macro.effect)) + ' ' + macro.path + '\n';
  }
  return text;
}

MacroTable MacroTable::parse(std::string_view text) {
  MacroTable table;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
    const size_t name = line.find(' '), effect = line.find(' ', name + 1);
    if (effect == std::string_view::npos) continue;
    const int number = std::atoi(std::string(line.substr(name + 1, effect - name - 1)).c_str());
    if (number <= 0 || number > static_cast<int>(MacroEffect::kName)) continue;
    if (name == 0) continue;
    if (number < static_cast<int>(MacroEffect::kFunction)) table.shapes_.set(shape(line.substr(0, name)));
    table.votes_[std::string(line.substr(0, name))] = {
        {static_cast<MacroEffect>(number), std::string(line.substr(effect + 1))}, 1, 0};
  }
  return table;
}

}  // namespace framedex::extractor

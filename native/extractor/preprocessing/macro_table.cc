#include "extractor/preprocessing/macro_table.h"

#include <cstdlib>
#include <unordered_set>
#include <vector>

#include "extractor/source/text.h"

namespace framedex::extractor {
namespace {

using Names = std::unordered_set<std::string_view>;

// The last words of a macro's name that say that it is an attribute, in whatever project: ABSL_GUARDED_BY, TF_EXPORT.
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
  if (!is_shouted(name)) return attributes().count(name) > 0;
  if (starts_with(name, "CU") || starts_with(name, "HIP")) return false;  // CUDA's and ROCm's enumerators
  for (size_t i = name.find('_'); i != std::string_view::npos; i = name.find('_', i + 1)) {
    const std::string_view ending = name.substr(i + 1);
    if (starts_with(ending, "ATTRIBUTE_") || starts_with(ending, "NO_SANITIZE_")) return true;
    if (attribute_endings().count(ending) > 0) return true;
  }
  return false;
}

bool is_assignment(std::string_view name) {
  return is_shouted(name) &&
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

size_t closing(std::string_view text, size_t opening) {
  int depth = 0;
  for (size_t i = opening; i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '[') ++depth;
    if ((text[i] == ')' || text[i] == ']') && --depth == 0) return i + 1;
  }
  return std::string_view::npos;
}

// Whether a macro's body is nothing but attributes and specifiers.
bool is_blank(std::string_view body) {
  size_t i = skip_space(body, 0);
  while (i < body.size()) {
    size_t end = word_end(body, i);
    const std::string_view word = body.substr(i, end - i);
    if (word.empty()) {
      if (!starts_with(body.substr(i), "[[")) return false;
      end = closing(body, i);
    } else if (blank_calls().count(word) > 0 || (is_attribute(word) && end < body.size() && body[end] == '(')) {
      end = skip_space(body, end);
      if (end >= body.size() || body[end] != '(') return false;
      end = closing(body, end);
    } else if (blank_words().count(word) == 0 && !is_attribute(word)) {
      return false;
    }
    if (end == std::string_view::npos) return false;
    i = skip_space(body, end);
  }
  return true;
}

// `a::b` of `namespace a { inline namespace v1 { namespace b {`; false for any other body.
bool opens_namespaces(std::string_view body, std::string& opened) {
  size_t i = skip_space(body, 0);
  if (i == body.size()) return false;
  while (i < body.size()) {
    size_t end = word_end(body, i);
    const bool is_inline = body.substr(i, end - i) == "inline";
    if (is_inline) {
      i = skip_space(body, end);
      end = word_end(body, i);
    }
    if (body.substr(i, end - i) != "namespace") return false;
    const size_t brace = body.find('{', end);
    if (brace == std::string_view::npos) return false;
    const std::string name = on_one_line(body.substr(end, brace - end));
    for (char c : name) {
      if (!is_word(c) && c != ':') return false;
    }
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

}  // namespace

void MacroTable::learn(std::string_view source) {
  for (size_t at = source.find("define"); at != std::string_view::npos; at = source.find("define", at)) {
    size_t hash = at;
    while (hash > 0 && (source[hash - 1] == ' ' || source[hash - 1] == '\t')) --hash;
    at += 6;
    if (hash == 0 || source[hash - 1] != '#') continue;
    const std::string_view line = source.substr(at, directive_end(source, at) - at);
    at += line.size();
    const size_t start = skip_space(line, 0);
    const size_t end = word_end(line, start);
    if (start == 0 || end - start < 3) continue;
    size_t body = end;
    const bool has_parameters = end < line.size() && line[end] == '(';
    if (has_parameters) {
      body = line.find(')', end);
      if (body == std::string_view::npos) continue;
      ++body;
    }
    std::string text(line.substr(body));
    for (size_t i = text.find("\\\n"); i != std::string::npos; i = text.find("\\\n", i)) text.replace(i, 2, " ");
    learn_definition(line.substr(start, end - start), has_parameters, on_one_line(text));
  }
}

void MacroTable::learn_definition(std::string_view name, bool has_parameters, std::string_view body) {
  Macro macro;
  // Without parameters, an empty macro is an include guard or a switch, which no declaration uses.
  if (is_blank(body)) {
    macro.effect = has_parameters ? MacroEffect::kBlankArguments : MacroEffect::kBlank;
  } else if (!has_parameters && opens_namespaces(body, macro.opened)) {
    macro.effect = MacroEffect::kOpenNamespace;
  } else if (!has_parameters && closes_namespaces(body)) {
    macro.effect = MacroEffect::kCloseNamespace;
  }
  Votes& votes = votes_[std::string(name)];
  if (macro.effect == MacroEffect::kNone) {
    ++votes.ordinary;
  } else {
    ++votes.special;
    shapes_.set(shape(name));
    if (votes.macro.effect == MacroEffect::kNone || !body.empty()) votes.macro = std::move(macro);
  }
}

void MacroTable::merge(const MacroTable& other) {
  for (const auto& [name, votes] : other.votes_) {
    Votes& mine = votes_[name];
    mine.special += votes.special;
    mine.ordinary += votes.ordinary;
    if (mine.macro.effect == MacroEffect::kNone) mine.macro = votes.macro;
  }
  shapes_ |= other.shapes_;
}

size_t MacroTable::shape(std::string_view name) {
  return (static_cast<unsigned char>(name[0]) << 6 | (name.size() & 63)) & ((1 << 14) - 1);
}

MacroTable::Macro MacroTable::find(std::string_view name) const {
  if (is_assignment(name)) return {MacroEffect::kAssign, {}};
  if (shapes_.test(shape(name))) {
    const auto found = votes_.find(std::string(name));
    if (found != votes_.end() && found->second.special > found->second.ordinary) return found->second.macro;
  }
  const bool may_be_known = is_upper(name[0]) || name[0] == '_' || name[0] == 'a';
  return {may_be_known && is_attribute(name) ? MacroEffect::kBlankArguments : MacroEffect::kNone, {}};
}

std::string MacroTable::serialize() const {
  std::string text;
  for (const auto& [name, votes] : votes_) {
    if (votes.special <= votes.ordinary) continue;
    text += name + ' ' + std::to_string(static_cast<int>(votes.macro.effect)) + ' ' + votes.macro.opened + '\n';
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
    if (number <= 0 || number > static_cast<int>(MacroEffect::kCloseNamespace)) continue;
    if (name == 0) continue;
    table.shapes_.set(shape(line.substr(0, name)));
    table.votes_[std::string(line.substr(0, name))] = {
        {static_cast<MacroEffect>(number), std::string(line.substr(effect + 1))}, 1, 0};
  }
  return table;
}

}  // namespace framedex::extractor

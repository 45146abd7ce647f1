#include "extractor/preprocessing/scrub.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "extractor/preprocessing/conditionals.h"
#include "extractor/source/text.h"

namespace framedex::extractor {
namespace {

constexpr size_t kMaxCallSize = 1 << 15;  // bytes; without a closing parenthesis within them, it is not a macro call
constexpr size_t kMaxTemplateParametersSize = 4000;  // bytes of a template's parameters
constexpr int kMaxUnclosed = 100;  // more mean that the file is not C++, and each costs a scan of kMaxCallSize

// The closing parenthesis of a call and the commas between its arguments.
struct Call {
  size_t end = std::string_view::npos;
  std::vector<size_t> commas;
  explicit operator bool() const { return end != std::string_view::npos; }
};

using Words = std::unordered_set<std::string_view>;

bool is_builtin_type(std::string_view word) {
  static const Words types = {"void",   "int",      "bool",      "char",    "float",    "double",
                              "auto",   "unsigned", "signed",    "long",    "short",    "const",
                              "static", "inline",   "constexpr", "virtual", "explicit", "typename"};
  return types.count(word) > 0;
}

// Returns whether a type may follow this word, so that a name in capitals after it is a type.
bool precedes_type(std::string_view word) {
  static const Words words = {"const",     "static",    "constexpr", "inline", "extern",    "virtual",      "explicit",
                              "mutable",   "volatile",  "typename",  "struct", "class",     "enum",         "union",
                              "typedef",   "friend",    "unsigned",  "signed", "register",  "thread_local", "return",
                              "new",       "delete",    "else",      "case",   "goto",      "throw",        "co_return",
                              "co_await",  "co_yield",  "operator",  "using",  "namespace", "template",     "do",
                              "consteval", "constinit", "in",        "and",    "or",        "not"};
  return words.count(word) > 0;
}

class Scrubber {
 public:
  Scrubber(std::string_view source, const MacroTable& macros) : source_(source), macros_(macros) {
    result_.text = source;
  }

  ScrubbedSource run() &&;

 private:
  size_t step(size_t at);
  size_t literal(size_t quote);
  size_t directive(size_t at);
  size_t word(size_t at);
  size_t scrub_line_macro(size_t at, size_t name_end);
  size_t assignment(size_t at, size_t opening);
  void record_defining_macro(size_t at, size_t name_end);
  size_t scrub_function_macro(size_t at, size_t name_end);
  size_t scrub_keyword(std::string_view name, size_t at);
  bool is_unknown_attribute(std::string_view name, size_t end) const;
  bool is_access_specifier(size_t end) const;
  size_t scrub_mocked_method(size_t at, size_t opening);
  size_t flag(size_t at, size_t opening);
  size_t scrub_instantiation(size_t at, size_t after);
  size_t scrub_template_parameters(size_t opening);
  void scrub_array_of_pointers(size_t after);
  void scrub_moved_capture(size_t at);
  void scrub_braced_capture(size_t opening);
  void open_namespace(size_t at, const std::string& path);
  void close_namespace(size_t at);

  Call call(size_t opening);
  void blank(size_t begin, size_t end);
  char at(size_t position) const { return position < source_.size() ? source_[position] : '\0'; }

  std::string_view source_;
  const MacroTable& macros_;
  ScrubbedSource result_;
  Conditionals conditionals_;
  std::vector<size_t> open_namespaces_;
  size_t line_start_ = 0;
  bool at_line_start_ = true;
  char last_ = '\n';             // the last character that is neither space nor comment
  std::string_view previous_;    // the previous word, if only space follows it
  std::vector<bool> in_class_;   // for each open brace, whether it belongs to a class
  bool declares_class_ = false;  // this statement contains `class`
  int depth_ = 0;
  int unclosed_ = 0;
};

ScrubbedSource Scrubber::run() && {
  for (size_t position = 0; position < source_.size();) position = step(position);
  for (const auto& [begin, end] : conditionals_.dropped()) blank(begin, end);
  return std::move(result_);
}

size_t Scrubber::step(size_t position) {
  const char c = source_[position];
  if (c == '\n') {
    at_line_start_ = true;
    line_start_ = position + 1;
    return position + 1;
  }
  if (is_space(c)) return position + 1;
  if (c == '/') {
    if (const size_t end = find_comment_end(source_, position); end > position) {
      blank(position, end);
      return end;
    }
  }
  if (c == '#' && at_line_start_) return directive(position);
  if (is_word(c) && !is_digit(c)) return word(position);
  at_line_start_ = false;
  last_ = c;
  previous_ = {};
  switch (c) {
    case '"':
      return literal(position);
    case '\'':
      return find_character_end(source_, position);
    case '{':
      in_class_.push_back(std::exchange(declares_class_, false));
      [[fallthrough]];
    case '(':
    case '[':
      ++depth_;
      break;
    case '}':
      if (!in_class_.empty()) in_class_.pop_back();
      [[fallthrough]];
    case ')':
    case ']':
      --depth_;
      [[fallthrough]];
    case ';':
      declares_class_ = false;
      break;
    case '=': {  // int f(Options o = {}, ...)
      const size_t opening = skip_space(source_, position + 1);
      if (at(opening) != '{') break;
      const size_t closing = skip_space(source_, opening + 1);
      if (at(closing) != '}') break;
      const size_t after = skip_space(source_, closing + 1);
      if (at(after) != ',' && at(after) != ')') break;
      result_.text[opening] = '0';
      result_.text[closing] = ' ';
      return closing + 1;
    }
    case '-':
      if (at(position + 1) == '>' && at(position + 2) == '*') {
        blank(position, position + 3);
        result_.text[position] = '+';
        return position + 3;
      }
      break;
    case '*': {  // template <enable_if_t<x>* = nullptr>
      const size_t equals = skip_space(source_, position + 1);
      if (at(equals) != '=') break;
      const size_t value = skip_space(source_, equals + 1);
      if (source_.substr(value, 7) != "nullptr" || at(skip_space(source_, value + 7)) != '>') break;
      blank(position, value + 7);
      return value + 7;
    }
    default:
      if (is_digit(c)) {  // with its separators, 1'000
        size_t end = position;
        while (is_word(at(end)) || (at(end) == '\'' && is_word(at(end + 1)))) ++end;
        return end;
      }
  }
  return position + 1;
}

// Keeps only the quotes of a literal, and removes the prefix of a raw one.
size_t Scrubber::literal(size_t quote) {
  const size_t end = find_string_end(source_, quote);
  if (end - quote < 2 || source_[end - 1] != '"' || is_word(at(end))) return end;
  blank(quote + 1, end);
  result_.text[quote + 1] = '"';
  if (quote > 0 && source_[quote - 1] == 'R') {
    size_t prefix = quote;
    while (prefix > 0 && is_word(source_[prefix - 1])) --prefix;
    blank(prefix, quote);
  }
  return end;
}

size_t Scrubber::directive(size_t position) {
  const size_t end = find_directive_end(source_, position);
  depth_ = conditionals_.directive(source_, position, end, depth_, last_);
  last_ = '\n';
  previous_ = {};
  blank(position, end);
  return end;
}

size_t Scrubber::word(size_t position) {
  const size_t end = find_word_end(source_, position);
  const std::string_view name = source_.substr(position, end - position);
  const bool was_line_start = at_line_start_;
  at_line_start_ = false;
  if (at(end) == '"' || at(end) == '\'') {  // a literal's prefix, or a macro before a literal
    last_ = '"';
    previous_ = {};
    return end;
  }
  const MacroTable::Macro macro = macros_.find(name);
  switch (macro.effect) {
    case MacroEffect::kBlank:
      blank(position, end);
      return end;
    case MacroEffect::kBlankArguments: {
      size_t stop = end;
      const size_t opening = skip_space(source_, end);
      const bool is_pointer = at(opening + 1) == '*';  // `void X_API (*callback)(int)`
      if (at(opening) == '(' && (opening == end || name[0] == '_' || (macro.is_learnt && !is_pointer))) {
        if (const Call arguments = call(opening)) stop = arguments.end + 1;
      }
      blank(position, stop);
      return stop;
    }
    case MacroEffect::kAssign:
      if (at(end) == '(') {
        if (const size_t inside = assignment(position, end)) return inside;
      }
      break;
    case MacroEffect::kOpenNamespace:
    case MacroEffect::kCloseNamespace: {
      const Call arguments = at(end) == '(' ? call(end) : Call{};
      const size_t stop = arguments ? arguments.end + 1 : end;
      if (macro.effect == MacroEffect::kCloseNamespace) {
        close_namespace(position);
      } else {
        open_namespace(position, macros_.path(macro, arguments ? source_.substr(end + 1, stop - end - 2) : ""));
      }
      blank(position, stop);
      return stop;
    }
    case MacroEffect::kFunction:
    case MacroEffect::kName:
    case MacroEffect::kNone:
      break;
  }
  if (is_all_caps(name)) {
    if (is_access_specifier(end)) {
      const size_t stop = skip_space(source_, end) + 1;
      blank(position, stop);
      last_ = ':';
      previous_ = {};
      return stop;
    }
    if (was_line_start && at(end) == '(') {
      record_defining_macro(position, end);
      if (const size_t after = scrub_function_macro(position, end)) return after;
      if (const size_t after = scrub_line_macro(position, end)) return after;
    }
    if (name == "MOCK_METHOD" && at(end) == '(') return scrub_mocked_method(position, end);
    if (name == "ABSL_FLAG" && at(end) == '(') return flag(position, end);
    if (is_unknown_attribute(name, end)) {
      blank(position, end);
      return end;
    }
  } else if (const size_t after = scrub_keyword(name, position)) {
    return after;
  }
  if (at(end) == '{' && (last_ == '[' || last_ == ',')) scrub_braced_capture(end);
  last_ = name.back();
  previous_ = name;
  return end;
}

// Replaces constructs of C++ keywords that the grammar rejects. Returns the position to continue from, if that is not
// the end of the word.
size_t Scrubber::scrub_keyword(std::string_view name, size_t position) {
  const size_t end = position + name.size();
  if (name == "class" || name == "struct" || name == "union") {
    declares_class_ = previous_ != "enum" && last_ != '<' && last_ != ',';
  } else if (name == "template") {
    const size_t opening = skip_space(source_, end);
    return at(opening) == '<' ? scrub_template_parameters(opening) : scrub_instantiation(position, end);
  } else if (name == "std" && source_.substr(end, 7) == "::move(") {
    scrub_moved_capture(position);
  } else if (name == "noexcept") {  // noexcept(noexcept(...)) calls nothing
    const size_t opening = skip_space(source_, end);
    const Call condition = at(opening) == '(' ? call(opening) : Call{};
    const size_t inside = skip_space(source_, opening + 1);
    if (!condition || inside == condition.end) return 0;
    blank(inside, condition.end);
    result_.text[inside] = '0';
    last_ = ')';
    previous_ = {};
    return condition.end + 1;
  } else if (name == "new") {
    scrub_array_of_pointers(end);
  } else if (name == "operator" && (last_ == '.' || (last_ == '>' && source_.substr(position - 2, 2) == "->"))) {
    // this->operator==(x): rewrite it as an identifier
    size_t sign = end;
    while (std::strchr("+-*/%=!<>&|^~[]", at(sign)) && at(sign) != '\0') result_.text[sign++] = '_';
    if (source_.substr(sign, 3) == "()(") result_.text[sign] = result_.text[sign + 1] = '_';
  }
  return 0;
}

// Returns whether a name in capitals can only be an attribute at this position: `void CUPTIAPI f(`,
// `GTEST_API_ int main(`.
bool Scrubber::is_unknown_attribute(std::string_view name, size_t end) const {
  const size_t next = skip_space(source_, end);
  const std::string_view following = source_.substr(next, find_word_end(source_, next) - next);
  if (next == end || following.empty() || is_digit(following[0])) return false;
  if (is_builtin_type(following)) return name.size() > 2;
  return name.size() > 3 && !previous_.empty() && !precedes_type(previous_) && following != "final" &&
         at(find_word_end(source_, next)) == '(';
}

// Returns whether the name in capitals that ends here is an access specifier, `PRIVATE_UNLESS_TESTED:`.
bool Scrubber::is_access_specifier(size_t end) const {
  if (in_class_.empty() || !in_class_.back() || std::strchr(";{}:", last_) == nullptr) return false;
  const size_t colon = skip_space(source_, end);
  return at(colon) == ':' && at(colon + 1) != ':';
}

// Returns whether a name contains the word TEST, and so is a macro that defines a function. `DOCTEST_MSVC_SUPPRESS` is
// not.
bool names_test_macro(std::string_view name) {
  for (size_t i = name.find("TEST"); i != std::string_view::npos; i = name.find("TEST", i + 1)) {
    if (i == 0 || name[i - 1] == '_') return true;
  }
  return false;
}

// Blanks a macro that expands to whole declarations or statements: `MLIR_DEFINE_TYPE_ID(Foo)` alone on a line, or such
// a macro among class members. Returns the position after it, 0 for anything else.
size_t Scrubber::scrub_line_macro(size_t position, size_t name_end) {
  const std::string_view name = source_.substr(position, name_end - position);
  if (name.find('_') == std::string_view::npos || std::strchr(";{}:\n", last_) == nullptr) return 0;
  if (names_test_macro(name) || name.find("MODULE") != std::string_view::npos ||
      name.find("BENCHMARK") != std::string_view::npos || name == "MOCK_METHOD") {
    return 0;
  }
  const Call arguments = call(name_end);
  if (!arguments) return 0;
  size_t after = arguments.end + 1;
  while (at(after) == ' ' || at(after) == '\t') ++after;
  // A function is never called with a type, and no statement precedes a namespace.
  const size_t first = skip_space(source_, name_end + 1), following = skip_space(source_, after + 1);
  const bool is_declaration = is_builtin_type(source_.substr(first, find_word_end(source_, first) - first)) ||
                              source_.substr(following, 10) == "namespace ";
  const bool is_member = at(after) == ';' && (is_declaration || (!in_class_.empty() && in_class_.back()));
  if (!is_member && at(after) != '\n') return 0;
  const char next = at(skip_space(source_, after));
  if (!is_member && !is_word(next) && std::strchr("~/}[#", next) == nullptr) return 0;
  blank(position, arguments.end + 1);
  return arguments.end + 1;
}

// Rewrites `X_ASSIGN_OR_RETURN(lhs, expression, rest)` as `lhs = expression; rest `. Returns the position to continue
// from, 0 for anything else.
size_t Scrubber::assignment(size_t position, size_t opening) {
  const Call arguments = call(opening);
  if (!arguments || arguments.commas.empty()) return 0;
  result_.assignments.emplace_back(position, arguments.end + 1);
  blank(position, opening + 1);
  result_.text[arguments.commas[0]] = '=';
  for (size_t i = 1; i < arguments.commas.size(); ++i) result_.text[arguments.commas[i]] = ';';
  result_.text[arguments.end] = ' ';
  const size_t first = skip_space(source_, opening + 1);
  size_t last = arguments.commas[0];
  while (last > first && is_space(source_[last - 1])) --last;
  if (at(first) == '(' && source_[last - 1] == ')') {  // ((auto [a, b]), f())
    result_.text[first] = result_.text[last - 1] = ' ';
  }
  ++depth_;  // its closing parenthesis is still to come
  return opening + 1;
}

// Notes a call of XLA_FFI_DEFINE_HANDLER or a similar macro, whose expansion is known only from its name.
void Scrubber::record_defining_macro(size_t position, size_t name_end) {
  const std::string_view name = source_.substr(position, name_end - position);
  if (name.find("DEFINE_HANDLER") == std::string_view::npos) return;
  const Call arguments = call(name_end);
  if (!arguments || arguments.commas.empty()) return;
  MacroDefinition definition{
      position, arguments.end + 1, std::string(name), {}, skip_space(source_, arguments.commas[0] + 1)};
  size_t begin = name_end + 1;
  for (size_t i = 0; i <= arguments.commas.size(); ++i) {
    const size_t end = i < arguments.commas.size() ? arguments.commas[i] : arguments.end;
    definition.arguments.push_back(on_one_line(source_.substr(begin, end - begin)));
    begin = end + 1;
  }
  result_.definitions.push_back(std::move(definition));
}

// Blanks all but the first argument of a macro that writes the head of a function, `TEST_XML(name, "<a/>") {`: a list
// with a literal is not a parameter list. Returns the position after it, 0 for anything else.
size_t Scrubber::scrub_function_macro(size_t position, size_t name_end) {
  const Call arguments = call(name_end);
  if (!arguments || arguments.commas.empty() || at(skip_space(source_, arguments.end + 1)) != '{') return 0;
  const std::string_view name = source_.substr(position, name_end - position);
  if (macros_.function(name, source_.substr(name_end + 1, arguments.end - name_end - 1)).empty()) return 0;
  blank(arguments.commas[0], arguments.end);
  last_ = ')';
  previous_ = {};
  return arguments.end + 1;
}

// Rewrites `MOCK_METHOD(int, f, (char a), (const, override));` as `int f (char a) ;`. Returns the position to continue
// from.
size_t Scrubber::scrub_mocked_method(size_t position, size_t opening) {
  const Call arguments = call(opening);
  if (!arguments || arguments.commas.size() < 2) return opening;
  blank(position, opening + 1);
  const size_t first = skip_space(source_, opening + 1);
  if (at(first) == '(') {  // (std::pair<int, int>)
    const size_t last = source_.rfind(')', arguments.commas[0]);
    result_.text[first] = ' ';
    if (last != std::string_view::npos && last > first) result_.text[last] = ' ';
  }
  result_.text[arguments.commas[0]] = result_.text[arguments.commas[1]] = ' ';
  if (arguments.commas.size() > 2) blank(arguments.commas[2], arguments.end);
  result_.text[arguments.end] = ' ';
  return arguments.end + 1;
}

// Rewrites `ABSL_FLAG(std::vector<int>, name, f(), "help");` as `std::vector<int> name = f() ;`. Returns the position
// to continue from.
size_t Scrubber::flag(size_t position, size_t opening) {
  const Call arguments = call(opening);
  if (!arguments || arguments.commas.size() < 3) return opening;
  blank(position, opening + 1);
  result_.text[arguments.commas[0]] = ' ';
  result_.text[arguments.commas[1]] = '=';
  blank(arguments.commas[2], arguments.end + 1);
  return arguments.end + 1;
}

// Blanks `template class V<int>;`, `extern template void f<int>();`. Returns the position after it, 0 for other
// templates.
size_t Scrubber::scrub_instantiation(size_t position, size_t after) {
  if (at(skip_space(source_, after)) == '<' || std::strchr(".>:", last_) != nullptr) return 0;
  const size_t end = source_.find_first_of(";{}", after);
  if (end == std::string_view::npos || source_[end] != ';') return 0;
  const bool is_extern = previous_ == "extern";
  blank(is_extern ? source_.rfind("extern", position) : position, end + 1);
  last_ = ';';
  previous_ = {};
  return end + 1;
}

// Blanks the parameters in `template <typename T, enable_if_t<a && !b> = 0>`: extraction does not need them, and the
// grammar rejects many of their defaults and macros. Returns the position after them, 0 if they do not end.
size_t Scrubber::scrub_template_parameters(size_t opening) {
  const size_t limit = std::min(source_.size(), opening + kMaxTemplateParametersSize);
  int angles = 0, brackets = 0;
  for (size_t i = opening; i < limit; ++i) {
    const char c = source_[i];
    if (const size_t end = c == '/' ? find_comment_end(source_, i) : i; end > i) {
      i = end - 1;
    } else if (c == '"' || c == '#' || c == ';' || c == '{') {
      return 0;
    } else if (c == '\'') {
      i = find_character_end(source_, i) - 1;
    } else if (c == '(' || c == '[') {
      ++brackets;
    } else if (c == ')' || c == ']') {
      if (--brackets < 0) return 0;
    } else if (brackets == 0 && (c == '<' || c == '>')) {
      if (at(i + 1) == '=' || (c == '<' && at(i + 1) == '<')) {
        ++i;
      } else if (c == '<') {
        ++angles;
      } else if (source_[i - 1] != '-' && --angles == 0) {
        blank(opening + 1, i);
        last_ = '>';
        previous_ = {};
        return i + 1;
      }
    }
  }
  return 0;
}

// Removes the `*` and the `const` in `new char*[n]`, `new const T[n]`.
void Scrubber::scrub_array_of_pointers(size_t after) {
  size_t i = skip_space(source_, after);
  if (source_.substr(i, 6) == "const ") {
    blank(i, i + 5);
    i += 6;
  }
  while (is_word(at(i)) || at(i) == ':') ++i;
  size_t stars = i;
  while (at(stars) == '*') ++stars;
  if (stars > i && at(stars) == '[') blank(i, stars);
}

// Rewrites `[f(std::move(f))]` as `[f=std::move(f) ]`; `position` is the start of `std`.
void Scrubber::scrub_moved_capture(size_t position) {
  if (position < 2 || (source_[position - 1] != '(' && source_[position - 1] != '{')) return;
  size_t name = position - 1;
  while (name > 0 && is_word(source_[name - 1])) --name;
  if (name == position - 1 || name == 0) return;
  size_t before = name;
  while (before > 0 && is_space(source_[before - 1])) --before;
  if (before == 0 || (source_[before - 1] != '[' && source_[before - 1] != ',')) return;
  const size_t moved = position + 10;  // after `std::move(`
  const size_t end = find_word_end(source_, moved);
  if (end == moved || at(end) != ')' || (at(end + 1) != ')' && at(end + 1) != '}')) return;
  const size_t stop = source_.find_first_of("[]{};", end + 2);
  if (stop == std::string_view::npos || stop - end > 1000 || source_[stop] != ']') return;
  const char next = at(skip_space(source_, stop + 1));
  if (next != '(' && next != '{' && next != '<' && next != 'm') return;
  result_.text[position - 1] = '=';
  result_.text[end + 1] = ' ';
}

// Returns the end of the list around a position: the closing bracket, or a `;` or `,` if `stops` contains it. npos if
// there is no end nearby.
size_t list_end(std::string_view source, size_t position, std::string_view stops) {
  int depth = 0;
  const size_t limit = std::min(source.size(), position + 1000);
  while (position < limit) {
    const char c = source[position];
    if (c == '"') {
      position = find_string_end(source, position);
      continue;
    }
    if (std::strchr("([{", c) != nullptr) ++depth;
    if (std::strchr(")]}", c) != nullptr && --depth < 0) return position;
    if (depth == 0 && stops.find(c) != std::string_view::npos) return position;
    ++position;
  }
  return std::string_view::npos;
}

// Rewrites `[a, f{g.h()}] {` as `[a, f=g.h() ] {`: the grammar does not support captures in braces.
void Scrubber::scrub_braced_capture(size_t opening) {
  const size_t closing = list_end(source_, opening + 1, ";,");
  if (closing == std::string_view::npos || source_[closing] != '}' || skip_space(source_, opening + 1) == closing)
    return;
  const size_t end = list_end(source_, closing + 1, ";");
  if (end == std::string_view::npos || source_[end] != ']') return;
  const char next = at(skip_space(source_, end + 1));
  if (next != '(' && next != '{' && next != '<' && next != 'm') return;
  result_.text[opening] = '=';
  result_.text[closing] = ' ';
}

void Scrubber::open_namespace(size_t position, const std::string& path) {
  open_namespaces_.push_back(result_.namespaces.size());
  result_.namespaces.push_back({position, source_.size(), path});
}

void Scrubber::close_namespace(size_t position) {
  if (open_namespaces_.empty()) return;
  result_.namespaces[open_namespaces_.back()].end = position;
  open_namespaces_.pop_back();
}

Call Scrubber::call(size_t opening) {
  Call found;
  if (unclosed_ >= kMaxUnclosed) return found;
  std::vector<char> open;
  int angles = 0;  // open `<` at the top level: `std::pair<int, int> p, f()`
  const std::string_view text = source_.substr(0, std::min(source_.size(), opening + kMaxCallSize));
  for (size_t i = opening; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = find_string_end(text, i);
      continue;
    }
    if (c == '\'') {
      i = find_character_end(text, i);
      continue;
    }
    if (const size_t end = c == '/' ? find_comment_end(text, i) : i; end > i) {
      i = end;
      continue;
    }
    if (c == '(' || c == '[' || c == '{') {
      open.push_back(c);
    } else if (c == ')' || c == ']' || c == '}') {
      open.pop_back();
      if (open.empty()) {
        found.end = i;
        return found;
      }
    } else if (open.size() == 1) {
      if (c == '<' && found.commas.empty()) ++angles;
      if (c == '>' && angles > 0) --angles;
      if (c == ',' && angles == 0) found.commas.push_back(i);
    }
    ++i;
  }
  ++unclosed_;
  return {};
}

void Scrubber::blank(size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (source_[i] != '\n') result_.text[i] = ' ';
  }
}

}  // namespace

ScrubbedSource scrub(std::string_view source, const MacroTable& macros) { return Scrubber(source, macros).run(); }

}  // namespace framedex::extractor

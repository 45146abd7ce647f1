#include "extractor/cpp/cpp.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <utility>

#include "extractor/cpp/broken_scopes.h"
#include "extractor/cpp/cpp_calls.h"
#include "extractor/preprocessing/local_macros.h"
#include "extractor/preprocessing/scrub.h"
#include "extractor/source/scopes.h"
#include "extractor/source/text.h"
#include "extractor/trees/syntax_tree.h"

namespace framedex::extractor {
namespace {

using Visit = CppSyntax::Visit;

bool is_keyword(std::string_view name) {
  static const std::unordered_set<std::string_view> keywords = {"if",     "for",  "while", "switch", "catch",
                                                                "return", "else", "do",    "sizeof", "defined"};
  return keywords.count(name) > 0;
}

std::string joined(std::string path, std::string_view name) {
  if (!path.empty() && !name.empty()) path += "::";  // an inline namespace opened by a macro has no name
  return std::move(path.append(name));
}

// Matches `operator bool`, but not `operator new`.
bool is_conversion(std::string_view name) {
  constexpr std::string_view kOperator = "operator ";
  if (!starts_with(name, kOperator)) return false;
  const std::string_view word = name.substr(kOperator.size(), find_word_end(name, kOperator.size()) - kOperator.size());
  return word != "new" && word != "delete" && word != "co_await";
}

// Returns the look-up key of a function. Members of a class that a compiler may generate have the key of the class.
std::string lookup_key(const std::vector<std::string>& path, const Scope& outer) {
  const std::string& name = path.back();
  if (name == "operator=") return path.size() > 1 ? path[path.size() - 2] : outer.lookup;
  if (name == kAnonymous) return outer.lookup;
  if (is_conversion(name)) return "operator type";  // the same for all types, because a template's type varies
  return name[0] == '~' ? name.substr(1) : name;
}

// Returns the words of a macro's arguments: `Suite` and `Name` of `(Suite, Name)`.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> found;
  for (size_t i = 0; i < text.size();) {
    const size_t end = find_word_end(text, i);
    if (end > i) found.emplace_back(text.substr(i, end - i));
    i = end > i ? end : i + 1;
  }
  return found;
}

// Splits `a::b` into `a`, `b`.
std::vector<std::string> path_parts(std::string_view path) {
  std::vector<std::string> found;
  for (size_t i = 0; i <= path.size();) {
    const size_t stop = std::min(path.find("::", i), path.size());
    if (stop > i) found.emplace_back(path.substr(i, stop - i));
    i = stop + 2;
  }
  return found;
}

class CppExtraction {
 public:
  CppExtraction(const CppSyntax& syntax, std::string_view source, std::string_view file_name, const MacroTable& macros,
                ScrubbedSource& scrubbed)
      : syntax_(syntax), source_(source), file_name_(file_name), macros_(macros), scrubbed_(scrubbed) {
    // Order by start, with the first scope at the back.
    for (MacroNamespace& found : scrubbed.namespaces) {
      pending_scopes_.push_back(
          {static_cast<uint32_t>(found.begin), static_cast<uint32_t>(found.end), found.path, false});
    }
    std::reverse(pending_scopes_.begin(), pending_scopes_.end());
    std::reverse(scrubbed.definitions.begin(), scrubbed.definitions.end());
  }

  Extraction run(TSNode root) &&;

 private:
  bool process(TSNode node, Visit visit);
  void update_scopes(uint32_t position);
  void add_namespace(TSNode node);
  void add_class(TSNode node);
  void add_lambda(TSNode node);
  bool add_function(TSNode node);
  bool add_declaration(TSNode node);
  void add_macro_definition(const MacroDefinition& definition);
  void add_error(TSNode node);
  void add_site(std::optional<CallSite> site);

  std::vector<std::string> macro_path(const std::string& macro, TSNode parameters) const;
  void add_module_function(const std::string& macro, TSNode node, TSNode parameters);
  int add(std::string name, std::string lookup, const char* kind, TSNode node, TSNode parameters);
  TSNode child(TSNode node, TSFieldId field) const { return ts_node_child_by_field_id(node, field); }

  const CppSyntax& syntax_;
  std::string_view source_;
  std::string_view file_name_;
  const MacroTable& macros_;
  ScrubbedSource& scrubbed_;
  Extraction found_;
  Scopes scopes_;
  std::vector<BrokenScope> pending_scopes_;  // scopes without a node that are not yet entered
  uint32_t friend_end_ = 0;
  int initializer_ = -1;
};

Extraction CppExtraction::run(TSNode root) && {
  Walk walk(root);
  for (bool into = true; walk.advance(into);) {
    const Visit visit = syntax_.visit(walk.type());
    into = visit == Visit::kPass || (visit != Visit::kSkip && process(walk.node(), visit));
  }
  update_scopes(UINT32_MAX - 1);
  if (found_.errors == 0 && ts_node_has_error(root)) found_.errors = 1;  // the only errors are missing tokens
  return std::move(found_);
}

// Processes a node. Returns whether to walk its children.
bool CppExtraction::process(TSNode node, Visit visit) {
  update_scopes(ts_node_start_byte(node));
  switch (visit) {
    case Visit::kNamespace:
      add_namespace(node);
      break;
    case Visit::kLinkage:  // extern "C" functions have unqualified symbols in any namespace
      scopes_.enter({ts_node_end_byte(node), ScopeKind::kNamespace, -1, {}, {}});
      break;
    case Visit::kClass:
      add_class(node);
      break;
    case Visit::kLambda:
      add_lambda(node);
      break;
    case Visit::kFunction:
      return add_function(node);
    case Visit::kDeclaration:
      return add_declaration(node);
    case Visit::kFriend:
      friend_end_ = ts_node_end_byte(node);
      break;
    case Visit::kError:
      add_error(node);
      break;
    case Visit::kCall:
      add_site(call_site(syntax_, source_, node));
      add_site(make_template_argument_site(syntax_, source_, node));
      break;
    case Visit::kNew:
      add_site(make_type_site(syntax_, source_, child(node, syntax_.type), "new"));
      break;
    case Visit::kBraces:
      add_site(make_type_site(syntax_, source_, child(node, syntax_.type), "braces"));
      break;
    case Visit::kInitializer:
      add_site(make_type_site(syntax_, source_, ts_node_named_child(node, 0), "initializer"));
      break;
    case Visit::kOperator:
      add_site(make_operator_site(syntax_, source_, node));
      break;
    case Visit::kSubscript:
      add_site(make_subscript_site(node));
      break;
    default:
      break;
  }
  return true;
}

// Opens and closes the scopes that begin or end before `position`.
void CppExtraction::update_scopes(uint32_t position) {
  while (!pending_scopes_.empty() && pending_scopes_.back().begin <= position) {
    const BrokenScope scope = std::move(pending_scopes_.back());
    pending_scopes_.pop_back();
    scopes_.leave(scope.begin);
    const size_t last = scope.name.rfind(':');
    const ScopeKind kind = scope.is_class ? ScopeKind::kClass : ScopeKind::kNamespace;
    scopes_.enter({scope.end, kind, -1, joined(scopes_.inner().path, scope.name),
                   scope.name == kAnonymous ? scopes_.inner().lookup
                                            : scope.name.substr(last == std::string::npos ? 0 : last + 1)});
  }
  while (!scrubbed_.definitions.empty() && scrubbed_.definitions.back().begin <= position) {
    const MacroDefinition definition = std::move(scrubbed_.definitions.back());
    scrubbed_.definitions.pop_back();
    scopes_.leave(static_cast<uint32_t>(definition.begin));
    add_macro_definition(definition);
  }
  scopes_.leave(position);
}

void CppExtraction::add_namespace(TSNode node) {
  const TSNode name = child(node, syntax_.name);
  const Scope& outer = scopes_.inner();
  const uint32_t end = ts_node_end_byte(node);
  if (is_null(name)) {
    scopes_.enter({end, ScopeKind::kNamespace, -1, joined(outer.path, kAnonymous), outer.lookup});
    return;
  }
  if (text_of(source_, ts_node_child(node, 0)) == "inline") return;  // not part of a name
  std::string path = outer.path, lookup = outer.lookup;
  const std::string text = on_one_line(text_of(source_, name));
  for (size_t i = 0; i <= text.size();) {  // `a::inline b::c`
    size_t stop = std::min(text.find("::", i), text.size());
    std::string_view part = std::string_view(text).substr(i, stop - i);
    part.remove_prefix(skip_space(part, 0));
    part = part.substr(0, part.find_last_not_of(' ') + 1);
    if (!starts_with(part, "inline ") && !part.empty()) {
      lookup = macros_.name(part);
      path = joined(std::move(path), lookup);
    }
    i = stop + 2;
  }
  scopes_.enter({end, ScopeKind::kNamespace, -1, std::move(path), std::move(lookup)});
}

void CppExtraction::add_class(TSNode node) {
  if (is_null(child(node, syntax_.body))) return;
  const TSNode name = child(node, syntax_.name);
  const Scope& outer = scopes_.inner();
  const uint32_t end = ts_node_end_byte(node);
  const CppName written = is_null(name) ? CppName{} : name_of(syntax_, source_, name);
  if (written.path.empty()) {
    scopes_.enter({end, ScopeKind::kClass, outer.definition, outer.path, outer.lookup});
    return;
  }
  std::string path = outer.path;
  for (const std::string& part : written.path) path = joined(std::move(path), part);
  const int definition = add(path, written.path.back(), "class", node, {});
  scopes_.enter({end, ScopeKind::kClass, definition, std::move(path), written.path.back()});
}

void CppExtraction::add_lambda(TSNode node) {
  const Scope& outer = scopes_.inner();
  std::string path = joined(outer.path, kLambda);
  const std::string lookup = outer.lookup;
  const TSNode declarator = child(node, syntax_.declarator);
  const TSNode parameters = is_null(declarator) ? declarator : child(declarator, syntax_.parameters);
  const int definition = add(path, lookup.empty() ? std::string(kLambda) : lookup, "lambda", node, parameters);
  bool is_mutable = false;
  if (!is_null(declarator)) {
    const std::string_view text = text_of(source_, declarator);
    is_mutable = text.substr(text.rfind(')') + 1).find("mutable") != std::string_view::npos;
  }
  found_.definitions[definition].is_const = !is_mutable;
  scopes_.enter({ts_node_end_byte(node), ScopeKind::kFunction, definition, std::move(path), lookup});
}

bool CppExtraction::add_function(TSNode node) {
  const Declarator declared = function_in(syntax_, child(node, syntax_.declarator));
  if (is_null(declared.name)) return true;
  for (uint32_t i = ts_node_child_count(node); i > 0; --i) {
    if (ts_node_symbol(ts_node_child(node, i - 1)) == syntax_.delete_method_clause) return false;
  }
  CppName name = name_of(syntax_, source_, declared.name);
  if (name.path.empty() || name.path.back().empty() || is_keyword(name.path.back())) return true;
  const bool is_friend = ts_node_start_byte(node) < friend_end_;
  const Scope& outer = is_friend ? scopes_.innermost_non_class() : scopes_.inner();
  const bool is_in_class = outer.kind == ScopeKind::kClass;
  const bool is_of_macro =
      name.path.size() == 1 && !is_in_class && is_all_caps(name.path[0]) && is_null(child(node, syntax_.type));
  if (is_of_macro) {
    add_module_function(name.path[0], node, declared.parameters);
    name.path = macro_path(name.path[0], declared.parameters);
  }
  std::string path = name.is_global ? "" : outer.path;
  for (const std::string& part : name.path) path = joined(std::move(path), part);
  const char* kind = is_in_class || name.path.size() > 1 ? "method" : "function";
  std::string lookup = lookup_key(name.path, outer);
  // A macro's arguments are not the parameters of the function that it defines.
  const int definition = add(path, lookup, kind, node, is_of_macro ? TSNode{} : declared.parameters);
  found_.definitions[definition].is_const = is_const(syntax_, source_, declared.function);
  scopes_.enter({ts_node_end_byte(node), ScopeKind::kFunction, definition, std::move(path), std::move(lookup)});
  return true;
}

// Returns the path of the function that `TEST(Suite, Name) {` or `NB_MODULE(name, m) {` defines. For other macros,
// returns a name that no symbol has.
std::vector<std::string> CppExtraction::macro_path(const std::string& macro, TSNode parameters) const {
  const std::string text = is_null(parameters) ? "" : on_one_line(text_of(source_, parameters));
  const std::vector<std::string> arguments = words_of(text);
  if (text.size() > 2) {
    const std::string made = macros_.function(macro, std::string_view(text).substr(1, text.size() - 2));
    if (!made.empty()) return path_parts(made);
  }
  if (macro.find("TEST") != std::string::npos && arguments.size() >= 2) {
    return {arguments[0] + "_" + arguments[1] + "_Test", "TestBody"};
  }
  // nanobind/nb_defs.h, pybind11/detail/common.h
  if (macro == "NB_MODULE" && !arguments.empty()) return {"nanobind_" + arguments[0] + "_exec_impl"};
  if (macro == "PYBIND11_MODULE" && !arguments.empty()) return {"pybind11_init_" + arguments[0]};
  return {macro + text};
}

// Adds the function by which Python imports the module of `PYBIND11_MODULE(name, m) {`. Compilers inline the macro's
// other function there.
void CppExtraction::add_module_function(const std::string& macro, TSNode node, TSNode parameters) {
  if (macro != "NB_MODULE" && macro != "PYBIND11_MODULE") return;
  const std::vector<std::string> arguments = words_of(is_null(parameters) ? "" : text_of(source_, parameters));
  if (!arguments.empty()) add("PyInit_" + arguments[0], "PyInit_" + arguments[0], "function", node, {});
}

bool CppExtraction::add_declaration(TSNode node) {
  const TSNode declarator = child(node, syntax_.declarator);
  const Scope& outer = scopes_.inner();
  if (outer.kind == ScopeKind::kFunction) {
    add_site(make_variable_site(syntax_, source_, node));
    return true;
  }
  const Declarator declared = is_null(declarator) ? Declarator{} : function_in(syntax_, declarator);
  if (is_null(declared.name)) {
    if (outer.kind == ScopeKind::kNamespace && ts_node_symbol(node) != 0)
      add_site(make_variable_site(syntax_, source_, node));
    return true;
  }
  const CppName name = name_of(syntax_, source_, declared.name);
  if (name.path.empty() || name.path.back().empty()) return true;
  const bool is_friend = ts_node_start_byte(node) < friend_end_;
  const Scope& around = is_friend ? scopes_.innermost_non_class() : outer;
  std::string path = around.path;
  for (const std::string& part : name.path) path = joined(std::move(path), part);
  const int definition = add(std::move(path), lookup_key(name.path, around), "declaration", node, declared.parameters);
  found_.definitions[definition].is_const = is_const(syntax_, source_, declared.function);
  return true;
}

// XLA_FFI_DEFINE_HANDLER(kFoo, Foo, binding) defines a lambda that calls Foo; ..._SYMBOL wraps it in a C function
// (xla/ffi/api/api.h).
void CppExtraction::add_macro_definition(const MacroDefinition& macro) {
  static constexpr const char* kParameters = "(XLA_FFI_CallFrame* call_frame)";
  const bool is_symbol = ends_with(macro.macro, "_SYMBOL");
  const Scope& outer = scopes_.inner();
  const auto line_of = [&](size_t position) {
    return static_cast<uint32_t>(std::count(source_.begin(), source_.begin() + position, '\n')) + 1;
  };
  Definition handler;
  handler.name = is_symbol ? macro.arguments[0] : joined(outer.path, macro.arguments[0]);
  handler.lookup = macro.arguments[0];
  handler.kind = "function";
  handler.parameters = kParameters;
  handler.has_parameters = true;
  handler.line = line_of(macro.begin);
  handler.end_line = line_of(macro.end);
  Definition lambda = handler;
  lambda.name = joined(is_symbol ? handler.name : outer.path, kLambda);
  lambda.lookup = is_symbol || outer.lookup.empty() ? handler.lookup : outer.lookup;
  lambda.kind = "lambda";
  lambda.is_const = true;
  const size_t line_start = source_.rfind('\n', macro.implementation);
  const std::string& called = macro.arguments[1];
  if (!called.empty() && (is_word(called[0]) || called[0] == ':')) {
    const size_t last = called.rfind(':');
    lambda.calls.push_back({line_of(macro.implementation),
                            static_cast<uint32_t>(macro.implementation - (line_start + 1)) + 1, "call",
                            called.substr(last == std::string::npos ? 0 : last + 1), called});
  }
  found_.definitions.push_back(std::move(handler));
  found_.definitions.push_back(std::move(lambda));
}

void CppExtraction::add_error(TSNode node) {
  ++found_.errors;
  std::vector<BrokenScope> broken = find_broken_scopes(node, source_);
  pending_scopes_.insert(pending_scopes_.end(), std::make_move_iterator(broken.rbegin()),
                         std::make_move_iterator(broken.rend()));
  std::stable_sort(pending_scopes_.begin(), pending_scopes_.end(),
                   [](const auto& a, const auto& b) { return a.begin > b.begin; });
}

void CppExtraction::add_site(std::optional<CallSite> site) {
  if (!site) return;
  int definition = scopes_.inner().definition;
  if (definition < 0) {
    if (initializer_ < 0) {  // clang's name
      initializer_ = static_cast<int>(found_.definitions.size());
      Definition initializer;
      initializer.name = "_GLOBAL__sub_I_" + std::string(file_name_);
      initializer.lookup = initializer.name;
      initializer.kind = "initializer";
      initializer.line = site->line;
      found_.definitions.push_back(std::move(initializer));
    }
    definition = initializer_;
    // The outer of two operators comes first, although it may be on a later line.
    Definition& initializer = found_.definitions[definition];
    initializer.line = std::min(initializer.line, site->line);
    initializer.end_line = std::max(initializer.end_line, site->line);
  }
  found_.definitions[definition].calls.push_back(std::move(*site));
}

int CppExtraction::add(std::string name, std::string lookup, const char* kind, TSNode node, TSNode parameters) {
  Definition definition;
  definition.name = std::move(name);
  definition.lookup = std::move(lookup);
  definition.kind = kind;
  definition.line = first_line(node);
  definition.end_line = last_line(node);
  definition.is_broken = ts_node_has_error(node);
  const std::string_view written = is_null(parameters) ? std::string_view() : text_of(source_, parameters);
  if (!written.empty() && written.size() <= kMaxParametersLength) {
    definition.has_parameters = true;
    definition.parameters = on_one_line(written);
    if (starts_with(definition.parameters, "( ")) definition.parameters.erase(1, 1);
  }
  found_.definitions.push_back(std::move(definition));
  return static_cast<int>(found_.definitions.size()) - 1;
}

}  // namespace

Extraction extract_cpp(const CppSyntax& syntax, std::string_view source, std::string_view file_name,
                       const MacroTable& macros, Workspace& workspace) {
  const std::string expanded = expand_local_macros(source);
  const std::string_view text = expanded.empty() ? source : expanded;
  ScrubbedSource scrubbed = scrub(text, macros);
  const SyntaxTree tree(syntax.grammar, scrubbed.text, workspace);
  Extraction found = CppExtraction(syntax, text, file_name, macros, scrubbed).run(tree.root());
  for (Definition& macro : calling_macros(source)) found.definitions.push_back(std::move(macro));
  return found;
}

}  // namespace framedex::extractor

#include "extractor/cpp/cpp_calls.h"

#include <string>
#include <utility>

#include "extractor/source/text.h"
#include "extractor/trees/syntax_tree.h"

namespace framedex::extractor {
namespace {

constexpr size_t kMaxNameLength = 200;

CallSite site_at(TSNode node, const char* kind, std::string callee, std::string written = {}) {
  const TSPoint start = ts_node_start_point(node);
  return {start.row + 1, start.column + 1, kind, std::move(callee), std::move(written)};
}

std::string short_text(std::string_view source, TSNode node) {
  return on_one_line(text_of(source, node).substr(0, kMaxNameLength));
}

// Returns a call site for `node`; `name` is its last name.
CallSite make_named_site(std::string_view source, TSNode node, TSNode name, const char* kind) {
  std::string callee = short_text(source, name);
  const std::string_view text = text_of(source, node);
  std::string written = text.size() > callee.size() && text.size() <= kMaxWrittenLength ? on_one_line(text) : "";
  return site_at(name, kind, std::move(callee), std::move(written));
}

bool is_type_name(const CppSyntax& syntax, TSSymbol type) {
  return type == syntax.type_identifier || type == syntax.qualified_identifier || type == syntax.template_type ||
         type == syntax.dependent_type;
}

// Returns whether a node is a number, character or similar literal: operators on those are not user-defined.
bool is_literal(const CppSyntax& syntax, TSNode node) {
  if (is_null(node)) return false;
  const TSSymbol type = ts_node_symbol(node);
  return type == syntax.number_literal || type == syntax.char_literal || type == syntax.true_literal ||
         type == syntax.false_literal || type == syntax.null;
}

}  // namespace

std::optional<CallSite> call_site(const CppSyntax& syntax, std::string_view source, TSNode call) {
  const TSNode function = child(call, syntax.function);
  if (is_null(function) || ts_node_symbol(function) == syntax.primitive_type) return std::nullopt;
  const TSNode name = last_name(syntax, function);
  const TSSymbol type = ts_node_symbol(name);
  if (type == syntax.identifier || type == syntax.field_identifier || type == syntax.type_identifier ||
      type == syntax.destructor_name || type == syntax.operator_name || type == syntax.namespace_identifier) {
    return make_named_site(source, function, name, "call");
  }
  return site_at(call, "operator", "operator()");
}

std::optional<CallSite> make_template_argument_site(const CppSyntax& syntax, std::string_view source, TSNode call) {
  TSNode node = child(call, syntax.function);
  for (int i = 0; i < 20 && !is_null(node); ++i) {
    const TSSymbol type = ts_node_symbol(node);
    if (type == syntax.template_function || type == syntax.template_method) {
      const TSNode arguments = child(node, syntax.arguments);
      const TSNode first = is_null(arguments) ? arguments : ts_node_named_child(arguments, 0);
      if (is_null(first) || ts_node_symbol(first) != syntax.type_descriptor) return std::nullopt;
      return make_type_site(syntax, source, child(first, syntax.type), "argument");
    }
    if (type == syntax.field_expression) {
      node = child(node, syntax.field);
    } else if (type == syntax.qualified_identifier) {
      node = child(node, syntax.name);
    } else if (type == syntax.dependent_name) {
      node = ts_node_named_child(node, 0);
    } else {
      break;
    }
  }
  return std::nullopt;
}

std::optional<CallSite> make_type_site(const CppSyntax& syntax, std::string_view source, TSNode type,
                                       const char* kind) {
  if (is_null(type) || ts_node_symbol(type) == syntax.primitive_type) return std::nullopt;
  return make_named_site(source, type, last_name(syntax, type), kind);
}

std::optional<CallSite> make_variable_site(const CppSyntax& syntax, std::string_view source, TSNode declaration) {
  const TSNode type = child(declaration, syntax.type);
  TSNode declarator = child(declaration, syntax.declarator);
  if (is_null(type) || is_null(declarator) || !is_type_name(syntax, ts_node_symbol(type))) return std::nullopt;
  if (ts_node_symbol(declarator) == syntax.init_declarator) declarator = child(declarator, syntax.declarator);
  const TSSymbol kind = is_null(declarator) ? syntax.pointer_declarator : ts_node_symbol(declarator);
  if (kind == syntax.pointer_declarator || kind == syntax.reference_declarator) return std::nullopt;
  CallSite site = make_named_site(source, type, last_name(syntax, type), "variable");
  const TSPoint start = ts_node_start_point(declarator);
  site.line = start.row + 1;
  site.column = start.column + 1;
  return site;
}

std::optional<CallSite> make_operator_site(const CppSyntax& syntax, std::string_view source, TSNode expression) {
  const TSNode sign = child(expression, syntax.operator_);
  if (is_null(sign)) return std::nullopt;
  const std::string_view text = text_of(source, sign);
  if (text == "&&" || text == "||" || text == "&" || text == "and" || text == "or" || text == "not")
    return std::nullopt;
  if (is_literal(syntax, child(expression, syntax.left)) || is_literal(syntax, child(expression, syntax.right)) ||
      is_literal(syntax, child(expression, syntax.argument))) {
    return std::nullopt;
  }
  return site_at(sign, "operator", "operator" + std::string(text));
}

std::optional<CallSite> make_subscript_site(TSNode subscript) {
  const TSNode bracket = ts_node_child(subscript, 1);
  return is_null(bracket) ? std::nullopt : std::optional(site_at(bracket, "operator", "operator[]"));
}

bool is_const(const CppSyntax& syntax, std::string_view source, TSNode function) {
  for (uint32_t i = ts_node_child_count(function); i > 0; --i) {
    const TSNode qualifier = ts_node_child(function, i - 1);
    if (ts_node_symbol(qualifier) == syntax.type_qualifier && text_of(source, qualifier) == "const") return true;
  }
  return false;
}

}  // namespace framedex::extractor

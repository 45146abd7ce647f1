#include "extractor/cpp/cpp_syntax.h"

#include <initializer_list>

#include "extractor/source/text.h"
#include "extractor/trees/syntax_tree.h"

namespace framedex::extractor {
namespace {

constexpr int kMaxNameDepth = 100;  // components of a name, or declarators around one

std::string remove_spaces(std::string_view text) {
  std::string joined;
  for (char c : text) {
    if (!is_space(c)) joined += c;
  }
  return joined;
}

// Returns `operator<<` without spaces; `operator new[]` and `operator co_await` keep theirs.
std::string operator_name(std::string_view text) {
  const std::string_view sign = text.substr(skip_space(text, 8));
  const size_t word = find_word_end(sign, 0);
  if (word == 0) return "operator" + remove_spaces(sign);
  return "operator " + std::string(sign.substr(0, word)) + remove_spaces(sign.substr(word));
}

TSNode find_last_named_child(TSNode node) {
  const uint32_t count = ts_node_named_child_count(node);
  return count ? ts_node_named_child(node, count - 1) : TSNode{};
}

TSNode cast_function(const CppSyntax& syntax, TSNode cast) {
  TSNode function = child(cast, syntax.declarator);
  for (int i = 0; i < kMaxNameDepth && !is_null(function); ++i) {
    if (ts_node_symbol(function) == syntax.abstract_function_declarator) return function;
    function = child(function, syntax.declarator);
  }
  return cast;
}

Declarator conversion(const CppSyntax& syntax, TSNode name, TSNode cast) {
  const TSNode function = cast_function(syntax, cast);
  return {name, child(function, syntax.parameters), function};
}

}  // namespace

CppSyntax::CppSyntax(const Grammar& g) : grammar(g) {
  const auto set = [&](std::initializer_list<std::pair<TSSymbol*, const char*>> symbols) {
    for (const auto& [symbol, type_name] : symbols) *symbol = g.symbol(type_name);
  };
#define S(type_name) {&(type_name), #type_name}
  set({S(qualified_identifier),
       S(template_function),
       S(template_type),
       S(template_method),
       S(dependent_name),
       S(dependent_type),
       S(operator_cast),
       S(operator_name),
       S(destructor_name),
       S(function_declarator),
       S(abstract_function_declarator),
       S(init_declarator),
       S(parenthesized_declarator),
       S(identifier),
       S(field_identifier),
       S(type_identifier),
       S(namespace_identifier),
       S(primitive_type),
       S(field_expression),
       S(parenthesized_expression),
       S(call_expression),
       S(number_literal),
       S(char_literal),
       S(string_literal),
       S(null),
       S(delete_method_clause),
       S(type_qualifier),
       S(friend_declaration),
       S(base_class_clause),
       S(nested_namespace_specifier),
       S(pointer_declarator),
       S(reference_declarator),
       S(template_argument_list),
       S(type_descriptor),
       S(parameter_list)});
#undef S
  true_literal = g.symbol("true");
  false_literal = g.symbol("false");
  name = g.field("name");
  declarator = g.field("declarator");
  function = g.field("function");
  field = g.field("field");
  scope = g.field("scope");
  parameters = g.field("parameters");
  body = g.field("body");
  type = g.field("type");
  arguments = g.field("arguments");
  operator_ = g.field("operator");
  left = g.field("left");
  right = g.field("right");
  argument = g.field("argument");
  visits.assign(ts_language_symbol_count(g.language()), Visit::kPass);
  const std::pair<Visit, const char*> visited[] = {
      {Visit::kNamespace, "namespace_definition"},
      {Visit::kLinkage, "linkage_specification"},
      {Visit::kClass, "class_specifier"},
      {Visit::kClass, "struct_specifier"},
      {Visit::kClass, "union_specifier"},
      {Visit::kFunction, "function_definition"},
      {Visit::kLambda, "lambda_expression"},
      {Visit::kDeclaration, "declaration"},
      {Visit::kDeclaration, "field_declaration"},
      {Visit::kCall, "call_expression"},
      {Visit::kNew, "new_expression"},
      {Visit::kBraces, "compound_literal_expression"},
      {Visit::kInitializer, "field_initializer"},
      {Visit::kOperator, "binary_expression"},
      {Visit::kOperator, "unary_expression"},
      {Visit::kOperator, "assignment_expression"},
      {Visit::kOperator, "update_expression"},
      {Visit::kOperator, "pointer_expression"},
      {Visit::kSubscript, "subscript_expression"},
      {Visit::kFriend, "friend_declaration"},
      {Visit::kSkip, "enumerator_list"},
      {Visit::kSkip, "using_declaration"},
      {Visit::kSkip, "alias_declaration"},
      {Visit::kSkip, "static_assert_declaration"},
      {Visit::kSkip, "string_literal"},
      {Visit::kSkip, "raw_string_literal"},
      {Visit::kSkip, "concatenated_string"},
      {Visit::kSkip, "char_literal"},
      {Visit::kSkip, "base_class_clause"},
      {Visit::kSkip, "attribute_declaration"},
      {Visit::kSkip, "template_parameter_list"},
      {Visit::kSkip, "qualified_identifier"},
      {Visit::kSkip, "primitive_type"},
      {Visit::kSkip, "identifier"},
      {Visit::kSkip, "field_identifier"},
      {Visit::kSkip, "type_identifier"},
      {Visit::kSkip, "namespace_identifier"},
      {Visit::kSkip, "number_literal"},
      {Visit::kSkip, "template_argument_list"},
      {Visit::kSkip, "template_type"},
      {Visit::kSkip, "parameter_list"},
      {Visit::kSkip, "this"},
      {Visit::kSkip, "type_qualifier"},
      {Visit::kSkip, "placeholder_type_specifier"},
      {Visit::kSkip, "comment"},
  };
  for (const auto& [visit, type_name] : visited) visits[g.symbol(type_name)] = visit;
  // Tokens have no children.
  for (size_t type = 0; type < visits.size(); ++type) {
    const auto symbol = static_cast<TSSymbol>(type);
    if (ts_language_symbol_type(g.language(), symbol) != TSSymbolTypeRegular) visits[type] = Visit::kSkip;
  }
}

CppName name_of(const CppSyntax& syntax, std::string_view source, TSNode node) {
  CppName found;
  for (int i = 0; i < kMaxNameDepth && !is_null(node); ++i) {
    const TSSymbol type = ts_node_symbol(node);
    if (type == syntax.qualified_identifier) {
      const TSNode scope = child(node, syntax.scope);
      if (is_null(scope)) {
        found.is_global |= found.path.empty();
      } else {
        for (std::string& part : name_of(syntax, source, scope).path) found.path.push_back(std::move(part));
      }
      node = child(node, syntax.name);
    } else if (type == syntax.template_function || type == syntax.template_type || type == syntax.template_method) {
      node = child(node, syntax.name);
    } else if (type == syntax.dependent_name || type == syntax.dependent_type) {
      node = ts_node_named_child(node, 0);
    } else if (type == syntax.operator_cast) {
      const TSNode kind = child(node, syntax.type);
      const TSNode function = cast_function(syntax, node);
      const TSNode parameters = child(function, syntax.parameters);
      const uint32_t begin = is_null(kind) ? ts_node_start_byte(node) + 8 : ts_node_start_byte(kind);
      const uint32_t end = is_null(parameters) ? ts_node_end_byte(node) : ts_node_start_byte(parameters);
      found.path.push_back("operator " + on_one_line(source.substr(begin, end > begin ? end - begin : 0)));
      return found;
    } else if (type == syntax.operator_name) {
      found.path.push_back(extractor::operator_name(text_of(source, node)));
      return found;
    } else {
      found.path.push_back(remove_spaces(on_one_line(text_of(source, node))));
      return found;
    }
  }
  return found;
}

TSNode last_name(const CppSyntax& syntax, TSNode node) {
  for (int i = 0; i < kMaxNameDepth && !is_null(node); ++i) {
    const TSSymbol type = ts_node_symbol(node);
    if (type == syntax.field_expression) {
      node = child(node, syntax.field);
    } else if (type == syntax.qualified_identifier || type == syntax.template_function ||
               type == syntax.template_type || type == syntax.template_method) {
      node = child(node, syntax.name);
    } else if (type == syntax.dependent_name || type == syntax.dependent_type ||
               type == syntax.parenthesized_expression) {
      node = ts_node_named_child(node, 0);
    } else {
      break;
    }
  }
  return node;
}

Declarator function_in(const CppSyntax& syntax, TSNode declarator) {
  TSNode function{};
  TSNode node = declarator;
  for (int i = 0; i < kMaxNameDepth && !is_null(node); ++i) {
    const TSSymbol type = ts_node_symbol(node);
    if (type == syntax.function_declarator) {
      function = node;
    } else if (type == syntax.operator_cast) {
      return conversion(syntax, node, node);
    } else if (type == syntax.qualified_identifier) {
      const TSNode cast = last_name(syntax, node);
      if (!is_null(cast) && ts_node_symbol(cast) == syntax.operator_cast) return conversion(syntax, node, cast);
      break;
    } else if (!ends_with(ts_node_type(node), "_declarator")) {
      break;
    }
    const TSNode inner = child(node, syntax.declarator);
    node = is_null(inner) ? find_last_named_child(node) : inner;
  }
  if (is_null(node) || is_null(function)) return {};
  return {node, child(function, syntax.parameters), function};
}

}  // namespace framedex::extractor

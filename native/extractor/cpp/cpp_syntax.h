#pragma once

#include <tree_sitter/api.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "extractor/trees/grammar.h"

namespace framedex::extractor {

// The node types and fields of tree-sitter-cpp that extraction uses.
struct CppSyntax {
  explicit CppSyntax(const Grammar& grammar);

  // The walk's action at a node of each type.
  enum class Visit : uint8_t {
    kPass,
    kSkip,
    kNamespace,
    kLinkage,
    kClass,
    kFunction,
    kLambda,
    kDeclaration,
    kCall,
    kNew,
    kBraces,
    kInitializer,
    kOperator,
    kSubscript,
    kFriend,
    kError,
  };
  Visit visit(TSSymbol type) const { return type < visits.size() ? visits[type] : Visit::kError; }

  const Grammar& grammar;
  std::vector<Visit> visits;  // by type
  TSSymbol qualified_identifier, template_function, template_type, template_method, dependent_name, dependent_type,
      operator_cast, operator_name, destructor_name, function_declarator, abstract_function_declarator, init_declarator,
      parenthesized_declarator, identifier, field_identifier, type_identifier, namespace_identifier, primitive_type,
      field_expression, parenthesized_expression, call_expression, number_literal, char_literal, string_literal,
      true_literal, false_literal, null, delete_method_clause, type_qualifier, friend_declaration, base_class_clause,
      nested_namespace_specifier, pointer_declarator, reference_declarator, template_argument_list, type_descriptor,
      parameter_list;
  TSFieldId name, declarator, function, field, scope, parameters, body, type, arguments, operator_, left, right,
      argument;
};

// A declared or called name, parsed.
struct CppName {
  std::vector<std::string> path;  // {"a", "S", "m"}, without template arguments
  bool is_global = false;         // begins with `::`
};
CppName name_of(const CppSyntax& syntax, std::string_view source, TSNode node);

// Returns the node of the last name in `a::b<c>`, `x.y->z<w>`; `node` itself if it is not a name.
TSNode last_name(const CppSyntax& syntax, TSNode node);

// The function that a declarator declares; `name` is null if it declares none.
struct Declarator {
  TSNode name{};
  TSNode parameters{};
  TSNode function{};  // the declarator that has the qualifiers
};
Declarator function_in(const CppSyntax& syntax, TSNode declarator);

}  // namespace framedex::extractor

#pragma once

#include <tree_sitter/api.h>

#include <optional>
#include <string_view>

#include "extractor/cpp/cpp_syntax.h"
#include "extractor/source/source_file.h"

namespace framedex::extractor {

// Returns the call at a node of a C++ tree; nothing if the node is certainly not a call.
std::optional<CallSite> call_site(const CppSyntax& syntax, std::string_view source, TSNode call);
std::optional<CallSite> make_template_argument_site(const CppSyntax& syntax, std::string_view source, TSNode call);
std::optional<CallSite> make_type_site(const CppSyntax& syntax, std::string_view source, TSNode type, const char* kind);
std::optional<CallSite> make_variable_site(const CppSyntax& syntax, std::string_view source, TSNode declaration);
std::optional<CallSite> make_operator_site(const CppSyntax& syntax, std::string_view source, TSNode expression);
std::optional<CallSite> make_subscript_site(TSNode subscript);

// Returns whether a function declarator has `const` after its parameters.
bool is_const(const CppSyntax& syntax, std::string_view source, TSNode function);

}  // namespace framedex::extractor

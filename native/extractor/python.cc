#include "extractor/python.h"

#include <optional>
#include <string>
#include <utility>

#include "extractor/source/scopes.h"
#include "extractor/source/text.h"
#include "extractor/trees/syntax_tree.h"

namespace framedex::extractor {
namespace {

constexpr TSSymbol kError = UINT16_MAX;

class PythonExtraction {
 public:
  PythonExtraction(const PythonSyntax& syntax, std::string_view source) : syntax_(syntax), source_(source) {}

  Extraction run(TSNode root) &&;

 private:
  void visit(const Walk& walk);
  void add_definition(TSNode node, ScopeKind kind, const char* described);
  void add_call(TSNode node);
  TSNode child(TSNode node, TSFieldId field) const { return ts_node_child_by_field_id(node, field); }

  const PythonSyntax& syntax_;
  std::string_view source_;
  Extraction found_;
  Scopes scopes_;
  int module_ = -1;
};

Extraction PythonExtraction::run(TSNode root) && {
  Walk walk(root);
  while (walk.advance(true)) visit(walk);
  if (module_ >= 0) found_.definitions[module_].end_line = last_line(root);
  if (found_.errors == 0 && ts_node_has_error(root)) found_.errors = 1;  // only missing tokens
  return std::move(found_);
}

void PythonExtraction::visit(const Walk& walk) {
  const TSSymbol type = walk.type();
  if (type == syntax_.call) {
    add_call(walk.node());
  } else if (type == syntax_.function_definition) {
    const TSNode node = walk.node();
    scopes_.leave(ts_node_start_byte(node));
    add_definition(node, ScopeKind::kFunction, scopes_.inner().kind == ScopeKind::kClass ? "method" : "function");
  } else if (type == syntax_.class_definition) {
    add_definition(walk.node(), ScopeKind::kClass, "class");
  } else if (type == syntax_.lambda && ts_node_child_count(walk.node()) > 0) {  // the keyword token has the same name
    add_definition(walk.node(), ScopeKind::kFunction, "lambda");
  } else if (type == kError) {
    ++found_.errors;
  }
}

void PythonExtraction::add_definition(TSNode node, ScopeKind kind, const char* described) {
  scopes_.leave(ts_node_start_byte(node));
  const Scope& outer = scopes_.inner();
  const TSNode name = child(node, syntax_.name);
  const TSNode parameters = kind == ScopeKind::kClass ? TSNode{} : child(node, syntax_.parameters);
  Definition definition;
  definition.lookup = is_null(name) ? "<lambda>" : std::string(text_of(source_, name));
  definition.name = outer.path + definition.lookup;
  definition.kind = described;
  definition.line = first_line(node);
  definition.end_line = last_line(node);
  definition.is_broken = ts_node_has_error(node);
  const std::string_view written = is_null(parameters) ? std::string_view() : text_of(source_, parameters);
  if (!written.empty() && written.size() <= kMaxParametersLength) {
    definition.has_parameters = true;
    definition.parameters = collapse_spaces(written);
  }
  const int index = static_cast<int>(found_.definitions.size());
  const char* suffix = kind == ScopeKind::kClass ? "." : ".<locals>.";
  Scope scope{ts_node_end_byte(node), kind, index, definition.name + suffix, {}};
  found_.definitions.push_back(std::move(definition));
  scopes_.enter(std::move(scope));
}

void PythonExtraction::add_call(TSNode node) {
  const TSNode function = child(node, syntax_.function);
  if (is_null(function)) return;
  const bool is_attribute = ts_node_symbol(function) == syntax_.attribute_node;
  const TSNode name = is_attribute ? child(function, syntax_.attribute) : function;
  if (is_null(name) || ts_node_symbol(name) != syntax_.identifier) return;
  scopes_.leave(ts_node_start_byte(node));
  int definition = scopes_.inner().definition;
  if (definition < 0) {
    if (module_ < 0) {
      module_ = static_cast<int>(found_.definitions.size());
      Definition module;
      module.name = module.lookup = "<module>";
      module.kind = "module";
      module.line = 1;
      found_.definitions.push_back(std::move(module));
    }
    definition = module_;
  }
  const TSPoint start = ts_node_start_point(name);
  const std::string_view written = text_of(source_, function);
  found_.definitions[definition].calls.push_back(
      {start.row + 1, start.column + 1, "call", std::string(text_of(source_, name)),
       is_attribute && written.size() <= kMaxWrittenLength ? collapse_spaces(written) : ""});
}

}  // namespace

PythonSyntax::PythonSyntax(const Grammar& g)
    : grammar(g),
      function_definition(g.symbol("function_definition")),
      class_definition(g.symbol("class_definition")),
      lambda(g.symbol("lambda")),
      call(g.symbol("call")),
      attribute_node(g.symbol("attribute")),
      identifier(g.symbol("identifier")),
      name(g.field("name")),
      parameters(g.field("parameters")),
      function(g.field("function")),
      attribute(g.field("attribute")) {}

Extraction extract_python(const PythonSyntax& syntax, std::string_view source, Workspace& workspace) {
  const SyntaxTree tree(syntax.grammar, source, workspace);
  return PythonExtraction(syntax, source).run(tree.root());
}

}  // namespace framedex::extractor

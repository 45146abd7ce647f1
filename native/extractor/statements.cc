#include "extractor/statements.h"

#include <algorithm>
#include <initializer_list>

#include "extractor/preprocessing/scrub.h"
#include "extractor/trees/syntax_tree.h"

namespace framedex::extractor {
namespace {

enum class Part : uint8_t {
  kInside,     // belongs to its parent
  kStatement,  // its tokens are one statement, except those of nested parts
  kHead,       // like kStatement, and includes the statements before its body: `for (int i = f(); ...)`
  kBlock,      // its own tokens belong to no statement
  kError,
};

class Parts {
 public:
  Parts(const Grammar& grammar, std::initializer_list<const char*> statements, std::initializer_list<const char*> heads,
        std::initializer_list<const char*> blocks)
      : parts_(ts_language_symbol_count(grammar.language()), Part::kInside) {
    const auto set = [&](std::initializer_list<const char*> names, Part part) {
      for (const char* name : names) parts_[grammar.symbol(name)] = part;
    };
    set(statements, Part::kStatement);
    set(heads, Part::kHead);
    set(blocks, Part::kBlock);
  }
  Part part_of(TSSymbol type) const { return type < parts_.size() ? parts_[type] : Part::kError; }

 private:
  std::vector<Part> parts_;
};

Parts cpp_parts(const Grammar& grammar) {
  return {grammar,
          {"expression_statement", "declaration", "return_statement", "throw_statement", "co_return_statement",
           "co_yield_statement", "field_declaration", "field_initializer", "function_definition", "case_statement",
           "do_statement", "catch_clause", "break_statement", "continue_statement", "goto_statement",
           "using_declaration", "type_definition", "static_assert_declaration", "alias_declaration"},
          {"if_statement", "while_statement", "switch_statement", "for_statement", "for_range_loop"},
          {"compound_statement", "else_clause", "field_initializer_list", "field_declaration_list", "declaration_list",
           "enumerator_list", "translation_unit", "try_statement"}};
}

// A lambda is separate code, because the function that creates it is not on the stack when it runs.
Parts python_parts(const Grammar& grammar) {
  return {grammar,
          {"expression_statement", "return_statement", "assert_statement", "raise_statement", "delete_statement",
           "import_statement", "import_from_statement", "if_statement", "elif_clause", "while_statement",
           "for_statement", "with_statement", "match_statement", "case_clause", "except_clause", "function_definition",
           "class_definition", "decorator", "lambda"},
          {},
          {"block", "else_clause", "finally_clause", "module", "try_statement"}};
}

constexpr int kNoStatement = -1;

class StatementWalk {
 public:
  // `whole` has the byte ranges of macro calls that count as one statement each, ordered by start.
  StatementWalk(const Parts& parts, TSFieldId body, TSFieldId condition, std::string_view source,
                std::vector<std::pair<size_t, size_t>> whole)
      : parts_(parts), body_(body), condition_(condition), whole_(std::move(whole)) {
    for (size_t i = 0; i < source.size(); ++i) {
      if (source[i] == '\n') line_ends_.push_back(i);
    }
    for (const auto& [begin, end] : whole_) add_tokens(add_statement(), line_of(begin), line_of(begin));
  }

  std::vector<StatementLines> run(TSNode root) &&;

 private:
  // An open part of the text up to the byte `end`. No other statement begins in it before `head_end`.
  struct OpenPart {
    uint32_t begin, end, head_end;
    int statement;
  };
  struct Statement {
    StatementLines lines;
    bool is_broken = false;
  };

  void enter(TSNode node, Part part);
  uint32_t head_end(TSNode node) const;
  int enclosing_whole_statement(uint32_t begin);
  void add_tokens(int statement, uint32_t first, uint32_t last);
  int add_statement() {
    statements_.emplace_back();
    return static_cast<int>(statements_.size()) - 1;
  }
  uint32_t line_of(size_t byte) const {
    return static_cast<uint32_t>(std::lower_bound(line_ends_.begin(), line_ends_.end(), byte) - line_ends_.begin()) + 1;
  }

  const Parts& parts_;
  TSFieldId body_, condition_;
  std::vector<std::pair<size_t, size_t>> whole_;  // these begin the list of statements
  std::vector<size_t> whole_open_;                // those that begin before the latest queried position, innermost last
  size_t whole_to_come_ = 0;
  std::vector<size_t> line_ends_;
  std::vector<OpenPart> open_{{0, UINT32_MAX, 0, kNoStatement}};
  std::vector<Statement> statements_;
  int last_ = kNoStatement;  // statement of the previous token
};

std::vector<StatementLines> StatementWalk::run(TSNode root) && {
  Walk walk(root);
  while (walk.advance(true)) {
    const TSNode node = walk.node();
    const uint32_t begin = ts_node_start_byte(node);
    while (open_.size() > 1 && open_.back().end <= begin) open_.pop_back();
    const Part part = parts_.part_of(walk.type());
    if (part == Part::kError) {
      if (open_.back().statement != kNoStatement) statements_[open_.back().statement].is_broken = true;
    } else if (part != Part::kInside && ts_node_child_count(node) > 0) {
      enter(node, part);
    }
    if (ts_node_child_count(node) > 0 || ts_node_is_extra(node)) continue;
    const int mine = open_.back().statement;
    if (mine != kNoStatement) add_tokens(mine, first_line(node), last_line(node));
    last_ = mine;
  }
  for (size_t i = 0; i < whole_.size(); ++i) {
    const uint32_t last = line_of(whole_[i].second - 1);
    last_ = kNoStatement;
    add_tokens(static_cast<int>(i), last, last);
  }
  std::vector<StatementLines> found;
  for (Statement& each : statements_) {
    if (!each.is_broken && !each.lines.empty() && each.lines.front().first < each.lines.back().second) {
      found.push_back(std::move(each.lines));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void StatementWalk::enter(TSNode node, Part part) {
  const uint32_t begin = ts_node_start_byte(node), end = ts_node_end_byte(node);
  if (part == Part::kBlock) {
    open_.push_back({begin, end, 0, kNoStatement});
    return;
  }
  if (begin < open_.back().head_end) return;
  const int whole = enclosing_whole_statement(begin);
  open_.push_back(
      {begin, end, part == Part::kHead ? head_end(node) : 0, whole != kNoStatement ? whole : add_statement()});
}

uint32_t StatementWalk::head_end(TSNode node) const {
  const TSNode condition = ts_node_child_by_field_id(node, condition_);
  const TSNode body = ts_node_child_by_field_id(node, body_);
  if (!is_null(body)) return ts_node_start_byte(body);
  return is_null(condition) ? 0 : ts_node_end_byte(condition);
}

// Returns the macro call that contains `begin`, unless `begin` is in a block inside that call. Call in source order.
int StatementWalk::enclosing_whole_statement(uint32_t begin) {
  while (whole_to_come_ < whole_.size() && whole_[whole_to_come_].first <= begin) {
    whole_open_.push_back(whole_to_come_++);
  }
  while (!whole_open_.empty() && whole_[whole_open_.back()].second <= begin) whole_open_.pop_back();
  if (whole_open_.empty()) return kNoStatement;
  const int found = static_cast<int>(whole_open_.back());
  return open_.back().begin < whole_[whole_open_.back()].first || open_.back().statement == found ? found
                                                                                                  : kNoStatement;
}

void StatementWalk::add_tokens(int statement, uint32_t first, uint32_t last) {
  StatementLines& lines = statements_[statement].lines;
  if (!lines.empty() && (last_ == statement || first <= lines.back().second + 1)) {
    lines.back().second = std::max(lines.back().second, last);
  } else {
    lines.emplace_back(first, last);
  }
}

}  // namespace

std::vector<StatementLines> long_statements(const Languages& languages, std::string_view source, Language language,
                                            const MacroTable& macros) {
  Workspace workspace;
  if (language == Language::kPython) {
    const Grammar& grammar = languages.python_grammar;
    const SyntaxTree tree(grammar, source, workspace);
    return StatementWalk(python_parts(grammar), grammar.field("body"), grammar.field("condition"), source, {})
        .run(tree.root());
  }
  if (language != Language::kCpp) return {};
  // Macros that the file defines are not expanded, because the lines of a statement are those of the macro call.
  ScrubbedSource scrubbed = scrub(source, macros);
  for (const MacroDefinition& each : scrubbed.definitions) scrubbed.assignments.emplace_back(each.begin, each.end);
  std::sort(scrubbed.assignments.begin(), scrubbed.assignments.end());
  const Grammar& grammar = languages.cpp_grammar;
  const SyntaxTree tree(grammar, scrubbed.text, workspace);
  return StatementWalk(cpp_parts(grammar), grammar.field("body"), grammar.field("condition"), source,
                       std::move(scrubbed.assignments))
      .run(tree.root());
}

}  // namespace framedex::extractor

#pragma once

#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace framedex::extractor {

// What a macro that a parser trips over stands for.
enum class MacroEffect {
  kNone,            // not known to be special
  kBlank,           // an attribute, or nothing: left out
  kBlankArguments,  // the same, with arguments
  kAssign,          // X_ASSIGN_OR_RETURN(lhs, expression, ...)
  kOpenNamespace,   // `namespace a { inline namespace b {`
  kCloseNamespace,  // `}}`
  kFunction,        // `struct a##_b {...}; void a##_b::run()`: what follows in braces is the body of a function
  kName,            // a name, or one pasted of arguments: what other macros are made of
};

// The macros of a tree that change how source around them parses. Some are known by the conventions of their names
// (X_EXPORT, X_GUARDED_BY); others are learnt from their #define.
class MacroTable {
 public:
  struct Macro {
    MacroEffect effect = MacroEffect::kNone;
    // The namespaces that kOpenNamespace opens, inline ones left out; the name of kFunction's function; kName's name.
    // `$1` stands for the first argument: `a::$1`.
    std::string path;
    bool is_learnt = false;  // from its #define, and not known by its name
  };

  // Learns the macros that `source` defines. Of several definitions of one name the more common kind counts.
  void learn(std::string_view source);
  void merge(const MacroTable& other);

  // `name` is an identifier. Cheap for names that no macro has.
  Macro find(std::string_view name) const;

  // The name `a::b` that a macro call stands for in a place where names are: its own path, and what macros its
  // arguments are, written out. `arguments` as they are written between its parentheses.
  std::string path(const Macro& macro, std::string_view arguments) const;

  // The name of the function whose body stands in braces behind a macro call, `a_b_Test::TestBody`; empty where none is
  // known.
  std::string function(std::string_view name, std::string_view arguments) const;

  // What a word stands for where a namespace's name is: itself, or the name that a macro gives.
  std::string name(std::string_view word) const;

  bool empty() const { return votes_.empty(); }

  // One macro a line, and back: for keeping what was learnt of a tree.
  std::string serialize() const;
  static MacroTable parse(std::string_view text);

 private:
  struct Votes {
    Macro macro;
    int special = 0;
    int ordinary = 0;
  };
  void learn_definition(std::string_view name, bool has_parameters, std::string_view parameters, std::string_view body);
  static bool is_special(const Votes& votes);
  Macro chosen(std::string_view name) const;
  Macro expanded(const Macro& macro, const std::vector<std::string>& arguments) const;

  // Whether a learnt macro has this first letter and length: most identifiers need no look-up.
  static size_t shape(std::string_view name);

  std::unordered_map<std::string, Votes> votes_;
  std::bitset<1 << 14> shapes_;
};

}  // namespace framedex::extractor

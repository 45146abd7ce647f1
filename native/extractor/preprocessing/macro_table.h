#pragma once

#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

namespace framedex::extractor {

// What a macro that a parser trips over stands for.
enum class MacroEffect {
  kNone,            // not known to be special
  kBlank,           // an attribute, or nothing: left out
  kBlankArguments,  // the same, with arguments
  kAssign,          // X_ASSIGN_OR_RETURN(lhs, expression, ...)
  kOpenNamespace,   // `namespace a { inline namespace b {`
  kCloseNamespace,  // `}}`
};

// The macros of a tree that change how source around them parses. Some are known by the conventions of their names
// (X_EXPORT, X_GUARDED_BY); others are learnt from their #define.
class MacroTable {
 public:
  struct Macro {
    MacroEffect effect = MacroEffect::kNone;
    std::string opened;  // the namespaces that kOpenNamespace opens, `a::b`; inline ones left out
  };

  // Learns the macros that `source` defines. Of several definitions of one name the more common kind counts.
  void learn(std::string_view source);
  void merge(const MacroTable& other);

  // `name` is an identifier. Cheap for names that no macro has.
  Macro find(std::string_view name) const;

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
  void learn_definition(std::string_view name, bool has_parameters, std::string_view body);

  // Whether a learnt macro has this first letter and length: most identifiers need no look-up.
  static size_t shape(std::string_view name);

  std::unordered_map<std::string, Votes> votes_;
  std::bitset<1 << 14> shapes_;
};

}  // namespace framedex::extractor

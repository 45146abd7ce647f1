#pragma once

#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace framedex::extractor {

// Stands in a path for a name that depends on the build: `#define NS a` in one file, `#define NS b` in another. The
// Python part matches it with any name (`framedex.sources.names.ANY_SCOPE`).
inline constexpr std::string_view kAnyScope = "*";

// The effect of a macro that a parser cannot handle.
enum class MacroEffect {
  kNone,            // not special
  kBlank,           // an attribute, or nothing: removed
  kBlankArguments,  // like kBlank, with arguments
  kAssign,          // X_ASSIGN_OR_RETURN(lhs, expression, ...)
  kOpenNamespace,   // `namespace a { inline namespace b {`
  kCloseNamespace,  // `}}`
  kFunction,        // `struct a##_b {...}; void a##_b::run()`: the braces that follow are a function's body
  kName,            // a name, or one pasted from arguments; used in other macros
};

// The macros of a source tree that affect parsing. Some are known by naming conventions (X_EXPORT, X_GUARDED_BY);
// others are learnt from their #define.
class MacroTable {
 public:
  struct Macro {
    MacroEffect effect = MacroEffect::kNone;
    // For kOpenNamespace the namespaces it opens, without inline ones; for kFunction the function's name; for kName the
    // name. `$1` stands for the first argument: `a::$1`.
    std::string path;
    bool is_learnt = false;  // learnt from its #define, not from its name
  };

  // Adds the macros that `source` defines. If a name has several definitions, the most common effect wins.
  void learn(std::string_view source);
  void merge(const MacroTable& other);

  // Finds the macro with this name. Cheap for names without a macro.
  Macro find(std::string_view name) const;

  // Returns the name `a::b` for a macro call in place of a name: the macro's path with its arguments filled in. Macros
  // among the arguments are expanded too. `arguments` is the source text between the parentheses.
  std::string path(const Macro& macro, std::string_view arguments) const;

  // Returns the name of the function whose body follows a macro call, `a_b_Test::TestBody`; empty if unknown.
  std::string function(std::string_view name, std::string_view arguments) const;

  // Returns the name of a namespace whose name is this word: the word itself, or the name that a macro replaces it by.
  // kAnyScope if that name depends on the build.
  std::string name(std::string_view word) const;

  bool empty() const { return votes_.empty(); }

  // Saves and loads the learnt macros of a tree, one per line.
  std::string serialize() const;
  static MacroTable parse(std::string_view text);

 private:
  struct Votes {
    Macro macro;
    int special = 0;
    int ordinary = 0;
    bool has_several_names = false;
  };
  void learn_definition(std::string_view name, bool has_parameters, std::string_view parameters, std::string_view body);
  static bool is_special(const Votes& votes);
  Macro learn_macro(std::string_view name) const;
  Macro expand(const Macro& macro, const std::vector<std::string>& arguments) const;

  // Returns the bit index for a first letter and length. No learnt macro has the shape of most identifiers, so these
  // need no look-up.
  static size_t shape(std::string_view name);

  std::unordered_map<std::string, Votes> votes_;
  std::bitset<1 << 14> shapes_;
};

}  // namespace framedex::extractor

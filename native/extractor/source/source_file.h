#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace framedex::extractor {

// A call in a definition's body. Lines and columns (in bytes) count from 1 and give the position of the callee's last
// name. `kind` is
//   call          f(x), a.f(x)
//   argument      a template argument of a call: `Foo` of std::make_unique<Foo>(x)
//   new, braces   new Foo(x), Foo{x}
//   variable      Foo foo(x), Foo foo: a constructor here, perhaps a destructor at the end of the scope
//   initializer   the x(1) of a constructor
//   operator      a == b: `operator==`
struct CallSite {
  uint32_t line;
  uint32_t column;
  const char* kind;
  std::string callee;   // the last name, without template arguments
  std::string written;  // as written, if longer than `callee` and short
};

// A definition. `kind` is function, method, class, lambda, declaration, `initializer` (runs when a C++ file is loaded),
// `module` (the same in Python), or `macro` (one that calls functions). Interface files have the kinds message, enum,
// service and record.
struct Definition {
  std::string name;    // qualified, as in symbols and __qualname__
  std::string lookup;  // look-up key, its last name; see framedex.sources.names
  const char* kind;
  std::string parameters;
  bool has_parameters = false;
  bool is_const = false;
  bool is_broken = false;  // contains a syntax error
  uint32_t line = 0;
  uint32_t end_line = 0;
  std::vector<CallSite> calls;
};

struct Extraction {
  std::vector<Definition> definitions;  // in source order
  uint32_t errors = 0;                  // places that the grammar could not parse
};

}  // namespace framedex::extractor

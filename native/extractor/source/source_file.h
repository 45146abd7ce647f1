#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace framedex::extractor {

// A place where a definition's body calls something. Lines and columns (in bytes) count from 1 and are those of the
// last name of what is called. `kind` is
//   call          f(x), a.f(x)
//   argument      a type for which a template is called: `Foo` of std::make_unique<Foo>(x)
//   new, braces   new Foo(x), Foo{x}
//   variable      Foo foo(x), Foo foo: a constructor now, perhaps a destructor at the end
//   initializer   the x(1) of a constructor
//   operator      a == b: `operator==`
struct CallSite {
  uint32_t line;
  uint32_t column;
  const char* kind;
  std::string callee;   // its last name, without template arguments
  std::string written;  // as written, where that is more and short
};

// A definition. `kind` is function, method, class, lambda, declaration, `initializer` (what runs when a C++ file is
// loaded), `module` (the same in Python), `macro` (one that calls something), or message, enum, service, record for
// what code is generated from.
struct Definition {
  std::string name;    // qualified, as symbols and __qualname__ have it
  std::string lookup;  // the key to find it by: its last name; see framedex.sources.names
  const char* kind;
  std::string parameters;
  bool has_parameters = false;
  bool is_const = false;
  bool is_broken = false;  // a syntax error in it
  uint32_t line = 0;
  uint32_t end_line = 0;
  std::vector<CallSite> calls;
};

struct Extraction {
  std::vector<Definition> definitions;  // in the order in which they begin
  uint32_t errors = 0;                  // places that the grammar could not read
};

}  // namespace framedex::extractor

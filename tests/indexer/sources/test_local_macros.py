"""Functions that the macros of a file define."""

import time
from pathlib import Path

import pytest

from framedex.sources import extract_files, find_macros, parse_file

SOURCE = b"""namespace net {
#define CALL(method)                                  \\
  Future<method##Response> Helper::method(method##Request request) { \\
    return Do<method##Request>(request);              \\
  }
CALL(Compile);
CALL(Execute)
#undef CALL
#define ERROR_TYPE(name)        \\
  template <typename... Args>   \\
  struct name##Error {          \\
    name##Error(Args... args) {} \\
  };
#define ERRORS(name) \\
  ERROR_TYPE(name)   \\
  int name() { return 1; }
ERRORS(Internal);
int last() { return 2; }
}
"""


def test_functions_of_a_macro_have_the_line_of_its_use(tmp_path: Path) -> None:
    path = tmp_path / "rpc.cc"
    path.write_bytes(SOURCE)

    definitions = parse_file(path).definitions
    found = {
        definition.name: definition.line
        for definition in definitions
        if definition.kind not in ("macro", "declaration")
    }

    assert found == {
        "net::Helper::Compile": 6,
        "net::Helper::Execute": 7,
        "net::InternalError": 17,
        "net::InternalError::InternalError": 17,
        "net::Internal": 17,
        "net::last": 18,
    }


def test_macros_with_calls_are_found(tmp_path: Path) -> None:
    """Of macros with and without calls, those with calls can be queried for them."""
    path = tmp_path / "check.h"
    path.write_text("#define CHECK(x) \\\n  if (!(x)) fail(x)\n#define TWICE(x) (2 * (x))\n#define EMPTY(x)\n")

    macros = [d for d in parse_file(path).definitions if d.kind == "macro"]

    assert [(macro.name, macro.line, macro.end_line) for macro in macros] == [("CHECK", 1, 2)]


@pytest.mark.exhaustive
def test_a_recursive_macro_ends(tmp_path: Path) -> None:
    """Macros that double with every level expand quickly, with bounded output."""
    path = tmp_path / "loop.cc"
    path.write_text("#define LOOP(x) \\\n  int x() {} LOOP(x) LOOP(x) \\\n  LOOP(x) LOOP(x)\n" + "LOOP(a)\n" * 50)
    began = time.process_time()

    found = parse_file(path).definitions

    assert {definition.line for definition in found if definition.kind == "function"} == set(range(4, 54))
    assert time.process_time() - began < 5


def test_an_inline_namespace_opened_by_a_macro_is_not_part_of_names(tmp_path: Path) -> None:
    path = tmp_path / "config.h"
    path.write_text(
        "#define LIB_BEGIN inline namespace v1 {\n#define LIB_END }\n"
        "namespace lib {\nLIB_BEGIN\nint f() { return 1; }\nLIB_END\n}\n"
    )
    macros = find_macros([str(path)])

    (file,) = extract_files([str(path)], macros)

    assert [row[0] for row in file.definitions if row[2] == "function"] == ["lib::f"]

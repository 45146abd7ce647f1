"""Functions that the macros of a file define."""

import time
from pathlib import Path

from framedex.sources import parse_file
from framedex.sources.macro_made import expanded

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


def test_functions_of_a_macro_are_on_the_line_of_its_call(tmp_path: Path) -> None:
    path = tmp_path / "rpc.cc"
    path.write_bytes(SOURCE)

    definitions = parse_file(path).definitions
    found = {definition.name: definition.line for definition in definitions if definition.kind != "macro"}

    assert found == {
        "net::Helper::Compile": 6,
        "net::Helper::Execute": 7,
        "net::InternalError": 17,
        "net::InternalError::InternalError": 17,
        "net::Internal": 17,
        "net::last": 18,
    }


def test_a_source_without_such_macros_stays_as_it_is() -> None:
    source = b"#define CHECK(x) \\\n  if (!(x)) fail()\nvoid f() {\n  CHECK(a)\n}\n"
    assert expanded(source) == (source, frozenset())


def test_a_macro_that_calls_itself_ends() -> None:
    """Given macros that double with every level, when they are expanded, then it ends at once and stays small."""
    source = b"#define LOOP(x) \\\n  int x() {} LOOP(x) LOOP(x) \\\n  LOOP(x) LOOP(x)\n" + b"LOOP(a)\n" * 50
    began = time.process_time()
    text, lines = expanded(source)
    assert len(lines) == 50 and len(text) < 1 << 23
    assert time.process_time() - began < 5

"""The lines of a statement: a query of any of them finds the statement, and a query of a neighbouring line does not."""

from __future__ import annotations

from pathlib import Path

from framedex.path_resolution.files import find_file
from framedex.sources.extraction import find_long_statements
from framedex.sources.statements import Statements

CPP = {
    "a call": ("f(a,\n  b);\ng();", [[(1, 2)]]),
    "two beside each other": ("f(a,\n  b);\ng(c,\n  d);", [[(1, 2)], [(3, 4)]]),
    "chained calls with a comment": ("return Make()\n  .WithX(a)\n  // why\n  .WithY(b);", [[(1, 4)]]),
    "a macro with a statement's end": ("TF_RETURN_IF_ERROR(Check(a,\n  b));\ng();", [[(1, 2)]]),
    "a declaration in a macro": ("TF_ASSIGN_OR_RETURN(\n  auto x,\n  client->Foo(a,\n    b)\n);\ng();", [[(1, 5)]]),
    "a macro with a third argument": ("ASSIGN_OR_RETURN(auto x, f(a),\n  _ << g(\n    b));\nh();", [[(1, 3)]]),
    "an initialiser": ("Options o = {\n  .a = Get(),\n  .b = Get2(),\n};\ng();", [[(1, 4)]]),
    "the head of an if": ("if (Cond(a,\n      b)) {\n  g();\n}", [[(1, 2)]]),
    "an if without braces": ("if (Cond(a,\n      b))\n  g(c,\n    d);", [[(1, 2)], [(3, 4)]]),
    "an if with a declaration": ("if (auto x = Find(a,\n      b); x.ok()) {\n  g();\n}", [[(1, 2)]]),
    "an else if": ("if (a) {\n  g();\n} else if (Cond(\n      b)) {\n  h();\n} else {\n  i();\n}", [[(3, 4)]]),
    "the head of a for": ("for (int i = First(\n       a);\n     i < Last(b);\n     ++i) {\n  g();\n}", [[(1, 4)]]),
    "a range": ("for (const auto& x :\n     All(\n       a)) {\n  g();\n}", [[(1, 3)]]),
    "a while": ("while (Next(a,\n        b))\n  g(c,\n    d);", [[(1, 2)], [(3, 4)]]),
    "a switch": ("switch (Kind(a,\n   b)) {\n  case 1:\n    g(a,\n      b);\n    break;\n}", [[(1, 2)], [(4, 5)]]),
    "a lambda's body": ("Run([&] {\n  g();\n  h(a,\n    b);\n},\n    c);", [[(1, 1), (5, 6)], [(3, 4)]]),
    "a lambda in a macro": (
        "ASSIGN_OR_RETURN(auto x, Run([&](int i) {\n  return g(i,\n    2);\n},\n  c));",
        [[(1, 1), (4, 5)], [(2, 3)]],
    ),
    "a local class": ("struct S {\n  int f() { return g(1,\n    2); }\n};", [[(2, 3)]]),
    "a throw": ("throw Error(a,\n  b);", [[(1, 2)]]),
    "what cannot be understood": ("f(a,\n  ) ) b @;", []),
    "one line each": ("f();\ng();", []),
}


def test_cpp_statements() -> None:
    for form in CPP:
        text, expected = CPP[form]
        lines = find_long_statements(f"void function() {{\n{text}\n}}\n".encode(), "cpp")
        assert [[(first - 1, last - 1) for first, last in ranges] for ranges in lines] == expected


def test_constructor_initialisers_and_head_are_separate_statements() -> None:
    text = "C::C(int a,\n     int b)\n    : a_(Foo(a,\n             1)),\n      b_(Bar(b,\n             2)) {\n}\n"
    assert find_long_statements(text.encode(), "cpp") == [[(1, 2)], [(3, 4)], [(5, 6)]]


def test_a_macro_defined_in_the_file_covers_all_lines_of_its_call() -> None:
    text = "#define TRY(x) do { auto s = (x); if (!s.ok()) return s; } while (0)\nvoid f() {\n  TRY(g(a,\n    b));\n}\n"
    assert find_long_statements(text.encode(), "cpp") == [[(3, 4)]]


def test_a_macro_that_registers_a_handler_is_one_statement() -> None:
    text = "XLA_FFI_DEFINE_HANDLER_SYMBOL(kFoo, Foo,\n    ffi::Ffi::Bind()\n        .Arg<int>());\nint x;\n"
    assert [(1, 3)] in find_long_statements(text.encode(), "cpp")


PYTHON = {
    "a call": ("x = f(a,\n  b)\ng()", [[(1, 2)]]),
    "a comment between": ("f(a,\n  # why\n  b)", [[(1, 3)]]),
    "a head": ("if (a and\n    g(b)):\n  h(c,\n    d)", [[(1, 2)], [(3, 4)]]),
    "an elif": ("if a:\n  pass\nelif g(\n    b):\n  pass", [[(3, 4)]]),
    "with": ("with open(a) as f, \\\n     open(b) as g:\n  pass", [[(1, 2)]]),
    "for": ("for i in f(\n    a):\n  pass", [[(1, 2)]]),
    "a lambda": ("x = f(a,\n      lambda y: g(y,\n                  2),\n      b)", [[(1, 1), (3, 4)], [(2, 3)]]),
    "a decorator and a head": ("@deco(\n    1)\ndef f(a,\n      b=g()):\n  return a", [[(1, 2)], [(3, 4)]]),
    "return": ("def f():\n  return (a\n          .b())", [[(2, 3)]]),
}


def test_python_statements() -> None:
    for form in PYTHON:
        text, expected = PYTHON[form]
        assert find_long_statements(f"{text}\n".encode(), "python") == expected


def test_a_changed_file_is_parsed_again(tmp_path: Path) -> None:
    path = tmp_path / "a.cc"
    statements = Statements()

    def lines_of_statements(line: int) -> tuple[int, ...]:
        file = find_file(str(path))
        assert file is not None
        return statements.lines_of_statements(file, line, str)

    path.write_text("void f() {\n  g(1,\n    2);\n}\n")
    assert lines_of_statements(3) == (2, 3)
    path.write_text("void f() {\n  g(1,\n    2,\n    3);\n}\n")
    assert lines_of_statements(3) == (2, 3, 4)
    assert lines_of_statements(1) == ()


def test_a_line_shared_by_two_statements_belongs_to_both(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("f(1,\n  2); g(3,\n  4)\n")
    file = find_file(str(path))
    assert file is not None
    statements = Statements()
    assert [statements.lines_of_statements(file, line, str) for line in (1, 2, 3)] == [(1, 2), (1, 2, 3), (2, 3)]

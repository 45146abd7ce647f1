"""The calls inside definitions."""

from pathlib import Path

from framedex.model import CallSite, Definition
from framedex.sources import parse_file


def parsed(tmp_path: Path, text: str, name: str = "file.cc") -> dict[str, Definition]:
    path = tmp_path / name
    path.write_text(text)
    return {definition.name: definition for definition in parse_file(path).definitions}


def test_a_body_lists_its_calls(tmp_path: Path) -> None:
    cases: list[tuple[str, list[tuple[str, str]]]] = [
        ("g(1);", [("call", "g")]),
        ("a.b->c<int>(x);", [("call", "c")]),
        ("ns::S<T>::make(x);", [("call", "make")]),
        ("std::make_unique<ns::Foo<int>>(x);", [("call", "make_unique"), ("argument", "Foo")]),
        ("auto* p = new ns::Foo(x);", [("new", "Foo")]),
        ("ns::Foo foo(x);", [("variable", "Foo")]),
        ("return Foo{x};", [("braces", "Foo")]),
        ("return a == b[i];", [("operator", "operator=="), ("operator", "operator[]")]),
        ("return f(x)(y);", [("operator", "operator()"), ("call", "f")]),
        ("int i = 1; i += 2; bool b = i < 3 && !b;", [("operator", "operator!")]),
        ("ASSIGN_OR_RETURN(auto x, g(1));", [("call", "g")]),
        ("int n = int(x);", []),
    ]
    for body, expected in cases:
        found = parsed(tmp_path, f"void f() {{ {body} }}")["f"].calls
        assert [(site.kind, site.callee) for site in found if site.callee != "operator="] == expected


def test_a_call_has_the_line_of_its_last_name(tmp_path: Path) -> None:
    """In a chain of calls over several lines, each is on the line of its name, as in compilers' debug data."""
    found = parsed(tmp_path, "void f() {\n  client()\n      ->buffer(a,\n               g(b))\n      .Await();\n}\n")
    assert [(s.line, s.column, s.callee) for s in sorted(found["f"].calls, key=lambda s: s.line)] == [
        (2, 3, "client"),
        (3, 9, "buffer"),
        (4, 16, "g"),
        (5, 8, "Await"),
    ]


def test_the_written_form_is_kept_if_it_says_more(tmp_path: Path) -> None:
    (site,) = parsed(tmp_path, "void f() { this->client_->Put<int>(x); }")["f"].calls
    assert site == CallSite(1, 27, "call", "Put", "this->client_->Put<int>")


def test_calls_belong_to_the_innermost_function(tmp_path: Path) -> None:
    found = parsed(tmp_path, "S::S() : x_(g()) { run([] { h(); }); }")
    assert [(s.kind, s.callee) for s in found["S::S"].calls] == [
        ("initializer", "x_"),
        ("call", "g"),
        ("call", "run"),
    ]
    assert [s.callee for s in found["S::S::(lambda)"].calls] == ["h"]


def test_load_time_calls_have_the_name_of_their_initialiser(tmp_path: Path) -> None:
    found = parsed(tmp_path, 'namespace a {\nstatic bool done = register_it();\nREGISTER_THING("x", Y);\n}\n')
    initializer = found["_GLOBAL__sub_I_file.cc"]
    assert (initializer.kind, initializer.line, initializer.end_line) == ("initializer", 2, 3)
    assert [site.callee for site in initializer.calls] == ["register_it", "REGISTER_THING"]


def test_python_calls_are_found(tmp_path: Path) -> None:
    found = parsed(tmp_path, "x = f(1)\nclass C:\n    def m(self):\n        return self.client.put(g(x))\n", "a.py")
    assert found["<module>"].calls == (CallSite(1, 5, "call", "f"),)
    assert found["C.m"].calls == (CallSite(4, 28, "call", "put", "self.client.put"), CallSite(4, 32, "call", "g"))

"""Macros: what a parser without a preprocessor is told of them."""

from pathlib import Path

import pytest

from framedex.model import Definition
from framedex.sources import extract_files, learn_macros, parse_file


def definitions_of(tmp_path: Path, text: str) -> list[Definition]:
    path = tmp_path / "file.cc"
    path.write_text(text)
    return list(parse_file(path).definitions)


@pytest.mark.parametrize(
    "text",
    [
        "struct S { void CUPTIAPI m() {} };",
        "struct S { MOCK_METHOD(int, f, (int a), (const, override)); void m() {} };",
        "struct S { bool m() { return this->operator==(x) && a.operator()(y); } };",
        "struct S { void m() { auto b = new const char*[n]; } };",
        "extern template void f<int>(int);\nstruct S { void m() {} };",
        'struct S {\n  NB_OBJECT_DEFAULT(S, object, "S",\n                    check);\n  void m() {} };',
        "struct S { void m() { switch (x) {\n#define CASE(a) \\\n case a:\n    ALL_CASES(CASE)\n  }\n} };",
        "struct S {\n#if A\n void m(int a) {\n#else\n void m(char a) {\n#endif\n }\n};",
        "struct S { char space_ alignas(T)[sizeof(T)]; void m() {} };",
    ],
)
def test_macros_and_odd_syntax_do_not_hide_what_is_around_them(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.cc"
    path.write_text(text)
    (found,) = extract_files([str(path)])
    names = [row[0] for row in found.definitions if row[2] != "declaration"]
    assert (names[:2], found.errors) == (["S", "S::m"], 0)


def test_both_branches_of_a_conditional_are_read_where_they_are_whole(tmp_path: Path) -> None:
    text = "#ifdef _WIN32\nvoid f() { a(); }\n#else\nvoid f() { b(); }\n#endif\n"
    assert [(d.name, d.line) for d in definitions_of(tmp_path, text)] == [("f", 2), ("f", 4)]


def test_of_split_branches_the_one_for_this_system_is_read(tmp_path: Path) -> None:
    text = "#ifdef _WIN32\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nvoid h() {}\n"
    assert [(d.name, d.line) for d in definitions_of(tmp_path, text)] == [("g", 4), ("h", 7)]


def test_a_mocked_method_is_declared_by_its_name(tmp_path: Path) -> None:
    text = "struct S { MOCK_METHOD((std::pair<int, char>), both, (int a, T b), (override)); };"
    (declared,) = (d for d in definitions_of(tmp_path, text) if d.kind == "declaration")
    assert (declared.name, declared.parameters) == ("S::both", "(int a, T b)")


def test_ffi_handlers_have_the_symbols_that_their_macros_make(tmp_path: Path) -> None:
    text = (
        "namespace a {\n"
        "XLA_FFI_DEFINE_HANDLER(kFoo, FooImpl,\n    ffi::Ffi::Bind().Arg<int>());\n"
        "XLA_FFI_DEFINE_HANDLER_SYMBOL(Bar, ns::BarImpl, ffi::Ffi::Bind());\n}\n"
    )
    found = {d.name: d for d in definitions_of(tmp_path, text)}
    assert (found["a::kFoo"].line, found["a::kFoo"].end_line) == (2, 3)
    assert [s.callee for s in found["a::(lambda)"].calls] == ["FooImpl"]
    assert found["Bar"].parameters == "(XLA_FFI_CallFrame* call_frame)"
    assert [(s.line, s.callee) for s in found["Bar::(lambda)"].calls] == [(4, "BarImpl")]


def test_macros_are_learnt_from_their_definitions(tmp_path: Path) -> None:
    """Given a header with macros of its own, when another file uses them, then it is read as it is meant."""
    (tmp_path / "macros.h").write_text(
        "#define MY_HOT __attribute__((hot))\n"
        "#define MY_CHECKED(x) [[clang::annotate(x)]]\n"
        "#define BEGIN_MINE namespace mine { inline namespace v1 { namespace inner {\n"
        "#define END_MINE }}}\n"
        "#define ORDINARY(x) f(x)\n"
    )
    user = tmp_path / "user.cc"
    user.write_text("BEGIN_MINE\nMY_HOT int f(int a MY_CHECKED(1)) { return ORDINARY(a); }\nEND_MINE\nint g() {}\n")
    macros = learn_macros([str(tmp_path / "macros.h")])

    (found,) = extract_files([str(user)], macros)

    assert [row[0] for row in found.definitions] == ["mine::inner::f", "g"]
    assert found.errors == 0 and "ORDINARY" not in macros

"""Macros: how they help a parser without a preprocessor."""

from pathlib import Path

import pytest

from framedex.model import Definition
from framedex.sources import extract_files, find_macros, parse_file


def definitions_of(tmp_path: Path, text: str) -> list[Definition]:
    path = tmp_path / "file.cc"
    path.write_text(text)
    return list(parse_file(path).definitions)


def test_macros_and_odd_syntax_do_not_hide_surrounding_code(tmp_path: Path) -> None:
    cases: list[str] = [
        "struct S { void CUPTIAPI m() {} };",
        "struct S { MOCK_METHOD(int, f, (int a), (const, override)); void m() {} };",
        "struct S { bool m() { return this->operator==(x) && a.operator()(y); } };",
        "struct S { void m() { auto b = new const char*[n]; } };",
        "extern template void f<int>(int);\nstruct S { void m() {} };",
        'struct S {\n  NB_OBJECT_DEFAULT(S, object, "S",\n                    check);\n  void m() {} };',
        "struct S { void m() { switch (x) {\n#define CASE(a) \\\n case a:\n    ALL_CASES(CASE)\n  }\n} };",
        "struct S {\n#if A\n void m(int a) {\n#else\n void m(char a) {\n#endif\n }\n};",
        "struct S { char space_ alignas(T)[sizeof(T)]; void m() {} };",
    ]
    for text in cases:
        path = tmp_path / "file.cc"
        path.write_text(text)
        (found,) = extract_files([str(path)])
        names = [row[0] for row in found.definitions if row[2] != "declaration"]
        assert (names[:2], found.errors) == (["S", "S::m"], 0)


def test_both_branches_of_a_complete_conditional_are_parsed(tmp_path: Path) -> None:
    text = "#ifdef _WIN32\nvoid f() { a(); }\n#else\nvoid f() { b(); }\n#endif\n"
    assert [(d.name, d.line) for d in definitions_of(tmp_path, text)] == [("f", 2), ("f", 4)]


def test_of_split_branches_the_one_for_this_system_is_parsed(tmp_path: Path) -> None:
    text = "#ifdef _WIN32\nvoid f() {\n#else\nvoid g() {\n#endif\n}\nvoid h() {}\n"
    assert [(d.name, d.line) for d in definitions_of(tmp_path, text)] == [("g", 4), ("h", 7)]


def test_a_mocked_method_is_declared_with_its_name(tmp_path: Path) -> None:
    text = "struct S { MOCK_METHOD((std::pair<int, char>), both, (int a, T b), (override)); };"
    (declared,) = (d for d in definitions_of(tmp_path, text) if d.kind == "declaration")
    assert (declared.name, declared.parameters) == ("S::both", "(int a, T b)")


def test_ffi_handlers_have_the_symbols_of_their_macros(tmp_path: Path) -> None:
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


def test_macros_are_read_from_their_definitions(tmp_path: Path) -> None:
    """A file that uses another header's macros is parsed correctly."""
    (tmp_path / "macros.h").write_text(
        "#define MY_HOT __attribute__((hot))\n"
        "#define MY_CHECKED(x) [[clang::annotate(x)]]\n"
        "#define BEGIN_MINE namespace mine { inline namespace v1 { namespace inner {\n"
        "#define END_MINE }}}\n"
        "#define ORDINARY(x) f(x)\n"
    )
    user = tmp_path / "user.cc"
    user.write_text("BEGIN_MINE\nMY_HOT int f(int a MY_CHECKED(1)) { return ORDINARY(a); }\nEND_MINE\nint g() {}\n")
    macros = find_macros([str(tmp_path / "macros.h")])

    (found,) = extract_files([str(user)], macros)

    assert [row[0] for row in found.definitions] == ["mine::inner::f", "g"]
    assert found.errors == 0 and "ORDINARY" not in macros


def names_in_tree(tmp_path: Path, macros: str, text: str) -> list[str]:
    header, source = tmp_path / "macros.h", tmp_path / "file.cc"
    header.write_text(macros)
    source.write_text(text)
    (found,) = extract_files([str(source)], find_macros([str(header), str(source)]))
    return [row[0] for row in found.definitions if row[2] not in ("declaration", "macro", "initializer")]


def test_a_two_letter_macro_is_recognised_if_it_expands_to_an_attribute(tmp_path: Path) -> None:
    path = tmp_path / "file.cc"
    path.write_text(
        "#define NI __attribute__((noinline))\n#define OK\n#define T static\n"
        "template <class T, bool OK> struct S { NI S& operator=(const S& o); };\nstatic NI void f(int n) { g(); }\n"
    )
    macros = find_macros([str(path)])
    assert macros.split()[:1] == ["NI"] and "OK" not in macros
    (found,) = extract_files([str(path)], macros)
    assert ([row[0] for row in found.definitions], found.errors) == (["S", "S::operator=", "f"], 0)


def test_macros_with_arguments_open_namespaces_defined_in_a_header(tmp_path: Path) -> None:
    macros = (
        "#define NS_IN(name) namespace name {\n#define NS_OUT(name) }\n"
        "#define NS_TWO(a, b) namespace a { namespace b {\n"
        '#define LIB_NS lib __attribute__((visibility("hidden")))\n'
    )
    text = (
        "NS_IN(LIB_NS)\nNS_IN(detail)\nvoid f() {}\nNS_OUT(detail)\nvoid g() {}\nNS_OUT(LIB_NS)\n"
        "namespace LIB_NS { void h() {} }\nNS_TWO(a, b)\nvoid k() {}\n"
    )
    assert names_in_tree(tmp_path, macros, text) == ["lib::detail::f", "lib::g", "lib::h", "a::b::k"]


def test_a_namespace_whose_macro_has_several_values_may_have_any_name(tmp_path: Path) -> None:
    text = "namespace lib { namespace IMPL {\nvoid f() {}\n} }\n"
    assert names_in_tree(tmp_path, "#define IMPL haswell\n", text) == ["lib::haswell::f"]
    assert names_in_tree(tmp_path, "#define IMPL haswell\n#define IMPL fallback\n", text) == ["lib::*::f"]


def test_without_a_header_namespaces_open_by_convention(tmp_path: Path) -> None:
    text = "LIB_NAMESPACE_BEGIN(detail)\nvoid f() {}\nLIB_NAMESPACE_END(detail)\nvoid g() {}\n"
    assert names_in_tree(tmp_path, "", text) == ["detail::f", "g"]


@pytest.mark.parametrize(
    ("macros", "text", "name"),
    [
        (
            "#define CHECKS(x, y) void x##y(void); Adder r##x##y(x##y, #x); void x##y(void)",
            "CHECKS(Foo, bar) {}",
            "Foobar",
        ),
        (
            "#define JOIN(a, b) a##_##b##_Case\n"
            "#define CASES_(a, b, base) class JOIN(a, b) : base { void run(); }; void JOIN(a, b)::run()\n"
            "#define CASES(a, b) CASES_(a, b, Base)",
            "CASES(Foo, bar) {}",
            "Foo_bar_Case::run",
        ),
        (
            "#define CASE(name) struct name##_case { void run(); }; void name##_case::run()\n"
            "#define CASE_FLAGS(name, text, flags) struct data_##name { int i = parse(text, flags); }; CASE(name)\n"
            "#define CASE_TEXT(name, text) CASE_FLAGS(name, text, 1)",
            'CASE_TEXT(second, "<a/>")\n{\n  check(2);\n}',
            "second_case::run",
        ),
    ],
)
def test_a_body_after_a_macro_belongs_to_the_function_named_by_a_header(
    tmp_path: Path, macros: str, text: str, name: str
) -> None:
    assert names_in_tree(tmp_path, macros, text) == [name]


def test_a_declaration_macro_before_a_namespace_does_not_hide_its_name(tmp_path: Path) -> None:
    text = 'LIB_FLAG(bool, verbose, false, "say more");\n\nnamespace lib {\nvoid f() {}\n}\n'
    assert names_in_tree(tmp_path, "", text) == ["lib::f"]


def test_a_syntax_error_hides_no_function(tmp_path: Path) -> None:
    cases: list[tuple[str, str, list[str] | str]] = [
        ("", "template <typename T, ENABLE_IF(!std::is_same<T, char>::value)>\nvoid f(T) {}\n", ["f"]),
        ("", "template <class T, enable_if_t<A<T>::value && !B<T>::value, int> = 0> void f(T) {}\n", ["f"]),
        ("", "template <int N, bool B = (N < 4)> void f() {}\ntemplate <int N> void g() {}\n", ["f", "g"]),
        (
            "#define TPL template<template<class> class A, class B>",
            "TPL\nclass C : Base<A> {\n  void m() {}\n};\n",
            "C",
        ),
        ("", "class C {\n  LIB_PRIVATE_UNLESS_TESTED:\n  void m() {}\n};\n", "C"),
        (
            "#define LIB_TRY try\n#define LIB_CATCH(e) catch (e)",
            "void f() { LIB_TRY { g(); } LIB_CATCH (...) {} }\n",
            "f",
        ),
        (
            "#define LIB_TRY try\n#define LIB_TRY if (true)\n#define LIB_TRY LIB_TRY_USER",
            "void f() { LIB_TRY { g(); } }\n",
            "f",
        ),
        (
            "#define OPEN namespace a {\n#define OPEN } namespace b {\n#define CLOSE }\n#define CLOSE } export {",
            "OPEN\nvoid f() {}\nCLOSE\n",
            ["a::f"],
        ),
        ('#define OPEN extern "C" {\n#define OPEN\n#define CLOSE }\n#define CLOSE', "OPEN\nvoid f() {}\nCLOSE\n", "f"),
        ("#define API OTHER_ATTR\n#define OTHER_ATTR noexcept", "struct S { S(int) API : a(0) {} };\n", ["S", "S::S"]),
        ("", "void f() noexcept(\n    noexcept(g<T>(a && !b))) {}\n", "f"),
    ]
    for macros, text, names in cases:
        expected = {"C": ["C", "C::m"]}.get(names, [names]) if isinstance(names, str) else names
        assert names_in_tree(tmp_path, macros, text) == expected

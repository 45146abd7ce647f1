"""Definitions of C++ files."""

from pathlib import Path

import pytest

from framedex.model import Definition
from framedex.sources import parse_file
from framedex_native._extractor import scrub


def definitions_of(tmp_path: Path, text: str) -> list[Definition]:
    path = tmp_path / "file.cc"
    path.write_text(text)
    parsed = parse_file(path)
    assert parsed.problems == () and parsed.language == "cpp"
    return [definition for definition in parsed.definitions if definition.kind not in ("declaration", "initializer")]


def test_definitions_have_the_same_names_as_symbols(tmp_path: Path) -> None:
    cases: list[tuple[str, list[str | tuple[str, str]]]] = [
        ("int f(int a) { return a; }", [("f", "function")]),
        ("namespace a::b { namespace { void f() {} } }", [("a::b::(anonymous namespace)::f", "function")]),
        ("namespace a { inline namespace v1 { void f() {} } }", [("a::f", "function")]),
        ("struct S { S() {} ~S() = default; int m() const { return 1; } };", ["S", "S::S", "S::~S", "S::m"]),
        ("struct S { S(const S&) = delete; void declared(); };", ["S"]),
        ("template <class T> struct S<T*> { void m() {} };", ["S", "S::m"]),
        ("template <> int a::S<int>::m<long>(int) { return 1; }", [("a::S::m", "method")]),
        ("a::S<T>::\n    Inner::m(int x) {}", ["a::S::Inner::m"]),
        ("namespace a { S::S() try : x(1) {} catch (...) {} }", ["a::S::S"]),
        ("int* const& f() { static int* p; return p; }", ["f"]),
        ("int (*pick(int a))(char) { return nullptr; }", ["pick"]),
        ("struct S { operator bool() const { return true; } S& operator<<(int) { return *this; } };",
         ["S", "S::operator bool", "S::operator<<"]),
        ("S::operator std::vector<int>() const { return {}; }", ["S::operator std::vector<int>"]),
        ("namespace n { struct S { friend bool operator==(S, S) { return true; } }; }", ["n::S", "n::operator=="]),
        ('namespace n { extern "C" { int c1(void) { return 0; } } extern "C" int c2() { return 1; } }', ["c1", "c2"]),
        ("void f() { auto g = [&](int y) { return [] { return 1; }; }; }",
         [("f", "function"), ("f::(lambda)", "lambda"), ("f::(lambda)::(lambda)", "lambda")]),
        ("void f() { struct Local { void m() {} }; }", ["f", "f::Local", "f::Local::m"]),
        ("TEST_F(Suite, Name) { int x; }", ["Suite_Name_Test::TestBody"]),
        ("namespace jax { NB_MODULE(_jax, m) { m.def(\"f\", [](int a) {}); } }",
         ["PyInit__jax", "jax::nanobind__jax_exec_impl", "jax::nanobind__jax_exec_impl::(lambda)"]),
        ("PYBIND11_MODULE(ext, m) { }", ["PyInit_ext", "pybind11_init_ext"]),
        ("auto f() -> int requires C<int> { return 1; }", ["f"]),
    ]  # fmt: skip
    for text, expected in cases:
        found = definitions_of(tmp_path, text)
        names = [d.name if isinstance(e, str) else (d.name, d.kind) for d, e in zip(found, expected, strict=True)]
        assert names == expected


def test_a_definition_has_lines_parameters_and_constness(tmp_path: Path) -> None:
    found = definitions_of(tmp_path, "\n\nint S::m(int a,\n         char b) const {\n  return a;\n}\n")
    assert found == [Definition("S::m", "method", "(int a, char b)", 3, 6, is_const=True)]


def test_macros_do_not_hide_surrounding_code(tmp_path: Path) -> None:
    cases: list[str] = [
        "class ABSL_MUST_USE_RESULT TF_EXPORT S { void m() ABSL_LOCKS_EXCLUDED(mu_) {} int x ABSL_GUARDED_BY(mu_); };",
        "struct S { EIGEN_DEVICE_FUNC EIGEN_STRONG_INLINE void m() { ASSIGN_OR_RETURN(auto x, f(1, 2)); } };",
        "struct S { void m() { TF_ASSIGN_OR_RETURN((auto [a, b]), f(), _ << 1); } };",
        "struct S { void m() { TF_ASSERT_OK_AND_ASSIGN(std::pair<int, int> p, f({1, 2})); } };",
        "struct S { void m(Options o = {}, int b = 1) { (this->*p)(1); } };",
        "struct S { template <class T, enable_if_t<ok<T>>* = nullptr> void m() {} };",
        "struct S { void m() { g([cb(std::move(cb)), x{std::move(x)}]() mutable { cb(); }); } };",
        "struct S { void m() { g([this, x{y.f(1, 2)}, z{*w}]() { h(x); }); } };",
        "extern template class V<int>;\nstruct S { void m() {} };",
        "#define HELPER(x) \\\n  do { \\\n  } while (0\nstruct S { void m() {} };",
        "struct S {\n  MLIR_DEFINE_TYPE_ID(S)\n  void m() {} };",
    ]
    for text in cases:
        assert [d.name for d in definitions_of(tmp_path, text)][:2] == ["S", "S::m"]


def test_a_scope_survives_a_syntax_error_inside(tmp_path: Path) -> None:
    text = "namespace a {\nclass S : public B {\n int f() { return 1; }\n int g() { $$$ ((( ; }\n int h() { }\n"
    names = [d.name for d in definitions_of(tmp_path, text)]
    assert "a::S::f" in names


def test_scrubbing_preserves_positions() -> None:
    source = b'class X_EXPORT A {\n int v ABSL_GUARDED_BY(\n  mu_) = 1;\n Y_ASSIGN_OR_RETURN(auto a,\n f(","));\n};\n'
    scrubbed = scrub(source)
    assert len(scrubbed) == len(source)
    assert [i for i, b in enumerate(scrubbed) if b == 10] == [i for i, b in enumerate(source) if b == 10]
    assert scrubbed.split() == b'class A { int v = 1; auto a= f("" ) ; };'.split()


def test_ordinary_code_is_unchanged() -> None:
    source = b"int a = f(b, {1}, 'x');\nCHECK(x);\nstruct S { FOO y = BAR(1'000); };\nauto s = \"\";\n"
    assert scrub(source) == source


@pytest.mark.parametrize(
    ("literal", "left"),
    [
        (b'"a\\"b;"', b'""'),
        (b'R"(X_EXPORT\n")"', b'""'),
        (b'u8R"x()" )x"', b'""'),
        (b'"1"_km', b'"1"_km'),  # a separate kind of literal
        (b'"open', b'"open'),
    ],
)
def test_string_literals_keep_their_quotes(literal: bytes, left: bytes) -> None:
    source = b"auto s = " + literal + b"\n;"
    assert scrub(source).split() == [b"auto", b"s", b"=", left, b";"] and len(scrub(source)) == len(source)


def test_an_attribute_macro_hides_no_following_code(tmp_path: Path) -> None:
    text = 'ABSL_FLAG(std::vector<a, b>, sizes, f({1, 2}), "one, " "two");\n\nnamespace n {\nint g() { return 1; }\n}\n'
    found = definitions_of(tmp_path, text)
    assert "n::g" in [d.name for d in found]


@pytest.mark.parametrize("text", ["int a[] = {b, c{d}};", "f(a, T{b});", "x[f(a, T{b})] = 1;", "[a, b{}]() {}"])
def test_braces_outside_captures_are_unchanged(text: str) -> None:
    assert scrub(text.encode()) == text.encode()


def test_directives_and_comments_are_blanked() -> None:
    source = b"#define ABSL_GUARDED_BY(x) \\\n  y\nint a;  // X_ASSIGN_OR_RETURN(a, b)\n"
    assert scrub(source).split() == [b"int", b"a;"] and len(scrub(source)) == len(source)


def test_the_macro_defines_the_function_that_registers_an_ffi_handler(tmp_path: Path) -> None:
    source = """\
// XLA_FFI_DEFINE_HANDLER_SYMBOL(Commented, out);
namespace kernels {
ffi::Error norm(float eps) { return {}; }
XLA_FFI_DEFINE_HANDLER_SYMBOL(
    Norm, norm,
    ffi::Ffi::Bind().Attr<float>("eps)"));
}  // namespace kernels
XLA_FFI_DEFINE_HANDLER_SYMBOL(Never, closed
"""
    found = [(d.name, d.line, d.end_line) for d in definitions_of(tmp_path, source) if d.kind == "function"]
    assert found == [("kernels::norm", 3, 3), ("Norm", 4, 6)]

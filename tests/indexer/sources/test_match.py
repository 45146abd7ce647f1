"""From a symbol to its definition, through real source text."""

from pathlib import Path

import pytest

from framedex.binaries.names import readable
from framedex.model import Definition, How, NativeSymbol
from framedex.sources import match, parse_file, short_name

FILES = {
    "shop.h": """
namespace shop {
struct Plain { int a; };
struct Till {
  Till(int start) {}
  int ring(int price);
  int ring(int price) const;
  void take(const Coin& coin);
  template <typename... A> void many(int first, A... rest) {}
};
}
""",
    "shop.cc": """
namespace shop {
namespace { int helper(int x) { return x; } }
int Till::ring(int price) { return 1; }
int Till::ring(int price) const { return 2; }
void Till::take(const Coin& coin) {}
void Till::take(const shop::Note& note) {}
void each() { run([](int a) {}); run([](int a, int b) {}); run([](long a, int b) {}); run([](int, int) {}); }
}
extern "C" int plain_c(int x) { return x; }
void shop::twice() {
  run([](int a, int b) {});
  run([](int, int) {});
}
void shop::helped() { run([] {}); }
struct shop::Any { template <typename T> operator T() { return {}; } };
""",
    "other.cc": "namespace shop { namespace { int helper(int x) { return x; } } }\n",
    "using.cc": "using namespace shop;\nvoid Clerk::greet() {}\n",
    "drawer.h": "namespace shop { struct Drawer_Impl { ~Drawer_Impl(); }; }\n",
    "drawer.cc": "namespace shop {\nTill::Drawer::~Drawer_Impl() {}\n}\n",
    "till_test.cc": "namespace shop { void each() {} }\n",
}


@pytest.fixture
def candidates(tmp_path: Path) -> list[tuple[str, Definition]]:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return [(name, d) for name in FILES for d in parse_file(tmp_path / name).definitions]


def found(
    candidates: list[tuple[str, Definition]], symbol: str, unit: str | None = None
) -> tuple[How | None, list[tuple[str, int]]]:
    native = NativeSymbol(readable(symbol), symbol, symbol, None, 0, inlined=False, unit=unit)
    named = [c for c in candidates if short_name(c[1].name) == short_name(symbol)]
    how, chosen = match(native, named)
    return how, [(path, definition.line) for path, definition in chosen]


@pytest.mark.parametrize(
    ("symbol", "unit", "expected"),
    [
        ("shop::Till::ring(int)", None, ("shop.cc", 4)),
        ("shop::Till::ring(int) const", None, ("shop.cc", 5)),
        ("shop::Till::take(shop::Coin const&)", None, ("shop.cc", 6)),
        ("shop::Till::take(shop::Note const&)", None, ("shop.cc", 7)),
        ("shop::(anonymous namespace)::helper(int)", "shop.cc", ("shop.cc", 3)),
        ("shop::(anonymous namespace)::helper(int)", "other.cc", ("other.cc", 1)),
        ("plain_c", None, ("shop.cc", 10)),
        ("shop::each()", None, ("shop.cc", 8)),
        ("shop::Till::Till(int)", None, ("shop.h", 5)),
        ("void shop::Till::many<int, char>(int, int, char)", None, ("shop.h", 9)),
        ("shop::Clerk::greet()", "using.cc", ("using.cc", 2)),
        ("shop::Drawer_Impl::~Drawer_Impl()", "drawer.cc", ("drawer.cc", 2)),
        ("shop::each()::$_0::operator()(int) const", None, ("shop.cc", 8)),
        ("absl::lts_20260107::Status shop::Till::ring<int>(int)", None, ("shop.cc", 4)),
    ],
)
def test_a_symbol_finds_its_one_definition(
    candidates: list[tuple[str, Definition]], symbol: str, unit: str | None, expected: tuple[str, int]
) -> None:
    assert found(candidates, symbol, unit) == (How.DEFINITION, [expected])


@pytest.mark.parametrize(
    "symbol",
    [
        "shop::Plain::Plain(shop::Plain const&)",
        "shop::Plain::~Plain()",
        "shop::Plain::operator=(shop::Plain&&)",
        "shop::Plain::Plain()",
    ],
)
def test_an_implicit_member_is_labelled_with_its_class(candidates: list[tuple[str, Definition]], symbol: str) -> None:
    assert found(candidates, symbol) == (How.CLASS, [("shop.h", 3)])


def test_a_copy_constructor_is_not_mistaken_for_another_of_one_parameter(
    candidates: list[tuple[str, Definition]],
) -> None:
    assert found(candidates, "shop::Till::Till(shop::Till const&)") == (How.CLASS, [("shop.h", 4)])


def test_what_cannot_be_told_apart_is_handed_out_whole(candidates: list[tuple[str, Definition]]) -> None:
    how, places = found(candidates, "shop::(anonymous namespace)::helper(int)")
    assert how is How.CANDIDATES and places == [("other.cc", 1), ("shop.cc", 3)]


def test_lambdas_of_one_shape_are_told_apart_by_their_number(candidates: list[tuple[str, Definition]]) -> None:
    """Given two lambdas of one signature, then `#2` is the second, and `$_1`, which counts otherwise, is either."""
    second = found(candidates, "shop::twice()::{lambda(int, int)#2}::operator()(int, int) const")
    either, places = found(candidates, "shop::twice()::$_1::operator()(int, int) const")
    assert second[0] is How.DEFINITION and second[1] == places[1:]
    assert either is How.CANDIDATES and len(places) == 2


@pytest.mark.parametrize("member", ["~$_0()", "$_0(shop::helped()::$_0 const&)"])
def test_what_the_compiler_makes_for_a_lambda_is_labelled_with_its_line(
    candidates: list[tuple[str, Definition]], member: str
) -> None:
    assert found(candidates, f"shop::helped()::$_0::{member}", "shop.cc") == (How.CLASS, [("shop.cc", 15)])


def test_a_lambda_called_through_a_function_pointer_is_that_lambda(candidates: list[tuple[str, Definition]]) -> None:
    assert found(candidates, "shop::helped()::$_0::__invoke()", "shop.cc") == (How.DEFINITION, [("shop.cc", 15)])


def test_a_conversion_of_a_template_is_found_by_its_class(candidates: list[tuple[str, Definition]]) -> None:
    symbol = "shop::Any::operator std::vector<int><std::vector<int>>()"
    assert found(candidates, symbol) == (How.DEFINITION, [("shop.cc", 16)])


def test_a_definition_elsewhere_is_no_match(candidates: list[tuple[str, Definition]]) -> None:
    assert found(candidates, "bank::Till::ring(int)") == (None, [])
    assert found(candidates, "shop::Clerk::greet()", "elsewhere.cc") == (None, [])
    assert found(candidates, "") == (None, [])


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("main", "main"),
        ("xla::Foo::bar", "bar"),
        ("int xla::Foo<a::b>::bar<c::d>(e::f) const", "bar"),
        ("xla::Foo::~Foo()", "Foo"),
        ("xla::Foo::operator=(xla::Foo&&)", "Foo"),
        ("xla::Foo::operator bool() const", "operator type"),
        ("xla::f(int)::$_4::operator()(char) const", "f"),
        ("xla::f::(lambda)::(lambda)", "f"),
        ("f.<locals>.g", "g"),
        ("Outer.method", "method"),
        ("(anonymous namespace)::f()", "f"),
        ("", ""),
    ],
)
def test_the_short_name_is_the_same_for_symbol_and_definition(name: str, expected: str) -> None:
    assert short_name(name) == expected

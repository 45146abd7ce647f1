"""From a symbol to its definition, in real source text."""

from pathlib import Path

import pytest

from framedex.binaries.names import readable_name
from framedex.model import Definition, LocationEvidence, NativeSymbol
from framedex.sources import match_symbol, parse_file, short_name

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
) -> tuple[LocationEvidence | None, list[tuple[str, int]]]:
    native = NativeSymbol(readable_name(symbol), symbol, symbol, None, 0, inlined=False, unit=unit)
    named = [c for c in candidates if short_name(c[1].name) == short_name(symbol)]
    how, chosen = match_symbol(native, named)
    return how, [(path, definition.line) for path, definition in chosen]


def test_a_symbol_matches_its_only_definition(candidates: list[tuple[str, Definition]]) -> None:
    cases: list[tuple[str, str | None, tuple[str, int]]] = [
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
    ]
    for symbol, unit, expected in cases:
        assert found(candidates, symbol, unit) == (LocationEvidence.DEFINITION, [expected])


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
    assert found(candidates, symbol) == (LocationEvidence.CLASS, [("shop.h", 3)])


def test_a_copy_constructor_is_not_mistaken_for_another_unary_one(
    candidates: list[tuple[str, Definition]],
) -> None:
    assert found(candidates, "shop::Till::Till(shop::Till const&)") == (LocationEvidence.CLASS, [("shop.h", 4)])


def test_indistinguishable_definitions_are_all_candidates(candidates: list[tuple[str, Definition]]) -> None:
    how, places = found(candidates, "shop::(anonymous namespace)::helper(int)")
    assert how is LocationEvidence.CANDIDATES and places == [("other.cc", 1), ("shop.cc", 3)]


def test_lambdas_of_one_shape_are_distinguished_by_number(candidates: list[tuple[str, Definition]]) -> None:
    """Of two lambdas with one signature, `#2` is the second, and `$_1`, which counts differently, is either."""
    second = found(candidates, "shop::twice()::{lambda(int, int)#2}::operator()(int, int) const")
    either, places = found(candidates, "shop::twice()::$_1::operator()(int, int) const")
    assert second[0] is LocationEvidence.DEFINITION and second[1] == places[1:]
    assert either is LocationEvidence.CANDIDATES and len(places) == 2


@pytest.mark.parametrize("member", ["~$_0()", "$_0(shop::helped()::$_0 const&)"])
def test_compiler_generated_lambda_functions_are_labelled_with_its_line(
    candidates: list[tuple[str, Definition]], member: str
) -> None:
    assert found(candidates, f"shop::helped()::$_0::{member}", "shop.cc") == (LocationEvidence.CLASS, [("shop.cc", 15)])


def test_a_lambda_called_by_function_pointer_matches_that_lambda(candidates: list[tuple[str, Definition]]) -> None:
    assert found(candidates, "shop::helped()::$_0::__invoke()", "shop.cc") == (
        LocationEvidence.DEFINITION,
        [("shop.cc", 15)],
    )


def test_a_conversion_operator_of_a_template_is_found_by_class(candidates: list[tuple[str, Definition]]) -> None:
    symbol = "shop::Any::operator std::vector<int><std::vector<int>>()"
    assert found(candidates, symbol) == (LocationEvidence.DEFINITION, [("shop.cc", 16)])


def test_a_definition_elsewhere_does_not_match(candidates: list[tuple[str, Definition]]) -> None:
    assert found(candidates, "bank::Till::ring(int)") == (None, [])
    assert found(candidates, "shop::Clerk::greet()", "elsewhere.cc") == (None, [])
    assert found(candidates, "") == (None, [])


def test_symbol_and_definition_have_the_same_short_name() -> None:
    cases: list[tuple[str, str]] = [
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
    ]
    for name, expected in cases:
        assert short_name(name) == expected


OVERLOADS = """
namespace shop {
struct Coin {};
struct Note {};
void count(unsigned n) {}
void count(unsigned long n) {}
void count(uint64_t* n) {}
void name(const std::string& text) {}
void name(std::string&& text) {}
void name(const char* text) {}
void name(const char (&text)[3]) {}
void pay(const Coin& coin) {}
void pay(Note* note) {}
template <typename T> void each(const T& all) {}
template <typename T> void each(T& all) {}
void run(std::function<void(int)> f) {}
void run(std::function<void(int, int)> f) {}
void both(const Money& a, const Money& b) {}
void lone(Coin coin) {}
void spell(TYPES_OF_ALL) {}
}
"""


def test_an_overload_is_selected_by_its_mangled_types(tmp_path: Path) -> None:
    cases: list[tuple[str, int]] = [
        ("shop::count(unsigned int)", 5),
        ("shop::count(unsigned long)", 6),
        ("shop::count(unsigned long*)", 7),
        ("shop::name(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>> const&)", 8),
        ("shop::name(std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>&&)", 9),
        ("shop::name(char const*)", 10),
        ("shop::name(char const (&) [3])", 11),
        ("shop::pay(shop::Coin const&)", 12),
        ("shop::pay(shop::Note*)", 13),
        ("void shop::each<int>(int const&)", 14),
        ("void shop::each<int>(int&)", 15),
        ("shop::run(std::function<void (int)>)", 16),
        ("shop::run(std::function<void (int, int)>)", 17),
        ("shop::both(shop::Coin const&, shop::Coin const&)", 18),
        ("shop::lone(shop::Euro)", 19),
        ("shop::spell(int, long, char)", 20),
    ]
    for symbol, line in cases:
        assert found_in(tmp_path, symbol) == (LocationEvidence.DEFINITION, [line])


@pytest.mark.parametrize(
    "symbol",
    [
        "shop::count(float)",
        "shop::pay(shop::Euro const&)",  # Coin is a class, so it is not another name of Euro
        "shop::both(shop::Coin const&, int const&)",  # one typedef does not have two types
    ],
)
def test_an_overload_missing_from_the_sources_matches_no_other(tmp_path: Path, symbol: str) -> None:
    how, _ = found_in(tmp_path, symbol)
    assert how is LocationEvidence.CANDIDATES


def test_types_are_compared_before_header_overloads_are_excluded(tmp_path: Path) -> None:
    """With overloads in a unit and in a header, the unit's symbol is found even with the header's types."""
    texts = {"a.cc": "void put(S& s, int n) {}\n", "b.h": "inline void put(S& s, double x) {}\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    named = [(name, each) for name in texts for each in parse_file(tmp_path / name).definitions]
    symbol = NativeSymbol("put", "put(S&, double)", "", None, 0, inlined=False, unit="a.cc")
    how, places = match_symbol(symbol, named)
    assert how is LocationEvidence.DEFINITION and [path for path, _ in places] == ["b.h"]


def found_in(folder: Path, symbol: str) -> tuple[LocationEvidence | None, list[int]]:
    """The match of a symbol among `OVERLOADS`."""
    (folder / "overloads.cc").write_text(OVERLOADS)
    every = parse_file(folder / "overloads.cc").definitions
    named = [("overloads.cc", each) for each in every if short_name(each.name) == short_name(symbol)]
    native = NativeSymbol(readable_name(symbol), symbol, symbol, None, 0, inlined=False, unit=None)
    how, chosen = match_symbol(
        native,
        named,
        classes_named=lambda name: {d.name for d in every if d.kind == "class" and short_name(d.name) == name},
    )
    return how, [definition.line for _, definition in chosen]


def test_code_of_another_system_is_never_certain() -> None:
    symbol = NativeSymbol("a::read", "a::read(int)", "", None, 0, inlined=False, unit=None)
    windows, unix = (
        (path, Definition("a::read", "function", "(int fd)", 3, 5)) for path in ("src/io-win32.cc", "src/io-unix.cc")
    )
    assert match_symbol(symbol, [windows]) == (LocationEvidence.CANDIDATES, (windows,))
    assert match_symbol(symbol, [windows, unix]) == (LocationEvidence.DEFINITION, (unix,))


def test_a_function_of_one_file_does_not_certainly_match_another_file() -> None:
    symbol = NativeSymbol("a::read", "a::read(int)", "", None, 0, inlined=False, unit="reader.cc")
    other = ("src/writer.cc", Definition("a::read", "function", "(int fd)", 3, 5))
    header = ("src/reader.h", Definition("a::read", "function", "(int fd)", 3, 5))
    assert match_symbol(symbol, [other]) == (LocationEvidence.CANDIDATES, (other,))
    assert match_symbol(symbol, [other, header]) == (LocationEvidence.DEFINITION, (header,))


USING_NAMESPACE = {
    "tag.h": "namespace lib { class Tag { void save(); void load(); }; }\n",
    "tag.cc": "using namespace lib;\nvoid Tag::save() {}\n",
    "id3/tag.h": "namespace lib { namespace id3 { class Tag { void save(); }; } }\n",
    "id3/tag.cc": "using namespace lib;\nvoid id3::Tag::save() {}\n",
    "ape/tag.h": "namespace lib { namespace ape { class Tag { void save(); void load(); }; } }\n",
    "ape/tag.cc": "using namespace lib;\nusing namespace ape;\nvoid Tag::save() {}\n",
    "loads.cc": "using namespace lib;\nvoid Tag::load() {}\n",
}
"""Methods whose definitions omit a namespace."""


@pytest.mark.parametrize(
    ("symbol", "defined_in"),
    [
        ("lib::Tag::save()", "tag.cc"),
        ("lib::id3::Tag::save()", "id3/tag.cc"),
        ("lib::ape::Tag::save()", "ape/tag.cc"),
        ("other::Tag::save()", None),
        ("lib::Tag::load()", None),  # the definition can be that of lib::ape::Tag
    ],
)
def test_a_declaration_gives_the_namespace_of_a_definition_after_using(
    tmp_path: Path, symbol: str, defined_in: str | None
) -> None:
    every = []
    for name, text in USING_NAMESPACE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
        every += [(name, each) for each in parse_file(tmp_path / name).definitions]
    how, places = found(every, symbol)
    assert (how, [path for path, _ in places]) == (
        (LocationEvidence.DEFINITION, [defined_in]) if defined_in else (None, [])
    )


@pytest.mark.exhaustive
def test_excessively_nested_names_match_up_to_the_compared_depth(tmp_path: Path) -> None:
    """A parameter of nested templates, and one of functions that take functions."""
    depth = 5_000
    for begin, end in (("A<", ">"), ("void (", ")")):
        symbol = f"ns::f({begin * depth}int{end * depth})"
        native = NativeSymbol("ns::f", symbol, "", None, 0, inlined=False, unit=None)
        written = ("a.h", Definition("ns::f", "function", f"({begin * depth}T{end * depth} x)", 3, 5))
        assert match_symbol(native, [written]) == (LocationEvidence.DEFINITION, (written,))


@pytest.mark.parametrize("parameter", ["[[" * 50_000, "/*" * 50_000, "int (*" + " " * 100_000 + "!)"])
def test_an_unparsable_parameter_may_have_any_type(parameter: str) -> None:
    symbol = NativeSymbol("ns::f", "ns::f(int)", "", None, 0, inlined=False, unit=None)
    written = ("a.h", Definition("ns::f", "function", f"({parameter})", 3, 5))
    assert match_symbol(symbol, [written])[0] in (LocationEvidence.DEFINITION, LocationEvidence.CANDIDATES)


def test_a_definition_in_a_namespace_of_any_name_is_never_certain() -> None:
    known = ("single.cc", Definition("lib::haswell::parse", "function", "(int x)", 5, 8))
    unknown = ("lib.cc", Definition("lib::*::parse", "function", "(int x)", 7, 11))
    other = ("lib.cc", Definition("other::*::parse", "function", "(int x)", 17, 21))
    symbol = "lib::haswell::parse(int)"

    assert found([known, unknown, other], symbol) == (LocationEvidence.CANDIDATES, [("lib.cc", 7), ("single.cc", 5)])
    assert found([unknown, other], symbol) == (LocationEvidence.CANDIDATES, [("lib.cc", 7)])
    assert found([known, other], symbol) == (LocationEvidence.DEFINITION, [("single.cc", 5)])

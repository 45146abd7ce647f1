"""Readable names from the output of both kinds of demangler."""

import pytest

from framedex.binaries.names import parse_name, readable_name, split_parameters


def test_a_symbol_is_displayed_as_programmers_write_it() -> None:
    cases: list[tuple[str, str]] = [
        ("main", "main"),
        ("PJRT_Client_Create", "PJRT_Client_Create"),
        ("xla::PjRtCApiClient::BufferFromHostBuffer(void const*, int)", "xla::PjRtCApiClient::BufferFromHostBuffer"),
        (
            "jax::(anonymous namespace)::MakeShard(std::vector<int, std::allocator<int> > const&)",
            "jax::(anonymous namespace)::MakeShard",
        ),
        ("_object* nanobind::detail::func_create<false, jax::f()::$_0>(long)", "nanobind::detail::func_create<...>"),
        (
            "jax::nanobind__jax_exec_impl(nanobind::module_)::$_47::operator()(nanobind::sequence, bool) const",
            "jax::nanobind__jax_exec_impl(...)::$_47::operator()",
        ),
        ("f()::'lambda0'(int)::operator()(int) const", "f()::{lambda#2}::operator()"),
        ("f()::{lambda(int)#2}::operator()(int) const", "f()::{lambda#2}::operator()"),
        ("auto f() const::{lambda(auto:1)#1}::operator()<int>(int) const", "f()::{lambda#1}::operator()<int>"),
        ("f()::'lambda'()::~()", "f()::{lambda#1}::~"),
        ("f()::$_0::operator()[abi:cxx11]() const", "f()::$_0::operator()"),
        (
            "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >::size() const",
            "std::string::size",
        ),
        ("std::__1::vector<int, std::__1::allocator<int>>::~vector()", "std::vector<...>::~vector"),
        ("absl::lts_20260107::StatusOr<int>::value() &&", "absl::StatusOr<int>::value"),
        ("absl::lts_20260107::Status xla::Foo<int>::Bar<long>(int)", "xla::Foo<int>::Bar<long>"),
        ("unsigned long ns::f<int>(unsigned char)", "ns::f<int>"),
        ("decltype(auto) ns::f<int>(int (*)(char))", "ns::f<int>"),
        ("decltype (fp.g(1)) ns::f<int>(int)", "ns::f<int>"),
        ("void (*ns::pick<int>(int))(double)", "ns::pick<int>"),
        ("std::ostream& ns::operator<< <int>(std::ostream&, ns::V<int> const&)", "ns::operator<<<int>"),
        ("Log& Log::operator<<<57>(char const (&) [57])", "Log::operator<<<57>"),
        ("bool operator< <int>(V<int> const&, V<int> const&)", "operator<<int>"),
        ("ns::V::operator[](unsigned long)", "ns::V::operator[]"),
        ("ns::V::operator->() const", "ns::V::operator->"),
        ("ns::V::operator==(ns::V const&) const", "ns::V::operator=="),
        ("ns::V::operator=(ns::V&&)", "ns::V::operator="),
        ("ns::V::operator new(unsigned long)", "ns::V::operator new"),
        ("operator delete[](void*)", "operator delete[]"),
        ("V::operator bool() const", "V::operator bool"),
        ("V::operator std::vector<int>() const", "V::operator std::vector<int>"),
        ('ns::operator"" _km(long double)', 'ns::operator""_km'),
        ("non-virtual thunk to xla::Foo::Bar()", "xla::Foo::Bar"),
        ("xla::Foo<(a)1, (4 > 2), &ns::operator< >::Bar(int) const &", "xla::Foo<...>::Bar"),
        ("f(int) [clone .cold]", "f"),
        ("ns::f(int)::Local::method(char)", "ns::f(...)::Local::method"),
        ("requiresReplacedValues(int)", "requiresReplacedValues"),
        ("_RNvCs1234_7mycrate3foo", "_RNvCs1234_7mycrate3foo"),
        ("", ""),
        ("((((", "(((("),
    ]
    for symbol, expected in cases:
        assert readable_name(symbol) == expected


@pytest.mark.parametrize(
    ("symbol", "key", "parameters", "is_const"),
    [
        ("int a::B<int>::c<long>(int, M<int, char>) const", ("a", "B", "c"), ("int", "M<int, char>"), True),
        ("a::f(void)", ("a", "f"), (), False),
        ("a::f(int)::{lambda(char)#1}::operator()(char) const", ("a", "f", "(lambda)"), ("char",), True),
        ("plain", ("plain",), None, False),
    ],
)
def test_a_symbol_is_parsed_into_its_parts(
    symbol: str, key: tuple[str, ...], parameters: tuple[str, ...] | None, is_const: bool
) -> None:
    name = parse_name(symbol)
    assert (name.key, name.parameters, name.is_const) == (key, parameters, is_const)


def test_parameters_are_split_at_the_top_level_only() -> None:
    assert split_parameters("int a, std::pair<int, int> b = {1, 2}, void (*c)(int, int)") == (
        "int a",
        "std::pair<int, int> b = {1, 2}",
        "void (*c)(int, int)",
    )


def test_a_deeply_nested_name_takes_linear_time() -> None:
    """100,000 nested brackets are processed quickly and without recursion."""
    assert readable_name("f<" * 100_000 + ">" * 100_000 + "(int)") == "f<...>"


def test_the_name_of_a_function_with_nested_pointer_returns_is_parsed() -> None:
    depth = 5_000
    assert readable_name("void " + "(*" * depth + "f(int)" + ")(char)" * depth) == "f"

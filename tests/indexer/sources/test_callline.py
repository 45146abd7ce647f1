"""Lines of calls, from a body's source and its compiled calls."""

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from framedex.binaries.names import readable_name
from framedex.model import Definition, LocationEvidence
from framedex.sources import parse_file
from framedex.sources.bodies import CallerBody, CallForm, FunctionBodies, call_form_of
from framedex.sources.call_lines import find_call_lines
from framedex.sources.calls import WrittenCall, written_calls
from framedex.sources.implicit import count_implicit_names, count_member_types, find_implicit_calls

SOURCE = """\
#define CHECK_OK(x) if (!Ok(x)) Fail(__LINE__)
int body(int a, Thing* thing) {
  First(a);
  if (a) {
    thing->Twice(Inner(a,
                       2));
    Second();
  } else {
    Third();
    thing->Twice(1);
    Fourth();
  }
  auto later = [&](int x) { OnlyInLambda(x); };
  CHECK_OK(a);
  Outer(Name<int, long>(a), "a, (b", ',');
  wide::
      Qualified(a);
  Status status(a, 2);
  Empty empty;
  return a + Overloaded(a) + Overloaded(a, 2);
}
"""
REACHES = {("Second", "Deep"), ("Fourth", "Deep"), ("CHECK_OK", "Fail"), ("Inner", "OnlyThrough")}


@pytest.fixture
def caller(tmp_path: Path) -> CallerBody:
    return compiled(tmp_path)


def compiled(folder: Path, *names: str) -> CallerBody:
    """The function compiled to calls with these names, in order."""
    path = folder / "body.cc"
    path.write_text(SOURCE)
    calls = [CallForm(name, "call", None) for name in names]
    sites = written_calls(SOURCE.encode(), parse_file(path).definitions)
    return CallerBody((2, 21), sites, calls, lambda i: (calls[:i][::-1], calls[i + 1 :]), compiler="clang")


def reaches(site: WrittenCall, callee: CallForm, hops: int) -> bool:
    return (site.callee, callee.name) in REACHES


@pytest.mark.parametrize(
    ("symbol", "how", "line"),
    [
        ("First(int)", LocationEvidence.SINGLE, 3),
        ("Inner(int, int)", LocationEvidence.SINGLE, 5),
        ("ns::Third()", LocationEvidence.SINGLE, 9),
        ("OnlyInLambda(int)", LocationEvidence.INLINED_HOP, 13),
        ("Fail(int)", LocationEvidence.SINGLE, 14),
        ("int Name<int, long>(int)", LocationEvidence.SINGLE, 15),
        ("wide::Qualified(int)", LocationEvidence.SINGLE, 16),
        ("Status::Status(int, int)", LocationEvidence.SINGLE, 18),
        ("Status::Status()", None, 0),
        ("Empty::Empty()", LocationEvidence.SINGLE, 19),
        ("Overloaded(int, int)", LocationEvidence.RANKED, 20),
        ("OnlyThrough()", LocationEvidence.INLINED_HOP, 5),
        ("Unknown()", None, 0),
    ],
)
def test_a_call_is_found_by_its_name(caller: CallerBody, symbol: str, how: LocationEvidence | None, line: int) -> None:
    callee = call_form_of(symbol)
    assert callee is not None
    found, lines = find_call_lines(caller, callee, None, reaches)
    if len(set(lines)) == 1 and how is LocationEvidence.RANKED:
        how = found
    assert (found, lines[:1]) == (how, (line,) if line else ())


@pytest.mark.parametrize("symbol", ["f()::$_0::operator()() const", "Thing::operator bool()", ""])
def test_unnamed_calls_are_not_searched(symbol: str) -> None:
    assert call_form_of(symbol) is None


@pytest.mark.parametrize(
    ("symbol", "written"), [("__isoc99_sscanf", "sscanf"), ("__memcpy_chk", "memcpy"), ("fopen64", "fopen")]
)
def test_a_function_of_the_c_library_has_the_name_that_its_header_gives(symbol: str, written: str) -> None:
    assert call_form_of(symbol) == CallForm(written, "call", None)


def test_neighbouring_calls_choose_among_several(tmp_path: Path) -> None:
    """If the compiler swapped blocks of a body, a call is found by its neighbours."""
    swapped = compiled(tmp_path, "First", "Third", "Twice", "Fourth", "Inner", "Twice", "Second")

    first = find_call_lines(swapped, CallForm("Twice", "call", None), 2, reaches)
    second = find_call_lines(swapped, CallForm("Twice", "call", None), 5, reaches)

    assert first == (LocationEvidence.RANKED, (10, 5))
    assert second == (LocationEvidence.RANKED, (5, 10))


def test_a_call_from_nested_inlined_functions_has_all_of_them_as_candidates(caller: CallerBody) -> None:
    how, lines = find_call_lines(caller, CallForm("Deep", "call", None), None, reaches)
    assert how is LocationEvidence.INLINED_HOP and set(lines) == {7, 11}


def test_a_unique_call_is_uncertain_if_an_inlined_function_has_the_same_call(tmp_path: Path) -> None:
    """If a name has one call in the body and two in the code, the inlined one is a candidate too."""
    twice = compiled(tmp_path, "First", "Third", "Third")
    how, lines = find_call_lines(twice, CallForm("Third", "call", None), 1, lambda site, *_: site.callee == "Fourth")
    assert how is LocationEvidence.RANKED and set(lines) == {9, 11}


def test_a_macro_is_uncertain_if_the_code_has_its_call_more_often(tmp_path: Path) -> None:
    """Other inlined calls may be unknown, such as functions defined by a macro."""
    once, twice = compiled(tmp_path, "First", "Fail"), compiled(tmp_path, "Fail", "First", "Fail")
    assert find_call_lines(once, CallForm("Fail", "call", None), 1, reaches) == (LocationEvidence.SINGLE, (14,))
    assert find_call_lines(twice, CallForm("Fail", "call", None), 2, reaches) == (LocationEvidence.RANKED, (14,))


def test_a_unique_call_is_uncertain_if_an_inlined_namesake_may_forward_it(tmp_path: Path) -> None:
    """`Overloaded(a, 2)` may call `Overloaded(a)` as `swap(a, b)` calls `a.swap(b)`; compiled itself, it does not."""
    one = CallForm("Overloaded", "call", 1)
    inlined = compiled(tmp_path, "First")
    inlined = replace(inlined, compiled_calls=[*inlined.compiled_calls, one])
    both = replace(inlined, compiled_calls=[*inlined.compiled_calls, CallForm("Overloaded", "call", 2)])
    assert find_call_lines(inlined, one, 1, reaches) == (LocationEvidence.RANKED, (20,))
    assert find_call_lines(both, one, 1, reaches) == (LocationEvidence.SINGLE, (20,))


def calling(called_in: dict[str, list[str]]) -> FunctionBodies:
    """The callers, functions and macros, of each name."""
    return FunctionBodies(
        lambda _: (), lambda _: {}, lambda name, *_: [Counter(called_in[name])] if name in called_in else []
    )


@pytest.mark.parametrize("length", [3, 5000])
@pytest.mark.parametrize("last", ["Fail", "FAIL_0"])
def test_macros_are_expanded_recursively(length: int, last: str) -> None:
    """However long the chain is, as in counting macros, and for a cycle."""
    inside = {f"FAIL_{i}": [f"FAIL_{i + 1}"] for i in range(length)} | {f"FAIL_{length}": [last]}
    bodies = calling(inside)
    for hops in (1, 3):
        found = bodies.reaches(WrittenCall(1, "call", "FAIL_0", 1), CallForm("Fail", "call", None), hops)
        assert found == (last == "Fail" and length < 1000)  # more than the limit


def test_mutually_recursive_calls_reach_the_same_set() -> None:
    inside = {"ONE": ["OTHER"], "OTHER": ["ONE", "Fail"], "even": ["odd"], "odd": ["even", "Fail"]}
    for first in inside:
        bodies = calling(inside)
        for name in (first, *inside):
            assert bodies.reaches(WrittenCall(1, "call", name, 1), CallForm("Fail", "call", None), 2) == 1


@pytest.mark.exhaustive
def test_of_very_many_calls_the_nearest_in_order_come_first(tmp_path: Path) -> None:
    """The number of calls with neighbour checks is limited: two thousand would take seconds."""
    count = 1500
    path = tmp_path / "long.cc"
    path.write_text("void body(int a) {\n" + "  step(a);\n  other(a);\n" * count + "}\n")
    calls = [CallForm(name, "call", None) for _ in range(count) for name in ("step", "other")]
    sites = written_calls(path.read_bytes(), parse_file(path).definitions)
    looked_at = []

    def neighbours(i: int) -> tuple[list[CallForm], list[CallForm]]:
        looked_at.append(i)
        return calls[max(i - 8, 0) : i][::-1], calls[i + 1 : i + 9]

    caller = CallerBody((1, 2 * count + 2), sites, calls, neighbours, compiler="clang")
    how, lines = find_call_lines(caller, calls[0], count, reaches)
    assert how is LocationEvidence.RANKED and len(lines) == count and abs(lines[0] - (count + 2)) < 200
    assert looked_at == [count]


_NUMBERED = """\
void body(int a) {
  CHECK_OK(a);
  CHECK_OK(a + 1);
  Emit(0x80, a, true);
  Emit(-2, a, false);
}
"""


def numbered(folder: Path, name: str, passed: list[int]) -> CallerBody:
    """The function compiled to two calls of this name, the first with these number arguments."""
    path = folder / "numbered.cc"
    path.write_text(_NUMBERED)
    sites = written_calls(_NUMBERED.encode(), parse_file(path).definitions)
    call = CallForm(name, "call", None)
    return CallerBody((1, 6), sites, [call, call], lambda _: ((), ()), lambda i: () if i else passed)


def test_a_macro_call_has_the_line_of_its_use(tmp_path: Path) -> None:
    for line in (2, 3):
        caller = numbered(tmp_path, "Fail", [line, 700])
        assert find_call_lines(caller, CallForm("Fail", "call", None), 0, reaches)[1][0] == line


def test_numeric_arguments_distinguish_calls(tmp_path: Path) -> None:
    for passed, line in (([0x80, 1], 4), ([0xFFFFFFFE], 5)):
        caller = numbered(tmp_path, "Emit", passed)
        assert find_call_lines(caller, CallForm("Emit", "call", None), 0, reaches)[1][0] == line


_SCOPES = """\
struct Held { ~Held(); };
struct Owner : Base { Held held; ~Owner(); Owner(int a); };
Owner::~Owner() {
  Stop();
}
Owner::Owner(int a)
    : a_(a) {
  Start();
}
void scopes(Thing* thing, Other* other) {
  Guard outer(1);
  if (Check()) {
    Guard inner;
    auto made = std::make_unique<Thing>(2);
    return;
  }
  delete other;
  static Forever forever;
  Argument(Temporary(3));
  Owner owner(4);
  Put("text", 5);
}
"""


def scope_line(folder: Path, span: tuple[int, int], symbol: str) -> tuple[LocationEvidence | None, tuple[int, ...]]:
    """The line of an implicit call in the function of these lines."""
    path = folder / "scopes.cc"
    path.write_text(_SCOPES)
    definitions = parse_file(path).definitions
    bodies = FunctionBodies(lambda name: [(str(path), each) for each in definitions if name in each.name], lambda _: {})
    callee = call_form_of(symbol)
    assert callee is not None
    caller = CallerBody(span, written_calls(_SCOPES.encode(), definitions), (), lambda _: ((), ()))
    return find_call_lines(caller, callee, None, bodies.reaches)


@pytest.mark.parametrize(
    ("symbol", "lines"),
    [
        ("ns::Guard::~Guard()", (16, 22)),  # the closing braces of both scopes, not the lines of the variables
        ("Thing::~Thing()", (16,)),
        ("Other::~Other()", (17,)),
        ("Temporary::~Temporary()", (19,)),
        ("Held::~Held()", (22,)),
        ("operator delete(void*)", (17,)),
    ],
)
def test_a_destructor_runs_at_a_scope_end_or_delete(tmp_path: Path, symbol: str, lines: tuple[int, ...]) -> None:
    how, found = scope_line(tmp_path, (10, 22), symbol)
    assert tuple(sorted(found)) == lines and how in (LocationEvidence.RANKED, LocationEvidence.INLINED_HOP)


def test_members_and_bases_are_constructed_at_the_lines_of_their_class(tmp_path: Path) -> None:
    assert scope_line(tmp_path, (3, 5), "Held::~Held()") == (LocationEvidence.INLINED_HOP, (5,))
    assert scope_line(tmp_path, (3, 5), "Base::~Base()") == (LocationEvidence.INLINED_HOP, (5,))
    how, lines = scope_line(tmp_path, (6, 9), "Held::Held()")
    assert how is LocationEvidence.INLINED_HOP and set(lines) == {6, 7}  # for clang, and for gcc


def test_an_operator_is_uncertain_because_built_in_types_have_it(tmp_path: Path) -> None:
    path = tmp_path / "operators.cc"
    path.write_text(text := "void f(int a, int b, T t) {\n  a = b;\n}\n")
    caller = CallerBody((1, 3), written_calls(text.encode(), parse_file(path).definitions), (), lambda _: ((), ()))
    callee = call_form_of("T::operator=(T const&)")
    assert callee is not None
    assert find_call_lines(caller, callee, None, reaches) == (LocationEvidence.RANKED, (2,))


@pytest.mark.parametrize(
    ("compiler", "how", "lines"),
    [
        ("clang", LocationEvidence.SINGLE, (5,)),
        ("gcc", LocationEvidence.RANKED, (4, 5)),
        ("", LocationEvidence.RANKED, (5, 4)),
    ],
)
def test_gcc_may_assign_the_line_of_an_argument_to_its_call(
    tmp_path: Path, compiler: str, how: LocationEvidence, lines: tuple[int, ...]
) -> None:
    source = "\nint Outer(int);\nint body() {\n  return Outer(\n      Inner());\n}\n"
    path = tmp_path / "argument.cc"
    path.write_text(source)
    sites = written_calls(source.encode(), parse_file(path).definitions)
    caller = CallerBody((3, 6), sites, (), lambda _: ((), ()), compiler=compiler)
    assert find_call_lines(caller, CallForm("Inner", "call", None), None, reaches) == (how, lines)


def test_a_macro_with_the_same_callee_makes_a_written_call_uncertain(tmp_path: Path) -> None:
    source = "int body() {\n  CHECK_OK(1);\n  Fail(2);\n}\n"
    path = tmp_path / "macro.cc"
    path.write_text(source)
    sites = written_calls(source.encode(), parse_file(path).definitions)
    fail = CallForm("Fail", "call", None)
    caller = CallerBody((1, 4), sites, (fail,), lambda _: ((), ()), compiler="clang")
    assert find_call_lines(caller, fail, 0, reaches) == (LocationEvidence.RANKED, (3, 2))


def test_a_comment_after_a_directive_is_not_a_qualifier(tmp_path: Path) -> None:
    source = "int body() {\n#if 1\n#endif  // a::\n  Called();\n  return\n      ::Global();\n}\n"
    path = tmp_path / "comment.cc"
    path.write_text(source)
    (calls,) = written_calls(source.encode(), parse_file(path).definitions).values()
    assert [(call.callee, call.line) for call in calls] == [("Called", 4), ("Global", 6)]


def test_string_arguments_distinguish_calls_of_one_callee(tmp_path: Path) -> None:
    source = (
        'void body() {\n  Log("first\\n");\n  Log("second" " half");\n  CHECK_THAT(a < b);\n  CHECK_THAT(a > b);\n}\n'
    )
    path = tmp_path / "texts.cc"
    path.write_text(source)
    sites = written_calls(source.encode(), parse_file(path).definitions)
    for name, text, line in [("Log", b"first\n", 2), ("Log", b"second half", 3), ("CHECK_THAT", b"a > b", 5)]:
        callee = CallForm(name, "call", None)
        caller = CallerBody((1, 6), sites, [callee], lambda _: ((), ()))
        told = replace(caller, passed_strings=partial(_passing, text))
        assert find_call_lines(told, callee, 0, reaches)[1][0] == line


STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
PAIRS = "std::vector<std::pair<int, int>, std::allocator<std::pair<int, int> > >"


@pytest.mark.parametrize(
    ("symbol", "how"),
    [
        ("ns::Status::Status(ns::Status const&)", LocationEvidence.RANKED),
        ("ns::Status::Status(ns::Status&&)", LocationEvidence.RANKED),
        ("ns::Status::Status(ns::Code)", LocationEvidence.SINGLE),
        ("StatusOr<std::vector<int> >::StatusOr(StatusOr<std::vector<int> > const&)", LocationEvidence.RANKED),
        ("StatusOr<std::vector<int> >::StatusOr(std::vector<int> const&)", LocationEvidence.SINGLE),
        (f"{PAIRS}::vector({PAIRS} const&)", LocationEvidence.RANKED),
        ("std::unique_ptr<ns::Status>::unique_ptr(std::unique_ptr<ns::Status>&&)", LocationEvidence.RANKED),
        ("std::unique_ptr<ns::Status>::unique_ptr(ns::Status*)", LocationEvidence.SINGLE),
        (f"{STRING}::basic_string({STRING} const&)", LocationEvidence.RANKED),
        ("std::string::basic_string(std::string&&)", LocationEvidence.RANKED),
        (f"std::vector<{STRING}>::vector(std::vector<{STRING}>&&)", LocationEvidence.RANKED),
        ("std::ostringstream::basic_ostringstream(std::basic_ostringstream<char>&&)", LocationEvidence.RANKED),
    ],
)
def test_a_copy_is_uncertain_because_library_code_copies(tmp_path: Path, symbol: str, how: LocationEvidence) -> None:
    name = readable_name(symbol).split("::")[-1].removeprefix("basic_")
    source = f"void body() {{\n  {name} object(other);\n}}\n"
    path = tmp_path / "copies.cc"
    path.write_text(source)
    sites = written_calls(source.encode(), parse_file(path).definitions)
    callee = call_form_of(symbol)
    assert callee is not None
    caller = CallerBody((1, 3), sites, [callee], lambda _: ((), ()), compiler="clang")
    assert find_call_lines(caller, callee, 0, reaches) == (how, (2,))


@pytest.mark.parametrize(("text", "lines"), [(b"second", (3,)), (b"unknown", ())])
def test_a_literal_is_converted_on_the_line_of_the_call_that_has_it(
    tmp_path: Path, text: bytes, lines: tuple[int, ...]
) -> None:
    source = 'void body() {\n  store("first");\n  store("second");\n  new Set{\n    "second"};\n}\n'
    path = tmp_path / "literals.cc"
    path.write_text(source)
    sites = written_calls(source.encode(), parse_file(path).definitions)
    callee = CallForm("Text", "construct", 1)
    caller = CallerBody((1, 6), sites, [callee], lambda _: ((), ()), passed_strings=partial(_passing, text))
    assert find_call_lines(caller, callee, 0, reaches)[1] == lines


@pytest.mark.parametrize(("compiler", "how"), [("clang", LocationEvidence.SINGLE), ("gcc", LocationEvidence.RANKED)])
def test_gcc_may_construct_a_base_on_the_line_of_another_initializer(
    tmp_path: Path, compiler: str, how: LocationEvidence
) -> None:
    source = "Derived::Derived() :\n  Base(1),\n  member(2)\n{\n}\n"
    path = tmp_path / "initializers.cc"
    path.write_text(source)
    sites = written_calls(source.encode(), parse_file(path).definitions)
    callee = CallForm("Base", "construct", 1)
    caller = CallerBody((1, 5), sites, [callee], lambda _: ((), ()), compiler=compiler)
    assert find_call_lines(caller, callee, 0, reaches) == (how, (2,))


def _passing(text: bytes, _: int) -> set[bytes]:
    return {text}


@pytest.mark.exhaustive(keep=["a<b "])
@pytest.mark.parametrize(
    "text", [b"delete abc;\n", b"/* ", b'R"(', b"{ auto a = b();\n", b"\n", b"a<b ", b"auto a = <"]
)
def test_a_hostile_function_is_parsed_in_linear_time(text: bytes) -> None:
    """Each of these once took minutes or hours, quadratic in its length."""
    source = b"void f() {\n" + text * (300_000 // len(text)) + b"\n}\n"
    lines = source.count(b"\n")
    definition = Definition("f", "function", None, 1, lines)
    starts = [0, *(match.start() for match in re.finditer(rb"^", source, re.M))]

    list(find_implicit_calls(source, starts, definition, ()))
    count_implicit_names(source, definition)
    count_member_types(source)


@pytest.mark.parametrize(("count", "how"), [(200, LocationEvidence.SINGLE), (5_000, None)])
def test_macros_are_followed_to_a_realistic_depth(tmp_path: Path, count: int, how: LocationEvidence | None) -> None:
    """Macros that each use the next one, the last also the first, and a call."""
    macros = [f"#define M_{i}() M_{i + 1}()" for i in range(count)] + [f"#define M_{count}() M_0() + Deep()"]
    text = "\n".join([*macros, "void body() {", "  M_0();", "}", ""])
    path = tmp_path / "macros.cc"
    path.write_text(text)
    definitions = parse_file(path).definitions
    named = {each.name: [(str(path), each)] for each in definitions}
    bodies = FunctionBodies(lambda name: named.get(name, ()), lambda _: {})
    sites = written_calls(text.encode(), definitions)
    caller = CallerBody((count + 2, count + 4), sites, (), lambda _: ((), ()))

    found = find_call_lines(caller, CallForm("Deep", "call", 0), None, bodies.reaches)
    assert found == (how, (count + 3,) if how else ())


@pytest.mark.exhaustive
def test_for_very_many_calls_address_order_decides(tmp_path: Path) -> None:
    """A function that calls another one 20,000 times."""
    count = 20_000
    text = "void body() {\n" + "  Again();\n" * count + "}\n"
    path = tmp_path / "again.cc"
    path.write_text(text)
    calls = [CallForm("Again", "call", 0)] * count
    sites = written_calls(text.encode(), parse_file(path).definitions)
    caller = CallerBody((1, count + 2), sites, calls, lambda _: (calls[:8], calls[:8]))

    how, lines = find_call_lines(caller, calls[0], 4_999, lambda *_: 0)
    assert (how, lines[0], len(lines)) == (LocationEvidence.RANKED, 5_001, count)


def test_a_destructor_without_an_object_has_no_line(tmp_path: Path) -> None:
    path = tmp_path / "body.cc"
    path.write_text("void body() {\n  CHECK_OK(1);\n}\n")
    sites = written_calls(path.read_bytes(), parse_file(path).definitions)
    body = CallerBody((1, 3), sites, [CallForm("~Fail", "destroy", 0)], lambda _: ((), ()), compiler="clang")

    assert find_call_lines(body, CallForm("~Other", "destroy", 0), None, reaches) == (None, ())
    how, lines = find_call_lines(body, CallForm("~Fail", "destroy", 0), 0, reaches)  # of a temporary of the macro
    assert how is not None and lines == (2,)

"""Lines of calls, from a body as written and as compiled."""

from pathlib import Path

import pytest

from framedex.model import How
from framedex.sources import parse_file
from framedex.sources.callline import Called, Caller, call_line, called
from framedex.sources.calls import WrittenCall, written_calls

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
def caller(tmp_path: Path) -> Caller:
    return compiled(tmp_path)


def compiled(folder: Path, *names: str) -> Caller:
    """The function as if it had been compiled to calls of these names, one after the other."""
    path = folder / "body.cc"
    path.write_text(SOURCE)
    calls = [Called(name, "call", None) for name in names]
    sites = written_calls(SOURCE.encode(), parse_file(path).definitions)
    return Caller((2, 21), sites, calls, lambda i: (calls[:i][::-1], calls[i + 1 :]))


def reaches(site: WrittenCall, callee: Called, hops: int) -> bool:
    return (site.callee, callee.name) in REACHES


@pytest.mark.parametrize(
    ("symbol", "how", "line"),
    [
        ("First(int)", How.SINGLE, 3),
        ("Inner(int, int)", How.SINGLE, 5),
        ("ns::Third()", How.SINGLE, 9),
        ("OnlyInLambda(int)", How.INLINED_HOP, 13),
        ("Fail(int)", How.SINGLE, 14),
        ("int Name<int, long>(int)", How.SINGLE, 15),
        ("wide::Qualified(int)", How.SINGLE, 16),
        ("Status::Status(int, int)", How.SINGLE, 18),
        ("Status::Status()", None, 0),
        ("Empty::Empty()", How.SINGLE, 19),
        ("Overloaded(int, int)", How.RANKED, 20),
        ("OnlyThrough()", How.INLINED_HOP, 5),
        ("Unknown()", None, 0),
    ],
)
def test_a_call_is_found_by_its_name(caller: Caller, symbol: str, how: How | None, line: int) -> None:
    callee = called(symbol)
    assert callee is not None
    found, lines = call_line(caller, callee, None, reaches)
    if len(set(lines)) == 1 and how is How.RANKED:
        how = found
    assert (found, lines[:1]) == (how, (line,) if line else ())


@pytest.mark.parametrize("symbol", ["Thing::~Thing()", "f()::$_0::operator()() const", "Thing::operator bool()", ""])
def test_what_is_not_called_by_name_is_not_looked_for(symbol: str) -> None:
    assert called(symbol) is None


def test_between_several_the_neighbours_decide(tmp_path: Path) -> None:
    """Given a body whose blocks were swapped by the compiler, then a call is found by what runs around it."""
    swapped = compiled(tmp_path, "First", "Third", "Twice", "Fourth", "Inner", "Twice", "Second")

    first = call_line(swapped, Called("Twice", "call", None), 2, reaches)
    second = call_line(swapped, Called("Twice", "call", None), 5, reaches)

    assert first == (How.RANKED, (10, 5))
    assert second == (How.RANKED, (5, 10))


def test_a_call_from_inside_inlined_functions_has_all_of_them_as_candidates(caller: Caller) -> None:
    how, lines = call_line(caller, Called("Deep", "call", None), None, reaches)
    assert how is How.INLINED_HOP and set(lines) == {7, 11}


def test_a_single_call_is_no_fact_where_an_inlined_function_calls_the_same(tmp_path: Path) -> None:
    """Given one call of a name in the body and two in the code, then the one that was inlined is a candidate too."""
    twice = compiled(tmp_path, "First", "Third", "Third")
    how, lines = call_line(twice, Called("Third", "call", None), 1, lambda site, *_: site.callee == "Fourth")
    assert how is How.RANKED and set(lines) == {9, 11}


_NUMBERED = """\
void body(int a) {
  CHECK_OK(a);
  CHECK_OK(a + 1);
  Emit(0x80, a, true);
  Emit(-2, a, false);
}
"""


def numbered(folder: Path, name: str, passed: list[int]) -> Caller:
    """The function as if it had been compiled to two calls of this name, the first of which is passed these numbers."""
    path = folder / "numbered.cc"
    path.write_text(_NUMBERED)
    sites = written_calls(_NUMBERED.encode(), parse_file(path).definitions)
    call = Called(name, "call", None)
    return Caller((1, 6), sites, [call, call], lambda _: ((), ()), lambda i: () if i else passed)


def test_the_line_that_a_macro_passes_on_is_that_of_the_call(tmp_path: Path) -> None:
    for line in (2, 3):
        caller = numbered(tmp_path, "Fail", [line, 700])
        assert call_line(caller, Called("Fail", "call", None), 0, reaches)[1][0] == line


def test_numbers_among_the_arguments_tell_calls_apart(tmp_path: Path) -> None:
    for passed, line in (([0x80, 1], 4), ([0xFFFFFFFE], 5)):
        caller = numbered(tmp_path, "Emit", passed)
        assert call_line(caller, Called("Emit", "call", None), 0, reaches)[1][0] == line

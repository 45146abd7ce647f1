"""Lines of calls that GCC leaves of inlined standard functions, of destructors, and of `new`, `delete` and `assert`."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from framedex.binaries import Binary
from framedex.model import LocationEvidence
from framedex.sources.bodies import CallForm, FunctionBodies, call_form_of, find_calls_in_file
from framedex.sources.calls import WrittenCall
from framedex.sources.extraction import parse_file
from framedex.sources.frame_lines import FrameLines, LineEstimate

RANKED, INLINED_HOP = LocationEvidence.RANKED, LocationEvidence.INLINED_HOP

_SOURCE = """\
#include <cassert>
#include <set>
#include <string>
#include <vector>
struct Shape { virtual ~Shape(); virtual Shape* copy(); virtual void draw(); };
struct Alloc { void (*free)(void*); };
struct First { First(); int side[4]; };
struct Second { Second(); int side[8]; };
void use(int);
void use_text(const std::string&);
void fail(const char*);
inline int checked(int n) {
  assert(n != 9);
  return n;
}
#define ENSURE(condition) if (!(condition)) fail(#condition)
inline void clear(int n) { if (n > 3) fail("clear"); }

void grow(std::vector<int>& numbers, std::set<int>& known, int n) {
  use(n);
  numbers.push_back(n);
  use(1);
  known.insert(n);
}

void concatenate(std::string& text, const std::string& other) {
  text += "first";
  text += other + "second";
  text.append("third");
  use_text(text);
}

void create(First** first, Second** second, Shape* shape) {
  use(0);
  shape->copy();
  *first = new First;
  *second = new Second;
}

void destroy(Shape* shape, char* text) {
  shape->draw();
  use(1);
  delete shape;
  use(2);
  delete[] text;
  use(3);
}

void release(Alloc* alloc, void* memory, Shape* shape) {
  use(0);
  alloc->free(memory);
  use(1);
  delete shape;
}

void check(int n, int other) {
  use(n);
  assert(n > other);
  use(other);
  assert(other > 5);
  use(checked(n));
}

struct Status { Status(); Status(Status&&); ~Status(); Status& operator=(Status&&); bool ok() const; };
#define RETURN_IF_ERROR(expression) if (Status _s = (expression); !_s.ok()) return 1
Status open(int);
Status write(int);

int forward(int n) {
  RETURN_IF_ERROR(open(n));
  use(n);
  RETURN_IF_ERROR(write(n));
  RETURN_IF_ERROR(write(n + 1));
  return 0;
}

void keep(int n) {
  Status status;
  use(n);
  status = open(n);
  use(1);
}

void hold(int n) {
  use(0);
  {
    std::string text(n, 'x');
    use_text(text);
  }
  use(1);
}

void ensure(int n) {
  ENSURE(n != 7);
  use(n);
  clear(0);
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> tuple[Binary, Path]:
    folder = tmp_path_factory.mktemp("standard")
    (folder / "a.cc").write_text(_SOURCE)
    subprocess.run(["g++", "-O2", "-std=c++17", "-fPIC", "-shared", "a.cc", "-o", "a.so"], cwd=folder, check=True)
    return Binary.open(folder / "a.so"), folder / "a.cc"


def find_lines(library: tuple[Binary, Path], function: str, callee: str, below: str = "") -> list[LineEstimate | None]:
    """The estimates for each call of `callee` in a function, in address order.

    An empty `callee` means calls through a table of virtual functions, with the frame `below`.
    """
    binary, path = library
    definitions = parse_file(path).definitions
    (own,) = (each for each in definitions if each.name == function)
    symbol = next(each for each in binary.symbols or () if each.mangled.startswith(f"_Z{len(function)}{function}"))
    code = binary.code_around(symbol.start)
    assert code is not None
    bodies = FunctionBodies(
        lambda name: [(str(path), each) for each in definitions if each.name.rpartition("::")[2] == name],
        lambda name: find_calls_in_file(name, definitions),
    )
    found = []
    for call in code.calls:
        name = binary.function_at(call.target) if call.target else ""
        if call.return_address and name is not None and (callee in name if callee else not name):
            span = own.line, own.end_line
            found.append(FrameLines().find(str(path), span, bodies, binary, call.return_address, [below or name]))
    return found


def first_lines(found: list[LineEstimate | None]) -> list[str]:
    """The text of the first line of each estimate."""
    lines = _SOURCE.splitlines()
    return [lines[each.lines[0] - 1].strip() if each else "" for each in found]


@pytest.mark.parametrize(
    ("callee", "line"), [("_M_realloc_insert", "numbers.push_back(n);"), ("_M_insert_unique", "known.insert(n);")]
)
def test_a_call_that_remains_of_a_standard_function_is_on_its_line(
    library: tuple[Binary, Path], callee: str, line: str
) -> None:
    (found,) = find_lines(library, "grow", callee)
    assert found is not None and found.how is INLINED_HOP
    assert first_lines([found]) == [line]


def test_the_string_of_an_operator_distinguishes_concatenations(library: tuple[Binary, Path]) -> None:
    found = first_lines(find_lines(library, "concatenate", "_M_append"))
    assert {'text += "first";', 'text.append("third");'} <= {*found}


def test_new_is_on_the_line_of_its_constructor(library: tuple[Binary, Path]) -> None:
    """`copy` is a virtual call: no name in the machine code says that it is not inlined."""
    found = find_lines(library, "create", "operator new")
    assert first_lines(found) == ["*first = new First;", "*second = new Second;"]
    assert [each.how for each in found if each] == [RANKED, RANKED]


@pytest.mark.parametrize("below", ["Circle::~Circle()", "operator delete(void*, unsigned long)", "free"])
def test_a_virtual_destructor_runs_at_a_deletion(library: tuple[Binary, Path], below: str) -> None:
    """The frame below is of any derived class, or of the function that the destructor jumps to."""
    *_, found = find_lines(library, "destroy", "", below)
    assert found is not None and found.how is RANKED
    assert first_lines([found])[0].startswith("delete")


def test_a_written_call_stays_possible_beside_a_deletion(library: tuple[Binary, Path]) -> None:
    found, *_ = find_lines(library, "release", "", "free")
    assert found is not None
    lines = _SOURCE.splitlines()
    assert "alloc->free(memory);" in {lines[line - 1].strip() for line in found.lines}


def test_deletions_of_arrays_differ_from_those_of_objects(library: tuple[Binary, Path]) -> None:
    assert first_lines(find_lines(library, "destroy", "operator delete[]")) == ["delete[] text;"]
    _, path = library
    definitions = parse_file(path).definitions
    (own,) = (each for each in definitions if each.name == "destroy")
    written = find_calls_in_file(str(path), definitions)[own.line, own.end_line]
    assert [each.callee for each in written if each.kind == "delete"] == ["operator delete", "operator delete[]"]


def test_an_assertion_is_on_the_line_that_it_passes(library: tuple[Binary, Path]) -> None:
    """An assertion of an inlined function passes the function's signature."""
    found = find_lines(library, "check", "__assert_fail")
    lines = dict(zip(first_lines(found), (each.how for each in found if each), strict=True))
    assert lines == {"assert(n > other);": RANKED, "assert(other > 5);": RANKED, "use(checked(n));": INLINED_HOP}


def test_a_status_is_destroyed_at_the_macro_that_declares_it(library: tuple[Binary, Path]) -> None:
    found = first_lines(find_lines(library, "forward", "~Status"))
    for line in ("RETURN_IF_ERROR(open(n));", "RETURN_IF_ERROR(write(n));", "RETURN_IF_ERROR(write(n + 1));"):
        assert line in found


def test_the_result_of_a_call_is_destroyed_after_its_assignment(library: tuple[Binary, Path]) -> None:
    found = find_lines(library, "keep", "~Status")
    assert first_lines(found)[:2] == ["status = open(n);", "}"]


def test_memory_of_a_string_is_freed_at_the_end_of_its_scope(library: tuple[Binary, Path]) -> None:
    found, *_ = find_lines(library, "hold", "operator delete")
    assert found is not None and found.how is INLINED_HOP
    _, path = library
    (own,) = (each for each in parse_file(path).definitions if each.name == "hold")
    assert found.lines[0] == own.line + 5


@pytest.mark.parametrize(
    ("symbol", "written"),
    [
        ("std::__cxx11::basic_stringstream<char>::basic_stringstream(int)", CallForm("stringstream", "construct", 1)),
        ("std::basic_ofstream<char>::~basic_ofstream()", CallForm("~ofstream", "destroy", 0)),
        ("std::basic_string_view<char>::find(char)", CallForm("find", "call", 1)),
        ("own::basic_stream::basic_stream()", CallForm("basic_stream", "construct", 0)),
    ],
)
def test_standard_streams_have_their_written_names(symbol: str, written: CallForm) -> None:
    assert call_form_of(symbol) == written


def test_a_macro_in_the_text_comes_before_a_call_of_an_inlined_function(library: tuple[Binary, Path]) -> None:
    """The machine code has as many calls of `fail` as the text."""
    assert first_lines(find_lines(library, "ensure", "fail(")) == ["ENSURE(n != 7);"]


def test_standard_functions_are_reached_only_by_their_own_names() -> None:
    bodies = FunctionBodies(lambda _: (), lambda _: {})
    called = call_form_of("void std::vector<int>::_M_realloc_insert<int>(int*, int&&)")
    assert called == CallForm("_M_realloc_insert", "call", 2)
    assert bodies.reaches(WrittenCall(1, "call", "push_back", 1, is_member=True), called, 1) == 1
    assert bodies.reaches(WrittenCall(1, "call", "size", 0, is_member=True), called, 3) == 0


def test_the_right_operand_of_an_assignment_runs_first(library: tuple[Binary, Path]) -> None:
    _, path = library
    definitions = parse_file(path).definitions
    (own,) = (each for each in definitions if each.name == "concatenate")
    written = find_calls_in_file(str(path), definitions)[own.line, own.end_line]
    ordered = [each.callee for each in written if each.line == own.line + 2]
    assert ordered == ["operator+", "operator+="]

"""The call of a frame when a stack is ambiguous: tail calls leave no frame."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from framedex.binaries import Binary
from framedex.model import LocationEvidence
from framedex.sources.bodies import FunctionBodies, find_calls_in_file
from framedex.sources.extraction import parse_file
from framedex.sources.frame_lines import FrameLines, LineEstimate

_SOURCE = """\
void elsewhere(int);
namespace a {
__attribute__((noinline)) void last(int n) { elsewhere(n + 1); elsewhere(n); }
__attribute__((noinline)) void hands_over(int n) { elsewhere(2); last(n); }
void direct(int n) {
  last(n);
  hands_over(n);
  elsewhere(n);
  elsewhere(n + 2);
}
}
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> tuple[Binary, Path]:
    folder = tmp_path_factory.mktemp("library")
    (folder / "a.cc").write_text(_SOURCE)
    command = ["g++", "-O2", "-fPIC", "-shared", "-fno-inline", "a.cc", "-o", "a.so"]
    subprocess.run(command, cwd=folder, check=True)
    return Binary.open(folder / "a.so"), folder / "a.cc"


def find_frame_line(library: tuple[Binary, Path], call: int, callee: str) -> LineEstimate | None:
    """The line of `direct` for the return address of one of its calls, above a frame of `callee`."""
    binary, path = library
    definitions = parse_file(path).definitions
    (own,) = [definition for definition in definitions if definition.name.endswith("direct")]
    symbols = binary.symbols
    assert symbols is not None
    code = binary.code_around(next(symbol.start for symbol in symbols if "6direct" in symbol.mangled))
    assert code is not None
    bodies = FunctionBodies(lambda _: [], lambda name: find_calls_in_file(name, definitions))
    span = own.line, own.end_line
    return FrameLines().find(str(path), span, bodies, binary, code.calls[call].return_address, [callee])


def test_a_tail_call_is_the_callee_of_the_frame_below(library: tuple[Binary, Path]) -> None:
    assert find_frame_line(library, 0, "a::last(int)") == LineEstimate(LocationEvidence.SINGLE, (6,))
    assert find_frame_line(library, 1, "a::last(int)") == LineEstimate(LocationEvidence.SINGLE, (7,))
    assert find_frame_line(library, 1, "elsewhere(int)") == LineEstimate(LocationEvidence.SINGLE, (7,))


def test_a_call_to_another_library_is_identified_by_its_stub(library: tuple[Binary, Path]) -> None:
    """The function in the other library continued in one of its own by a tail call."""
    found = find_frame_line(library, 2, "somewhere::inside()")

    assert found is not None
    assert (found.how, found.lines[0]) == (LocationEvidence.RANKED, 8)


_BRACE_LINES = {"g++": 8, "clang++": 6}


@pytest.mark.parametrize("compiler", [each for each in _BRACE_LINES if shutil.which(each)])
def test_a_deleting_destructor_calls_its_own_destructor_at_a_brace(tmp_path: Path, compiler: str) -> None:
    path = tmp_path / "held.cc"
    path.write_text(
        "void elsewhere(int);\nstruct Held {\n  virtual ~Held();\n};\n__attribute__((noinline)) Held::~Held()\n{\n"
        "  elsewhere(1);\n}\n"
    )
    command = [compiler, "-O1", "-fPIC", "-shared", "-fno-inline", "held.cc", "-o", "held.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    binary = Binary.open(tmp_path / "held.so")
    assert binary.symbols is not None
    code = binary.code_around(next(each.start for each in binary.symbols if each.mangled == "_ZN4HeldD0Ev"))
    assert code is not None
    definitions = parse_file(path).definitions
    bodies = FunctionBodies(lambda _: [], lambda name: find_calls_in_file(name, definitions))
    offset = code.calls[0].return_address
    found = FrameLines().find(str(path), (5, 8), bodies, binary, offset, ["Held::~Held()"])
    assert found == LineEstimate(LocationEvidence.RANKED, (_BRACE_LINES[compiler],))


def test_definitions_with_matching_calls_come_first_and_all_stay_candidates(
    library: tuple[Binary, Path], tmp_path: Path
) -> None:
    binary, _ = library
    twin = tmp_path / "twin.cc"
    twin.write_text("void elsewhere(int);\nvoid direct(int n) {\n  elsewhere(n);\n}\n")
    _, source = library
    definitions = {str(path): parse_file(path).definitions for path in (twin, source)}
    (symbol,) = (each for each in binary.symbols or () if "6direct" in each.mangled)
    code = binary.code_around(symbol.start)
    assert code is not None
    spans = [
        (path, (each.line, each.end_line))
        for path, found in definitions.items()
        for each in found
        if each.name.endswith("direct")
    ]
    bodies = FunctionBodies(lambda _: [], lambda name: find_calls_in_file(name, definitions[name]))

    places = FrameLines().find_locations(
        spans, bodies, binary, code.calls[2].return_address, ["elsewhere(int)"], is_certain=False
    )

    assert (places[0].path, places[0].line) == (str(source), 8)
    assert (str(twin), 3) in [(place.path, place.line) for place in places]
    assert {place.how for place in places} == {LocationEvidence.CANDIDATES}
    (_, of_source) = (each for each in spans)
    lone = FrameLines().find_locations(
        [of_source], bodies, binary, code.calls[2].return_address, ["elsewhere(int)"], is_certain=False
    )
    assert {place.how for place in lone} == {LocationEvidence.CANDIDATES}


def test_calls_of_a_module_are_found_in_both_functions_that_its_macro_writes(tmp_path: Path) -> None:
    """As pybind11 2 writes them; compilers inline the second into the first."""
    source = tmp_path / "module.cc"
    source.write_text(
        "#define PYBIND11_MODULE(name, variable) \\\n"
        "  static void pybind11_init_##name(int&); \\\n"
        '  extern "C" void PyInit_##name() { int m = 0; pybind11_init_##name(m); } \\\n'
        "  void pybind11_init_##name(int& variable)\n"
        "void add(int&);\n"
        "PYBIND11_MODULE(shop, m) {\n"
        "  add(m);\n"
        "}\n"
    )
    subprocess.run(["g++", "-O2", "-fPIC", "-shared", source, "-o", tmp_path / "m.so"], check=True)
    binary = Binary.open(tmp_path / "m.so")
    definitions = parse_file(source).definitions
    (own,) = (each for each in definitions if each.name == "PyInit_shop")
    (symbol,) = (each for each in binary.symbols or () if each.mangled == "PyInit_shop")
    code = binary.code_around(symbol.start)
    assert code is not None
    bodies = FunctionBodies(lambda _: [], lambda name: find_calls_in_file(name, definitions))
    call = next(each for each in code.calls if binary.function_at(each.target) == "add(int&)")

    found = FrameLines().find(str(source), (own.line, own.end_line), bodies, binary, call.return_address, ["add(int&)"])

    assert found is not None and found.lines == (7,)


def test_a_long_run_of_calls_keeps_the_order_of_the_text(tmp_path: Path) -> None:
    """A literal that the machine code passes in memory, as a `double`, is not evidence against its call."""
    source = tmp_path / "run.cc"
    calls = [f'  total += check("text{n % 3}", {n % 7}, {str(n % 2 == 0).lower()});\n' for n in range(60)]
    source.write_text(
        "#include <string>\nint check(const std::string&, double, bool);\nint run() {\n  int total = 0;\n"
        f"{''.join(calls)}  return total;\n}}\n"
    )
    subprocess.run(["g++", "-O2", "-fPIC", "-shared", source, "-o", tmp_path / "run.so"], check=True)
    binary = Binary.open(tmp_path / "run.so")
    definitions = parse_file(source).definitions
    (own,) = (each for each in definitions if each.calls)
    symbol = next(each for each in binary.symbols or () if each.mangled == "_Z3runv")
    code = binary.code_around(symbol.start)
    assert code is not None
    bodies = FunctionBodies(lambda _: [], lambda name: find_calls_in_file(name, definitions))
    lines = FrameLines()
    found = [
        lines.find(str(source), (own.line, own.end_line), bodies, binary, call.return_address, [name])
        for call in code.calls
        if (name := binary.function_at(call.target) or "").startswith("check(")
    ]
    assert [each.lines[0] for each in found if each] == list(range(5, 65))

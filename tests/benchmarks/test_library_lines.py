"""The `library-lines` benchmark: its table and its counts, without fetches or builds."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.library_lines import answer_times_ms, table_cells
from benchmarks.lines.answers import Answer
from benchmarks.lines.calls import Call, FramePair, record_frame_pairs
from benchmarks.lines.libraries import BUILDS, Build, Library, read_libraries

SOURCES = Path("/sources")


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """A build folder without content."""
    library = Library("some", "deb:some=1", "ordinary")
    return Build(library, BUILDS[0], SOURCES, tmp_path / "libsome.so", tmp_path / "stripped" / "libsome.so")


def test_every_library_has_known_dependencies_and_a_source() -> None:
    libraries = read_libraries()
    assert len(libraries) >= 10
    for library in libraries.values():
        assert set(library.needs) <= set(libraries)
        assert library.source.partition(":")[0] in ("deb", "pypi")


def test_held_out_libraries_have_several_styles() -> None:
    assert len({library.style for library in read_libraries().values() if library.held_out}) >= 2


def test_each_library_is_built_by_both_compilers_with_and_without_visible_symbols() -> None:
    assert {(options.compiler, "-fvisibility=hidden" in options.flags) for options in BUILDS} == {
        (compiler, hidden) for compiler in ("clang", "gcc") for hidden in (False, True)
    }


def test_excluded_files_are_not_compiled_and_a_pattern_that_matches_nothing_is_refused(tmp_path: Path) -> None:
    for name in ("one.cc", "one_test.cc"):
        (tmp_path / name).touch()
    library = Library("some", "deb:some=1", "ordinary", compile=["*.cc"], exclude=["*_test.cc"])
    assert library.files_to_compile(tmp_path) == [tmp_path / "one.cc"]
    with pytest.raises(FileNotFoundError, match=r"\*\.cpp"):
        Library("some", "deb:some=1", "ordinary", compile=["*.cpp"]).files_to_compile(tmp_path)


def test_a_record_has_each_frame_of_the_library_and_its_callee(build: Build) -> None:
    frames = [(1, 0x50), (0, 0x10), (0, 0x20), (-1, 0x99), (0, 0x30)]
    stack = struct.pack("<q", len(frames)) + b"".join(struct.pack("<qq", *frame) for frame in frames)
    (build.folder / "stacks.bin").write_bytes(b"0 /built/libsome.so\n1 /lib/libc.so.6\n\n" + stack)
    assert record_frame_pairs(build) == [FramePair(0x10, "/lib/libc.so.6", 0x50), FramePair(0x20, "", 0x10)]


def test_a_call_without_a_line_counts_only_in_the_total(build: Build) -> None:
    answers = [
        answer(build, "single", (7,)),
        answer(build, "single", (8,)),
        answer(build, "ranked", (6, 7)),
        answer(build, "call not found", ()),
    ]
    cells = dict(
        zip(
            ("calls", "exact", "single", "ranked", "inlined-hop", "best", "among"),
            table_cells(answers, None)[:7],
            strict=True,
        )
    )
    assert cells["calls"] == "4"
    assert cells["single"] == "50.0% of 2"
    assert cells["ranked"] == "0.0% of 1"
    assert cells["best"] == "33.3% of 3"
    assert cells["among"] == "66.7%"


def test_a_range_is_no_line_and_holds_the_lines_between_its_ends(build: Build) -> None:
    holding, missing = answer(build, "between", (6, 9)), answer(build, "between", (8, 9))
    assert (holding.outcome, missing.outcome) == ("holds", "misses")
    assert not holding.has_line and not holding.is_right
    assert table_cells([holding, missing], None)[8] == "50.0% of 2"


def test_times_of_answers_are_in_milliseconds(build: Build) -> None:
    answers = [replace(answer(build, "single", (7,)), seconds=number / 1e3) for number in range(100)]
    assert answer_times_ms(answers) == pytest.approx((50, 99, 99))


def test_the_line_of_another_file_is_wrong(build: Build) -> None:
    assert answer(build, "single", (7,)).outcome == "right"
    assert answer(build, "single", (7,), path="/sources/copy.cc").outcome == "wrong"


@pytest.mark.parametrize(
    ("callee", "cause"),
    [
        ("ns::Some<int>::~Some()", "destructor"),
        ("ns::operator<<(std::ostream&, ns::Some const&)", "operator"),
        ("ns::Some::Some(int)", "constructor"),
        ("std::__throw_length_error(char const*)", "std::"),
        ("ns::some(std::string const&)", "function"),
    ],
)
def test_callees_are_classified_by_kind(build: Build, callee: str, cause: str) -> None:
    assert answer(build, "single", (7,), callee=callee).cause == f"{cause}, direct"


def answer(
    build: Build, label: str, lines: tuple[int, ...], path: str = "/sources/some.cc", callee: str = "f()"
) -> Answer:
    """The prediction for a call on line 7 of some.cc."""
    call = Call(0x10, callee, "direct", False, True, "/sources/some.cc", 7, False, [])
    return Answer(build, call, "caller()", label, path if lines else "", lines)

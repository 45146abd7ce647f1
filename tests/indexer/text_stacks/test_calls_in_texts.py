"""Frames in crash texts of an unrecorded library: the line of the call, as for a recorded frame."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from framedex.binaries import Binary
from framedex.index import Index, Store
from framedex.ingest import SilentProgress, find_sources
from framedex.model import Definition, LocationEvidence
from framedex.sources.bodies import build_bodies
from framedex.sources.frame_lines import FrameLines
from framedex.text_stacks import read
from framedex.text_stacks.source_lookup.binaries import Binaries
from framedex.text_stacks.source_lookup.frame_context import FoundFrame, find_callees
from framedex.text_stacks.source_lookup.resolve import Resolver
from framedex.text_stacks.stream import AnnotatedLog

SOURCE = """\
#include <cstdlib>
#include <execinfo.h>

namespace shop {

struct Basket {
  int* items;
  int size;
  virtual int total(int scale) const;
};

__attribute__((noinline)) int price(const int* item) {
  return *item + 1;  // innermost
}

__attribute__((noinline)) int weigh(int size) {
  return size * 3;
}

int Basket::total(int scale) const {
  int sum = weigh(scale);
  for (int i = 0; i < scale; ++i) {
    sum += price(items + i);  // total calls price
  }
  return sum;
}

__attribute__((noinline)) int checkout(const Basket& basket, int scale) {
  if (scale < 0) {
    return weigh(scale);
  }
  int sum = basket.total(scale);  // checkout calls total
  return sum + weigh(scale);
}

}  // namespace shop

static __attribute__((noinline)) int fill(shop::Basket* basket, int count) {
  basket->items = static_cast<int*>(std::malloc(sizeof(int) * 4));
  basket->size = 4;
  int result = shop::checkout(*basket, count);  // fill calls checkout
  std::free(basket->items);
  return result;
}

extern "C" int shop_run(int count) {
  shop::Basket basket;
  int result = fill(&basket, count);  // shop_run calls fill
  return result + 1;
}
"""
MAIN = """\
int shop_run(int);
int main(int argc, char **argv) { return shop_run(argc * 8) == 3; }
"""
GDB = """\
#0  0x00007ffff7fb9119 in {inner} () from /gone/libc.so.6
#1  0x00007ffff7fb9159 in {outer} () from {library}
"""
CALLS = ("total calls price", "checkout calls total", "fill calls checkout", "shop_run calls fill")


def line_of(comment: str) -> int:
    return next(n for n, line in enumerate(SOURCE.split("\n"), 1) if line.endswith(f"// {comment}"))


@dataclass(frozen=True)
class Crash:
    """A library without debug information, its indexed source, and AddressSanitizer's output without names."""

    library: Path
    source: Path
    index: Path
    text: str


@pytest.fixture(scope="module")
def crash(tmp_path_factory: pytest.TempPathFactory) -> Crash:
    folder = tmp_path_factory.mktemp("shop")
    source = folder / "src" / "shop.cc"
    source.parent.mkdir()
    source.write_text(SOURCE)
    (folder / "main.c").write_text(MAIN)
    library = folder / "libshop.so"
    flags = ["-fsanitize=address", "-fno-optimize-sibling-calls"]
    subprocess.run(["g++", "-O1", *flags, "-shared", "-fPIC", str(source), "-o", str(library)], check=True)
    program = [*flags, str(folder / "main.c"), "-o", str(folder / "main"), str(library), f"-Wl,-rpath,{folder}"]
    subprocess.run(["gcc", *program], check=True)
    done = subprocess.run(
        [str(folder / "main")],
        env={**os.environ, "ASAN_OPTIONS": "symbolize=0:detect_leaks=0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "heap-buffer-overflow" in done.stderr
    with Store(folder / "index.db") as store:
        with store.transaction():
            store.sources.add_root(str(source.parent))
        find_sources(store, SilentProgress())
    return Crash(library, source, folder / "index.db", done.stderr.partition("allocated by")[0])


@pytest.fixture
def index(crash: Crash) -> Iterator[Index]:
    with Index.open(crash.index) as index:
        yield index


def explained(text: str, index: Index) -> list[FoundFrame]:
    """The frames of a text's first stack, as `framedex explain` resolves them."""
    stack = read(text).stacks[0]
    resolver = Resolver(index, binaries=Binaries())
    resolver.set_stack((frame, "") for frame in stack.frames)
    called = find_callees(stack.frames, stack.innermost_first)
    return [
        resolver.find(frame, callee_frame=callee_frame)
        for frame, callee_frame in zip(stack.frames, called, strict=True)
    ]


def places(found: list[FoundFrame]) -> list[tuple[int, LocationEvidence] | None]:
    return [(each.location.line, each.location.how) if each.location else None for each in found]


def test_offsets_in_a_library_lead_to_call_lines(crash: Crash, index: Index) -> None:
    inner, *outer = explained(crash.text, index)
    assert inner.location is not None and inner.location.how is LocationEvidence.DEFINITION
    assert places(outer[:4]) == [(line_of(comment), LocationEvidence.SINGLE) for comment in CALLS]
    assert {found.location for found in outer[4:]} == {None}  # main is not indexed, and libc is foreign


def test_resolved_locations_equal_those_of_recorded_frames(crash: Crash, index: Index) -> None:
    """The entry point for ingest, called with a recorded stack's data."""
    found = explained(crash.text, index)
    binary, lines = Binary.open(crash.library), FrameLines()
    bodies = build_bodies(index.names.definitions_named, index.names.calling_definitions_in)
    for inner, outer in pairwise(found[:4]):
        assert outer.location is not None and outer.frame.offset is not None and inner.frame.offset is not None
        (own,), (called,) = binary.resolve([outer.frame.offset, inner.frame.offset])
        definition = around(index, str(crash.source), outer.location.line)
        span = definition.line, definition.end_line
        standing = lines.find(str(crash.source), span, bodies, binary, outer.frame.offset + 1, [called.symbol])
        assert standing is not None and own.name == outer.function.partition("(")[0]
        assert standing.locations_in(str(crash.source)) == (outer.location, *outer.candidates)


def around(index: Index, path: str, line: int) -> Definition:
    return next(each for each in index.names.calling_definitions_in(path) if each.line <= line <= each.end_line)


def names_of(crash: Crash) -> list[str]:
    """The demangled names of the frames in the library."""
    offsets = [int(offset, 16) for offset in re.findall(rf"{re.escape(str(crash.library))}\+(0x\w+)", crash.text)]
    binary = Binary.open(crash.library)
    return [symbols[-1].symbol for symbols in binary.resolve(offsets)]


def test_names_alone_have_candidates_including_the_definition(crash: Crash, index: Index) -> None:
    text = "".join(f"    @     0x7f1bb00a8e{i:02x}        112  {name}\n" for i, name in enumerate(names_of(crash)))
    inner, *outer = explained(text, index)
    assert inner.location is not None and inner.location.how is LocationEvidence.DEFINITION
    for found, comment in zip(outer, CALLS, strict=True):
        assert found.location is not None
        possible = [found.location, *found.candidates]
        assert {place.how for place in possible} == {LocationEvidence.CANDIDATES}
        assert line_of(comment) in [place.line for place in possible]
        assert possible[-1].line < line_of(comment)  # the start of the function


@pytest.mark.parametrize(
    "form", ["{library}({mangled}+{behind:#x}) [{at:#x}]\n", "\t{at:16x} {name}+{behind:#x} ({library})\n"]
)
def test_a_name_with_an_offset_is_as_precise_as_a_binary_offset(crash: Crash, index: Index, form: str) -> None:
    """The frames as printed by glibc's backtrace_symbols and `perf script`."""
    expected = places(explained(crash.text, index)[:5])
    binary, text = Binary.open(crash.library), ""
    assert binary.symbols is not None
    for frame in read(crash.text).stacks[0].frames[:5]:
        assert frame.address is not None
        assert frame.offset is not None
        symbol = binary.symbols.find(frame.offset)
        ((*_, named),) = binary.resolve([frame.offset])
        assert symbol is not None
        behind = frame.offset + 1 - symbol.start
        text += form.format(
            library=crash.library, mangled=symbol.mangled, name=named.symbol, behind=behind, at=frame.address + 1
        )
    assert places(explained(text, index)) == expected


def test_a_library_of_another_build_gives_no_locations(crash: Crash, index: Index) -> None:
    told = crash.text.splitlines()[1:]
    named = "\n".join(re.sub(r" (?= \()", " in other::function(int)", line) for line in told)
    assert set(places(explained(named, index))) == {None}


def test_c_names_have_locations_if_their_library_is_local(crash: Crash, index: Index) -> None:
    """The frames as gdb prints them for an unrecorded library without debug information."""
    inner, outer = explained(GDB.format(inner="raise", outer="shop_run", library=crash.library), index)
    assert places([inner, outer]) == [None, (line_of("shop_run calls fill") - 2, LocationEvidence.DEFINITION)]


@pytest.mark.parametrize(
    "source",
    [
        "int helper(int n) { return n; } int other(int n) { return n; } int shop_run(int n) { return helper(n); }",
        # A C function of a C++ program: its only name.
        'namespace zoo { int feed(int n) { return n; } } extern "C" int shop_run(int n) { return zoo::feed(n); }',
    ],
)
def test_an_unknown_c_name_has_no_location(index: Index, tmp_path: Path, source: str) -> None:
    (tmp_path / "zoo.cc").write_text(source if "extern" in source else f'extern "C" {{ {source} }}')
    library = tmp_path / "libzoo.so"
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", str(tmp_path / "zoo.cc"), "-o", str(library)], check=True)
    offset = next(symbol.start for symbol in Binary.open(library).symbols or () if symbol.mangled == "shop_run")
    for text in (
        GDB.format(inner="raise", outer="shop_run", library=library),
        GDB.format(inner="raise", outer="shop_run", library=tmp_path / "gone.so"),
        f"{library}(shop_run+0x4)[0x7f1]\n{library}(+{offset + 4:#x})[0x7f2]\n",
    ):
        assert set(places(explained(text, index))) == {None}


def test_a_source_changed_after_reading_has_no_call_lines(crash: Crash, index: Index, tmp_path: Path) -> None:
    kept = tmp_path / "kept.cc"
    shutil.copy2(crash.source, kept)
    try:
        crash.source.write_text(f"\n\n{SOURCE}")
        hows = {place[1] for place in places(explained(crash.text, index)) if place is not None}
    finally:
        shutil.copy2(kept, crash.source)
    assert hows == {LocationEvidence.DEFINITION}


def test_a_streamed_log_has_the_same_lines_for_each_repetition(crash: Crash, index: Index) -> None:
    from framedex.commands.output.notes import SourceNotes
    from framedex.commands.output.terminal import Terminal

    resolver = Resolver(index, binaries=Binaries())
    notes = SourceNotes(
        lambda frame, callee_frame: resolver.find(frame, callee_frame=callee_frame),
        Terminal(colors=False, links=False),
        "utf-8",
    )
    log = AnnotatedLog(notes)
    shown = b"".join([*log.annotate(crash.text.encode() * 5), *log.finish()]).decode()
    for comment in CALLS:
        assert len(re.findall(rf"shop\.cc:{line_of(comment)}\b", shown)) == 5


def test_one_function_has_a_note_per_caller(crash: Crash, index: Index) -> None:
    """Bare names: the frame of `total` is on the line of the callee that precedes it."""
    from framedex.commands.output.notes import SourceNotes
    from framedex.commands.output.terminal import Terminal

    resolver = Resolver(index, binaries=Binaries())
    notes = SourceNotes(
        lambda frame, callee_frame: resolver.find(frame, callee_frame=callee_frame),
        Terminal(colors=False, links=False),
        "utf-8",
    )
    outer = "    @     0x7f1bb00a8e02        112  shop::Basket::total()\n"
    text = "".join(
        f"*** SIGSEGV received ***\n    @     0x7f1bb00a8e01        112  shop::{inner}()\n{outer}"
        for inner in ("price", "weigh") * 5
    )
    log = AnnotatedLog(notes)
    shown = b"".join([*log.annotate(text.encode()), *log.finish()]).decode()
    lines = re.findall(r"total\(\) → \S+:(\d+)", shown)
    weighs = next(n for n, line in enumerate(SOURCE.split("\n"), 1) if "sum = weigh(scale)" in line)
    assert lines == [str(line_of("total calls price")), str(weighs)] * 5

"""Frames without debug information, on the lines of their calls."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framedex.binaries import Binary
from framedex.captures import compute_fingerprint
from framedex.model import Calls, Capture, FrameRow, LocationEvidence, Module, NativeFrame, Stack
from framedex.texts.places import format_location_labels
from tests.indexer.recorded import Project

SOURCE = """\
namespace shop {
__attribute__((noinline)) int add(int x) { volatile int y = x; return y + 1; }
__attribute__((noinline)) int scale(int x) { volatile int y = x; return y * 2; }
inline int both(int x) { return scale(x) + 3; }
__attribute__((noinline)) int total(int x) {
  int sum = add(x);
  if (sum > 3) {
    sum += scale(sum);
  }
  return sum - 1;
}
__attribute__((noinline)) int hidden(int x) {
  int price = both(x);
  return price + add(1);
}
__attribute__((noinline)) int twice(int x) {
  int first = add(x);
  first *= scale(first);
  int second = add(first);
  return first - second;
}
}
"""


HOLDING_SOURCE = """\
#include <memory>
#include <set>
namespace shop {
__attribute__((noinline)) int add(int x) { volatile int y = x; return y + 1; }
__attribute__((noinline)) int scale(int x) { volatile int y = x; return y * 2; }
__attribute__((noinline)) int hold(int x) {
  int count = add(x);
  auto held = std::make_unique<int[]>(count);
  if (x > 3) {
    __builtin_abort();
  }
  return scale(held[0]);
}
__attribute__((noinline)) int walk(int x, const std::set<int>& all) {
  int sum = scale(x);
  for (int each : all) {
    sum += add(each);
  }
  return sum;
}
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_library(tmp_path_factory.mktemp("shop"), SOURCE)


@pytest.fixture(scope="module")
def holding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_library(tmp_path_factory.mktemp("holding"), HOLDING_SOURCE)


def build_library(folder: Path, source: str) -> Path:
    """The same code with and without debug information, in `with.so` and `without.so`, and its source in `tree`."""
    (folder / "tree").mkdir()
    (folder / "tree" / "shop.cc").write_text(source)
    for name, debug in (("with.so", "-g"), ("without.so", "-g0")):
        command = ["g++", "-O2", debug, "-shared", "-fPIC", "-fvisibility=hidden", "-fno-optimize-sibling-calls"]
        subprocess.run([*command, "tree/shop.cc", "-o", name], cwd=folder, check=True)
    return folder


def test_a_frame_has_the_line_of_its_debug_information(built: Path, project: Project) -> None:
    """Every call of a library as a recorded frame, indexed with its source, is on its line.

    The truth is the same library's debug information; for a call of an inlined function, it is the line that called
    that function.
    """
    frames = indexed(built, project, "without.so")
    truth = exact_lines(built / "with.so", [frame.offset for frame in frames])

    found = {frame.offset: frame.location.line for frame in frames if frame.location}

    assert found == truth and len(truth) == 7
    hows = {(frame.function.name, frame.location.how) for frame in frames if frame.location}
    assert hows == {
        ("shop::total", LocationEvidence.SINGLE),
        ("shop::hidden", LocationEvidence.SINGLE),
        ("shop::hidden", LocationEvidence.INLINED_HOP),
        ("shop::twice", LocationEvidence.SINGLE),
        ("shop::twice", LocationEvidence.RANKED),
    }


def test_other_candidate_lines_are_stored(built: Path, project: Project) -> None:
    frames = indexed(built, project, "without.so")

    ranked = [frame for frame in frames if frame.location and frame.location.how is LocationEvidence.RANKED]

    assert [[other.line for other in frame.candidates] for frame in ranked] == [[19], [17]]


def test_without_the_binary_calls_by_name_remain_candidates(built: Path, project: Project, tmp_path: Path) -> None:
    """If a library was deleted after indexing, sources added later match by names only."""
    gone = tmp_path / "gone.so"
    gone.write_bytes((built / "without.so").read_bytes())
    capture = capture_of(project.capture, gone, calls_between_functions(gone))
    project.ingest(capture=capture).close()
    gone.unlink()

    index = project.ingest(built / "tree", capture=capture)

    lines = {(frame.function.name, frame.location.how) for frame in frames_of(index) if frame.location}
    assert ("shop::total", LocationEvidence.SINGLE) in lines and ("shop::twice", LocationEvidence.RANKED) in lines


def test_a_call_inside_library_code_has_the_range_between_the_calls_around_it(holding: Path, project: Project) -> None:
    """A range with a call before it only ends with the function."""
    frames = indexed(holding, project, "without.so", ("hold",))
    truth = exact_lines(holding / "with.so", [frame.offset for frame in frames])

    ranges = {
        frame.offset: (frame.location.line, frame.location.last_line)
        for frame in frames
        if frame.location and frame.location.last_line is not None
    }

    lines = sorted((first, last, truth[offset]) for offset, (first, last) in ranges.items())
    assert len(lines) >= 2 and all(first <= line <= last for first, last, line in lines)
    assert (7, 12, 8) in lines
    assert not any(frame.candidates for frame in frames if frame.offset in ranges)
    labels = {label for frame in frames if frame.location for label in format_location_labels(frame.location)}
    assert "between lines 7 and 12" in labels


def test_a_range_after_the_last_call_of_a_loop_includes_the_head_of_the_loop(holding: Path, project: Project) -> None:
    """The iterator moves on after the body."""
    frames = indexed(holding, project, "without.so", ("walk",))
    truth = exact_lines(holding / "with.so", [frame.offset for frame in frames])

    (moves_on,) = (frame.location for frame in frames if frame.location and truth[frame.offset] == 16)

    assert moves_on.how is LocationEvidence.BETWEEN and moves_on.line <= 16


def indexed(
    built: Path, project: Project, library: str, callers: Sequence[str] = ("total", "hidden", "twice")
) -> list[FrameRow]:
    path = built / library
    capture = capture_of(project.capture, path, calls_between_functions(path, callers))
    return frames_of(project.ingest(built / "tree", capture=capture))


def calls_between_functions(
    library: Path, callers: Sequence[str] = ("total", "hidden", "twice")
) -> list[tuple[int, int]]:
    """The return address and target of each call with a name of these functions of `shop` in the library."""
    binary = Binary.open(library)
    calls = []
    for name in callers:
        code = binary.code_around(address_of(library, f"_ZN4shop{len(name)}{name}Ei"))
        assert code is not None
        calls += [(call.return_address, call.target) for call in code.calls if binary.function_at(call.target)]
    return calls


def capture_of(like: Capture, library: Path, calls: Sequence[tuple[int, int]]) -> Capture:
    """A capture with a stack for each of these calls: a return address in the library, and the called function."""
    binary = Binary.open(library)
    frames = [NativeFrame(0, returns_to) for returns_to, _ in calls] + [NativeFrame(0, t + 1) for _, t in calls]
    stacks = tuple(Stack((len(calls) + i, i)) for i in range(len(calls)))
    module = Module(str(library), 0, library.stat().st_size, binary.build_id, compute_fingerprint(library))
    columns = like.calls
    return replace(
        like,
        path=like.path.with_name(library.stem),
        modules=(module,),
        frames=tuple(frames),
        stacks=stacks,
        calls=Calls(
            **{
                name: np.resize(getattr(columns, name), len(stacks))
                for name in ("thread", "function", "start", "duration", "error")
            },
            stack=np.arange(len(stacks), dtype=np.uint32),
            arguments=("{}",) * len(stacks),
        ),
    )


def frames_of(index: object) -> list[FrameRow]:
    """The calling frames, by address."""
    from framedex.index import Index
    from framedex.model import CallFilter

    assert isinstance(index, Index)
    traces = [index.calls.trace(call.id) for call in index.calls.find(CallFilter(), 100)]
    frames = {trace.frames[0].offset: trace.frames[0] for trace in traces if trace}
    return [frames[offset] for offset in sorted(frames)]


def exact_lines(library: Path, offsets: list[int]) -> dict[int, int]:
    found = Binary.open(library).resolve([offset - 1 for offset in offsets])
    return {offset: symbols[-1].line for offset, symbols in zip(offsets, found, strict=True)}


def address_of(library: Path, symbol: str) -> int:
    text = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0], 16) for line in text.splitlines() if line.split()[-1].startswith(symbol))

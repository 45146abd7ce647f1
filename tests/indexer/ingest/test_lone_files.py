"""Source files outside every source folder, read because debug information names them: their functions."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from framedex.binaries import Binary
from framedex.captures import compute_fingerprint
from framedex.index import Index
from framedex.model import CallFilter, Calls, Capture, FrameRow, LocationEvidence, Module, NativeFrame, Stack
from tests.indexer.recorded import Project

SOURCE = "#include <deque>\nvoid store(std::deque<int>& items) { items.push_back(1); }\n"
PUSH_BACK = "_ZNSt5dequeIiSaIiEE9push_backEOi"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two libraries with one function of the C++ library compiled into both; only the first has debug information."""
    folder = tmp_path_factory.mktemp("stores")
    (folder / "store.cc").write_text(SOURCE)
    built = []
    for name, debug in (("with.so", "-g"), ("without.so", "-g0")):
        command = ["g++", "-O0", debug, "-shared", "-fPIC", "-fvisibility=hidden"]
        subprocess.run([*command, "store.cc", "-o", name], cwd=folder, check=True)
        built.append(folder / name)
    return built


def test_a_local_header_belongs_to_the_binary_whose_debug_information_names_it(
    libraries: list[Path], project: Project
) -> None:
    with_lines, without = frames_of(project.ingest(capture=capture_of(project.capture, libraries)))

    assert with_lines.location is not None and with_lines.location.how is LocationEvidence.EXACT
    assert with_lines.location.path.endswith("/stl_deque.h")
    assert without.function.name == with_lines.function.name
    assert without.location is None


@pytest.mark.exhaustive
def test_a_header_in_a_source_folder_belongs_to_every_binary(libraries: list[Path], project: Project) -> None:
    capture = capture_of(project.capture, libraries)
    exact, _ = frames_of(project.ingest(capture=capture))
    assert exact.location is not None

    _, without = frames_of(project.ingest(Path(exact.location.path).parent, capture=capture))

    assert without.location is not None
    assert (without.location.path, without.location.how) == (exact.location.path, LocationEvidence.DEFINITION)


def capture_of(like: Capture, libraries: Sequence[Path]) -> Capture:
    """A capture with a call from the function of each library."""
    frames = [NativeFrame(i, address_of(library) + 5) for i, library in enumerate(libraries)]
    return replace(
        like,
        modules=tuple(map(module_of, libraries)),
        frames=tuple(frames),
        stacks=tuple(Stack((i,)) for i in range(len(frames))),
        calls=Calls(
            **{
                name: np.resize(getattr(like.calls, name), len(frames))
                for name in ("thread", "function", "start", "duration", "error")
            },
            stack=np.arange(len(frames), dtype=np.uint32),
            arguments=("{}",) * len(frames),
        ),
    )


def module_of(library: Path) -> Module:
    return Module(str(library), 0, library.stat().st_size, Binary.open(library).build_id, compute_fingerprint(library))


def frames_of(index: Index) -> Iterator[FrameRow]:
    """The innermost frame of each call."""
    for call in index.calls.find(CallFilter(), 100):
        trace = index.calls.trace(call.id)
        assert trace is not None
        yield trace.frames[0]


def address_of(library: Path) -> int:
    text = subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout
    return next(int(line.split()[0], 16) for line in text.splitlines() if line.split()[-1] == PUSH_BACK)

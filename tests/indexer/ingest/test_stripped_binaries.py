"""Stripped binaries: known frames are named, and missing symbols are reported with a remedy."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from framedex.binaries import Binary
from framedex.captures import compute_fingerprint
from framedex.index.write.records import FrameRecord
from framedex.ingest import CaptureFrameNamer
from framedex.ingest.recorded_binaries import describe_unnamed_frames
from framedex.model import Calls, Capture, Metadata, Module, NativeFrame
from framedex.texts.captures import format_data_problems
from tests.indexer.binaries.conftest import SOURCE, compiled
from tests.indexer.binaries.test_binary import address_of

HIDDEN = "shop::(anonymous namespace)::hidden(int)"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plug-in with symbols and debug information."""
    source = tmp_path_factory.mktemp("plugin") / "program.cc"
    source.write_text(SOURCE)
    return compiled(source, "plugin.so", "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id=0x0123456789abcdef")


def stripped(whole: Path, folder: Path, *options: str) -> Path:
    output = folder / "plugin.so"
    subprocess.run(["objcopy", "--strip-all", *options, whole, output], check=True)
    return output


def named(library: Path, places: list[int]) -> tuple[list[FrameRecord], list[str]]:
    """The records of frames at offsets of a library, as if recorded, and the naming problems."""
    none = np.zeros(0, np.uint32)
    calls = Calls(none, none, none, none.astype(np.int64), none.astype(np.int64), none.astype(np.int32), ())
    module = Module(str(library), 0, 4096, Binary.open(library).build_id, compute_fingerprint(library))
    frames = tuple(NativeFrame(0, place + 1) for place in places)
    records, problems = CaptureFrameNamer().name_frames(
        Capture(Path("capture"), Metadata(), (module,), (), frames, (), (), (), calls, ())
    )
    return [frame for (frame,) in records], problems


def test_frames_of_an_unnamed_function_share_one_function(whole: Path, tmp_path: Path) -> None:
    start, size = address_of(whole, HIDDEN)
    exported, _ = address_of(whole, "plain_c")

    frames, _ = named(stripped(whole, tmp_path), [start, start + size - 1, exported])

    assert frames[0].function == frames[1].function
    assert frames[0].function.name == f"plugin.so+{start:#x} (unnamed function)"
    assert [frame.offset for frame in frames[:2]] == [start + 1, start + size]
    assert frames[2].function.name == "plain_c"


def test_a_frame_without_a_known_function_is_its_own_function(whole: Path, tmp_path: Path) -> None:
    frames, _ = named(stripped(whole, tmp_path), [0x10])

    assert frames[0].function.name == "plugin.so+0x11"


def test_a_stripped_binary_is_reported_with_the_number_of_unnamed_frames(whole: Path, tmp_path: Path) -> None:
    start, _ = address_of(whole, HIDDEN)
    exported, _ = address_of(whole, "plain_c")
    library = stripped(whole, tmp_path)

    _, (problem,) = named(library, [start, start + 1, exported])

    assert problem.startswith(f"{library} is stripped: 2 of its 3 recorded frames have no name.")
    assert format_data_problems([problem]) == []


@pytest.mark.parametrize("tie", ["build-id", "debug link", "none"])
def test_the_proposed_remedy_works(tie: str, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its debug file at the reported path, or on a server, the frames have names."""
    start, _ = address_of(whole, HIDDEN)
    debug = tmp_path / "plugin.debug"
    subprocess.run(["objcopy", "--only-keep-debug", whole, debug], check=True)
    away = "--remove-section=.note.gnu.build-id"
    options = {"build-id": [], "debug link": [away, f"--add-gnu-debuglink={debug}"], "none": [away]}[tie]
    library = stripped(whole, tmp_path, *options)
    kept = debug.rename(tmp_path / "elsewhere")

    _, (problem,) = named(library, [start])

    if tie == "build-id":
        assert "/usr/lib/debug/.build-id/01/23456789abcdef.debug" in problem and "DEBUGINFOD_URLS" in problem
        monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(tmp_path / "cache"))
        (tmp_path / "cache" / "0123456789abcdef").mkdir(parents=True)
        debug = tmp_path / "cache" / "0123456789abcdef" / "debuginfo"
    elif tie == "debug link":
        assert f"Put its debug file {debug.name} beside it" in problem
    else:
        assert "record with a build that has symbols" in problem
        library = whole
    kept.rename(debug)
    frames, problems = named(library, [start])
    assert frames[0].function.name == "shop::(anonymous namespace)::hidden" and problems == []


@pytest.mark.parametrize("name", ["libc.so.6", "libpython3.11.so.1.0", "ld-linux-x86-64.so.2"])
def test_the_interpreter_and_the_loader_are_not_reported(name: str, whole: Path, tmp_path: Path) -> None:
    start, _ = address_of(whole, HIDDEN)
    library = stripped(whole, tmp_path).rename(tmp_path / name)

    frames, problems = named(library, [start])

    assert problems == [] and frames[0].function.symbol == ""


def test_system_libraries_are_not_reported(whole: Path, tmp_path: Path) -> None:
    binary = Binary.open(stripped(whole, tmp_path))

    for folder in ("/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/lib64", "/usr/lib"):
        assert describe_unnamed_frames(binary, f"{folder}/libplugin.so.6.0.30", 2, 1) is None
    for folder in ("/usr/local/lib", "/usr/lib/python3/dist-packages/plugin", "/opt/lib"):
        assert describe_unnamed_frames(binary, f"{folder}/libplugin.so", 2, 1) is not None


def test_an_unstripped_binary_is_not_reported(whole: Path) -> None:
    assert named(whole, [0x10])[1] == []

"""Binaries that are no longer byte for byte what was recorded: no name is taken from them without a word."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from framedex.binaries import Binary, Contents, state_of
from framedex.binaries.elf import Elf
from framedex.captures import fingerprint_of
from framedex.index.write.records import FrameRecord
from framedex.ingest import Namer
from framedex.ingest.recorded import RecordedBinaries
from framedex.model import Calls, Capture, Metadata, Module, NativeFrame

MUTATIONS = 1000
SOURCE = """
#include <string>
#include <vector>
namespace shop {
static int taxed(int price) { return price * 2; }
struct Till {
  std::vector<int> prices;
  __attribute__((noinline)) int ring(int price) { prices.push_back(taxed(price)); return prices.back(); }
};
int sell(const std::string& what) { Till till; return till.ring(static_cast<int>(what.size())); }
}  // namespace shop
PADDING
"""
LARGE = "extern const char filling[]; const char filling[1 << 20] = {1};"


def build(folder: Path, padding: str) -> Path:
    """A library with debug information and a build-id."""
    (folder / "shop.cc").write_text(SOURCE.replace("PADDING", padding))
    command = ["g++", "-g", "-O1", "-shared", "-fPIC", "-Wl,--build-id", "-o", "libshop.so", "shop.cc"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "libshop.so"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that the recorder samples whole."""
    return build(tmp_path_factory.mktemp("small"), "")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of which the recorder sees a part."""
    return build(tmp_path_factory.mktemp("large"), LARGE)


def recorded(library: Path) -> Module:
    """A library as the recorder describes it."""
    size = library.stat().st_size
    build_id = Binary.open(library).build_id
    return Module(str(library), 0x7F0000000000, size, build_id, fingerprint_of(library), state_of(library))


def addresses(library: Path) -> list[int]:
    """Places in every function."""
    return [address for symbol in Elf.open(library).symbols() for address in range(symbol.start, symbol.end, 5)]


def name(module: Module, places: list[int], contents: Contents) -> tuple[list[tuple[FrameRecord, ...]], list[str]]:
    """The named frames at places of a module, and what is said of it."""
    none = np.zeros(0, np.uint32)
    calls = Calls(none, none, none, none.astype(np.int64), none.astype(np.int64), none.astype(np.int32), ())
    frames = tuple(NativeFrame(0, place + 1) for place in places)
    capture = Capture(Path("capture"), Metadata(), (module,), (), frames, (), (), (), calls, ())
    return Namer(RecordedBinaries(contents=contents)).name_frames(capture)


def mutations(original: bytes, random_: random.Random) -> Iterator[bytes]:
    """The library with bits, bytes and words changed, parts zeroed or moved, or cut off, in headers as in contents."""
    header_end = int.from_bytes(original[40:48], "little")  # where the section headers begin
    for _ in range(MUTATIONS):
        data = bytearray(original)
        first = random_.choice([0, header_end, 64, random_.randrange(len(data))])
        position = min(first + random_.randrange(4096), len(data) - 8)
        kind = random_.randrange(7)
        if kind == 0:
            data[position] ^= 1 << random_.randrange(8)
        elif kind == 1:
            for _ in range(8):
                data[random_.randrange(len(data))] = random_.randrange(256)
        elif kind == 2:
            data[position : position + 8] = random_.choice([b"\xff" * 8, b"\xff" * 7 + b"\x7f", bytes(8)])
        elif kind == 3:
            size = random_.choice([64, 512, 4096])
            data[position : position + size] = bytes(len(data[position : position + size]))
        elif kind == 4:
            size = random_.choice([24, 64, 512])
            other = random_.randrange(len(data) - size)
            data[position : position + size] = data[other : other + len(data[position : position + size])]
        elif kind == 5:
            del data[position:]
        else:
            data[position : position + 8] = random_.randbytes(8)
        yield bytes(data)


def test_no_change_of_a_library_gives_other_names_without_a_word(small: Path, tmp_path: Path) -> None:
    changed = Path(shutil.copy(small, tmp_path))
    module = recorded(changed)
    contents = Contents(tmp_path / "contents.json")
    places = addresses(small)
    names, problems = name(module, places, contents)
    assert problems == []
    assert {frame.function.name for frames in names for frame in frames} >= {"shop::sell", "shop::Till::ring"}
    for number, damaged in enumerate(mutations(small.read_bytes(), random.Random(3))):
        changed.write_bytes(damaged)
        found, problems = name(module, places, contents)
        assert any(str(changed) in problem for problem in problems) or found == names, number


def test_no_damage_to_a_library_raises_or_hangs(small: Path, tmp_path: Path) -> None:
    changed = tmp_path / "libshop.so"
    places = addresses(small)
    for damaged in mutations(small.read_bytes(), random.Random(4)):
        changed.write_bytes(damaged)
        binary = Binary.open(changed)
        assert len(binary.resolve(places)) == len(places)
        assert isinstance(binary.problems, tuple)
        for place in places[::20]:
            binary.code_around(place)
            binary.function_at(place)
            binary.ffi_handler(place)


def test_a_change_that_samples_do_not_see_is_told_where_the_content_is_known(large: Path, tmp_path: Path) -> None:
    changed = Path(shutil.copy(large, tmp_path))
    module = recorded(changed)
    places = addresses(large)
    contents = Contents(tmp_path / "contents.json")
    names, problems = name(module, places, contents)
    assert problems == []

    position = large.read_bytes().rindex(b"_ZN4shop") + 5
    data = bytearray(large.read_bytes())
    data[position] ^= 1
    changed.write_bytes(data)
    found, problems = name(module, places, Contents(tmp_path / "contents.json"))
    assert problems == [f"{changed} has changed since it was recorded: its frames stay as module and offset."]
    assert found != names


def test_a_file_that_was_written_anew_is_used_with_a_note_unless_its_content_is_known(
    large: Path, tmp_path: Path
) -> None:
    again = Path(shutil.copy(large, tmp_path))
    module = recorded(again)
    places = addresses(large)
    known = Contents(tmp_path / "contents.json")
    names, _ = name(module, places, known)
    again.unlink()
    shutil.copy(large, again)  # as when a wheel is installed anew
    assert state_of(again) != module.file

    found, problems = name(module, places, Contents(tmp_path / "other.json"))
    assert found == names
    (problem,) = problems
    assert problem.startswith(f"{again} was written or moved after it was recorded")
    assert "names in it may be wrong. Record the program again" in problem

    assert name(module, places, known) == (names, [])
    assert name(module, places, Contents(tmp_path / "contents.json")) == (names, [])


def test_digests_are_kept_and_a_damaged_file_of_them_is_done_without(large: Path, tmp_path: Path) -> None:
    kept = tmp_path / "folder" / "contents.json"
    state = state_of(large)
    assert state is not None
    digest = Contents(kept).of(large)
    assert len(digest) == 64
    assert Contents(kept).known(large, state) == digest
    for damage in (b"", b"{", b"[1]", b'{"a": 1}', b"\xff\xfe", b"[" * 100_000):
        kept.write_bytes(damage)
        assert Contents(kept).known(large, state) == ""
        assert Contents(kept).of(large) == digest
    kept.unlink()
    kept.mkdir()
    assert Contents(kept).of(large) == digest
    assert Contents(kept).of(tmp_path / "nowhere") == ""

"""Binaries that differ from the recorded ones: names from them are rejected, or reported as doubtful."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from framedex.binaries import Binary, DigestCache, read_binary_state
from framedex.binaries.elf import Elf
from framedex.binaries.symbols import read_symbols
from framedex.captures import compute_fingerprint
from framedex.index.write.records import FrameRecord
from framedex.ingest import CaptureFrameNamer
from framedex.ingest.recorded_binaries import RecordedBinaries
from framedex.model import Calls, Capture, Metadata, Module, NativeFrame
from tests.damage import damaged

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
    """A library that the recorder hashes completely."""
    return build(tmp_path_factory.mktemp("small"), "")


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library that the recorder samples."""
    return build(tmp_path_factory.mktemp("large"), LARGE)


def recorded(library: Path) -> Module:
    """The module of a library, as the recorder describes it."""
    size = library.stat().st_size
    build_id = Binary.open(library).build_id
    return Module(
        str(library), 0x7F0000000000, size, build_id, compute_fingerprint(library), read_binary_state(library)
    )


def addresses(library: Path) -> list[int]:
    """Offsets in every function."""
    return [address for symbol in read_symbols(Elf.open(library)) for address in range(symbol.start, symbol.end, 5)]


def name(module: Module, places: list[int], contents: DigestCache) -> tuple[list[tuple[FrameRecord, ...]], list[str]]:
    """The named frames at offsets of a module, and the naming problems."""
    none = np.zeros(0, np.uint32)
    calls = Calls(none, none, none, none.astype(np.int64), none.astype(np.int64), none.astype(np.int32), ())
    frames = tuple(NativeFrame(0, place + 1) for place in places)
    capture = Capture(Path("capture"), Metadata(), (module,), (), frames, (), (), (), calls, ())
    return CaptureFrameNamer(RecordedBinaries(contents=contents)).name_frames(capture)


def damages(library: Path, seed: int) -> Iterator[bytes]:
    """A library with every kind of damage, in its headers and its contents."""
    content = library.read_bytes()
    sections = int.from_bytes(content[40:48], "little")  # the start of the section headers
    for number in range(MUTATIONS):
        yield damaged(content, seed * MUTATIONS + number, marks=(0, 64, sections))


@pytest.mark.exhaustive
def test_a_changed_library_never_changes_names_silently(small: Path, tmp_path: Path) -> None:
    changed = Path(shutil.copy(small, tmp_path))
    module = recorded(changed)
    contents = DigestCache(tmp_path / "contents.json")
    places = addresses(small)
    names, problems = name(module, places, contents)
    assert problems == []
    assert {frame.function.name for frames in names for frame in frames} >= {"shop::sell", "shop::Till::ring"}
    for number, content in enumerate(damages(small, 3)):
        changed.write_bytes(content)
        found, problems = name(module, places, contents)
        assert any(str(changed) in problem for problem in problems) or found == names, number


@pytest.mark.exhaustive
def test_damage_to_a_library_never_raises_or_hangs(small: Path, tmp_path: Path) -> None:
    changed = tmp_path / "libshop.so"
    places = addresses(small)
    for content in damages(small, 4):
        changed.write_bytes(content)
        binary = Binary.open(changed)
        assert len(binary.resolve(places)) == len(places)
        assert isinstance(binary.problems, tuple)
        for place in places[::20]:
            binary.code_around(place)
            binary.function_at(place)
            binary.ffi_handler(place)


def test_a_change_outside_the_samples_is_detected_by_the_digest(large: Path, tmp_path: Path) -> None:
    changed = Path(shutil.copy(large, tmp_path))
    module = recorded(changed)
    places = addresses(large)
    contents = DigestCache(tmp_path / "contents.json")
    names, problems = name(module, places, contents)
    assert problems == []

    position = large.read_bytes().rindex(b"_ZN4shop") + 5
    data = bytearray(large.read_bytes())
    data[position] ^= 1
    changed.write_bytes(data)
    found, problems = name(module, places, DigestCache(tmp_path / "contents.json"))
    (problem,) = problems
    assert problem.startswith(f"{changed} has changed since it was recorded. Restore the recorded file")
    assert problem.endswith("run `framedex index`; until then its frames stay as module and offset.")
    assert found != names


def test_a_rewritten_file_is_used_with_a_note_unless_its_content_is_known(large: Path, tmp_path: Path) -> None:
    again = Path(shutil.copy(large, tmp_path))
    module = recorded(again)
    places = addresses(large)
    known = DigestCache(tmp_path / "contents.json")
    names, _ = name(module, places, known)
    again.unlink()
    shutil.copy(large, again)  # as when a wheel is reinstalled
    assert read_binary_state(again) != module.file

    found, problems = name(module, places, DigestCache(tmp_path / "other.json"))
    assert found == names
    (problem,) = problems
    assert problem.startswith(f"{again} was written or moved after it was recorded")
    assert "names in it may be wrong. Record the program again" in problem

    assert name(module, places, known) == (names, [])
    assert name(module, places, DigestCache(tmp_path / "contents.json")) == (names, [])


def test_digests_are_cached_and_a_damaged_cache_is_ignored(large: Path, tmp_path: Path) -> None:
    kept = tmp_path / "folder" / "contents.json"
    state = read_binary_state(large)
    assert state is not None
    digest = DigestCache(kept).compute_digest(large)
    assert len(digest) == 64
    assert DigestCache(kept).find_digest(large, state) == digest
    for damage in (b"", b"{", b"[1]", b'{"a": 1}', b"\xff\xfe", b"[" * 100_000):
        kept.write_bytes(damage)
        assert DigestCache(kept).find_digest(large, state) == ""
        assert DigestCache(kept).compute_digest(large) == digest
    kept.unlink()
    kept.mkdir()
    assert DigestCache(kept).compute_digest(large) == digest
    assert DigestCache(kept).compute_digest(tmp_path / "nowhere") == ""

"""The unwind tables give the extents of functions, also of those without a name or a size."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest

from framedex.binaries import Binary
from framedex.binaries.elf import Elf
from framedex.binaries.loaded_tables import FunctionExtents
from tests.indexer.binaries.conftest import compiled
from tests.indexer.binaries.test_binary import address_of

ASSEMBLY = r"""
asm(".text\n.globl bare\n.type bare, @function\nbare:\n.cfi_startproc\nnop\nnop\nret\n.cfi_endproc\n");
static __attribute__((noinline)) int hidden(int x) { volatile int y = x; return y + 1; }
asm(".text\n.globl untold\n.type untold, @function\nuntold:\nnop\nnop\nret\n");
static __attribute__((noinline)) int unseen(int x) { volatile int y = x; return y + 2; }
extern "C" int used(int x) { return hidden(x) + unseen(x); }
"""


@pytest.fixture(scope="module")
def assembly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with two exported functions without a size, followed by others that are not exported."""
    path = tmp_path_factory.mktemp("assembly") / "assembly.cc"
    path.write_text(ASSEMBLY)
    return compiled(path, "assembly.so", "-O1", "-fno-toplevel-reorder", "-shared", "-fPIC")


def stripped(library: Path, folder: Path) -> Path:
    output = folder / "stripped.so"
    subprocess.run(["strip", "--strip-all", "-o", output, library], check=True)
    return output


def described(path: Path) -> list[tuple[int, int]]:
    """The extents of functions according to readelf's unwind tables."""
    command = ["readelf", "--debug-dump=frames", "--wide", str(path)]
    text = subprocess.run(command, capture_output=True, text=True).stdout  # fails if a debug link has no target
    return [(int(start, 16), int(end, 16)) for start, end in re.findall(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)", text)]


@pytest.mark.exhaustive
def test_extents_equal_those_of_readelf() -> None:
    """The C library, which has frames of every kind."""
    path = Path(re.findall(r"(/\S+/libc\.so\.6)", Path("/proc/self/maps").read_text())[0])
    extents = FunctionExtents(Elf.open(path))
    functions = described(path)

    assert len(functions) > 1000
    for start, end in functions:
        assert {extents.start(place) for place in (start, (start + end) // 2, end - 1)} == {start}
    starts = {start for start, _ in functions}
    assert all(extents.start(end) is None for _, end in functions if end not in starts)


def test_an_unnamed_function_has_a_known_extent(assembly: Path, tmp_path: Path) -> None:
    start, size = address_of(assembly, "hidden(int)")
    binary = Binary.open(stripped(assembly, tmp_path))

    assert binary.resolve(range(start, start + size)) == [()] * size
    assert {binary.function_start(place) for place in range(start, start + size)} == {start}
    assert [binary.function_start(place) for place in (-1, 0, 1 << 63, 1 << 64)] == [None] * 4


@pytest.mark.parametrize("name", ["bare", "untold"])
def test_a_symbol_without_a_size_ends_at_the_next_symbol(name: str, assembly: Path, tmp_path: Path) -> None:
    """An exported name without a size does not cover the unnamed function after it."""
    listed = subprocess.run(["nm", assembly], capture_output=True, text=True, check=True).stdout
    start = next(int(line.split()[0], 16) for line in listed.splitlines() if line.endswith(f" {name}"))
    behind, size = address_of(assembly, "hidden(int)" if name == "bare" else "unseen(int)")
    binary = Binary.open(stripped(assembly, tmp_path))

    assert start < behind
    assert [stack[0].name for stack in binary.resolve(range(start, start + 3))] == [name] * 3
    assert binary.resolve(range(behind, behind + size)) == [()] * size


@pytest.mark.exhaustive
def test_damaged_unwind_tables_give_fewer_extents_and_never_raise(assembly: Path, tmp_path: Path) -> None:
    data = assembly.read_bytes()
    header = next(section for section in Elf.open(assembly).sections if section.name == ".eh_frame_hdr")
    dice = random.Random(18)
    path = tmp_path / "damaged.so"
    for turn in range(150):
        damaged = bytearray(data)
        low, high = (header.offset, header.offset + 400) if turn % 2 else (0, len(data))
        for _ in range(dice.choice([1, 4, 40])):
            damaged[dice.randrange(low, high)] = dice.randrange(256)
        path.write_bytes(damaged)
        binary = Binary.open(path)
        for place in (*range(0x1000, 0x1200, 8), 0, 1 << 40, (1 << 64) - 1):
            found = binary.function_start(place)
            assert found is None or found <= place

"""Where functions begin and end is known by the unwind tables, also of functions without a name or a size."""

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
    """A library with two exported functions that have no size, and others behind them that are not exported."""
    path = tmp_path_factory.mktemp("assembly") / "assembly.cc"
    path.write_text(ASSEMBLY)
    return compiled(path, "assembly.so", "-O1", "-fno-toplevel-reorder", "-shared", "-fPIC")


def stripped(library: Path, folder: Path) -> Path:
    output = folder / "stripped.so"
    subprocess.run(["strip", "--strip-all", "-o", output, library], check=True)
    return output


def described(path: Path) -> list[tuple[int, int]]:
    """Where functions begin and end, as readelf reads the unwind tables."""
    command = ["readelf", "--debug-dump=frames", "--wide", str(path)]
    text = subprocess.run(command, capture_output=True, text=True).stdout  # it fails where a debug link leads nowhere
    return [(int(start, 16), int(end, 16)) for start, end in re.findall(r"pc=([0-9a-f]+)\.\.([0-9a-f]+)", text)]


@pytest.mark.exhaustive
def test_extents_are_those_that_readelf_reads() -> None:
    """Given the C library, in which there are frames of every kind."""
    path = Path(re.findall(r"(/\S+/libc\.so\.6)", Path("/proc/self/maps").read_text())[0])
    extents = FunctionExtents(Elf.open(path))
    functions = described(path)

    assert len(functions) > 1000
    for start, end in functions:
        assert {extents.start(place) for place in (start, (start + end) // 2, end - 1)} == {start}
    starts = {start for start, _ in functions}
    assert all(extents.start(end) is None for _, end in functions if end not in starts)


def test_the_place_of_an_unnamed_function_is_known(assembly: Path, tmp_path: Path) -> None:
    start, size = address_of(assembly, "hidden(int)")
    binary = Binary.open(stripped(assembly, tmp_path))

    assert binary.resolve(range(start, start + size)) == [()] * size
    assert {binary.function_start(place) for place in range(start, start + size)} == {start}
    assert [binary.function_start(place) for place in (-1, 0, 1 << 63, 1 << 64)] == [None] * 4


@pytest.mark.parametrize("name", ["bare", "untold"])
def test_a_name_without_a_size_does_not_reach_into_the_next_one(name: str, assembly: Path, tmp_path: Path) -> None:
    """Given that an exported name has no size, when what follows it has no name, then it does not get this one."""
    listed = subprocess.run(["nm", assembly], capture_output=True, text=True, check=True).stdout
    start = next(int(line.split()[0], 16) for line in listed.splitlines() if line.endswith(f" {name}"))
    behind, size = address_of(assembly, "hidden(int)" if name == "bare" else "unseen(int)")
    binary = Binary.open(stripped(assembly, tmp_path))

    assert start < behind
    assert [stack[0].name for stack in binary.resolve(range(start, start + 3))] == [name] * 3
    assert binary.resolve(range(behind, behind + size)) == [()] * size


@pytest.mark.exhaustive
def test_damaged_unwind_tables_tell_less_and_never_raise(assembly: Path, tmp_path: Path) -> None:
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

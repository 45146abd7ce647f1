"""Resolving addresses in real binaries, intact and damaged."""

import random
import subprocess
import time
from pathlib import Path

import pytest

from framedex.binaries import Binary
from framedex.binaries.elf import Elf
from framedex.binaries.symbols import read_symbols


def address_of(binary: Path, name: str, *options: str) -> tuple[int, int]:
    """Address and size of the function according to `nm`."""
    text = subprocess.run(["nm", "-S", "-C", *options, binary], capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        address, size, _, symbol = [*line.split(maxsplit=3), "", "", ""][:4]
        if symbol == name:
            return int(address, 16), int(size, 16)
    raise AssertionError(f"nm knows no {name}")


@pytest.mark.parametrize("fixture", ["debug_binary", "fixed_binary"])
def test_dwarf_has_inlined_frames_and_exact_lines(fixture: str, source: Path, request: pytest.FixtureRequest) -> None:
    """With debug information, every address of a function resolves, including its inlined callee."""
    path: Path = request.getfixturevalue(fixture)
    start, size = address_of(path, "shop::Till::ring(int)")
    binary = Binary.open(path)

    stacks = binary.resolve(range(start, start + size))

    assert {stack[-1].name for stack in stacks} == {"shop::Till::ring"}
    inlined = [stack for stack in stacks if len(stack) == 2]
    line = source.read_text().splitlines().index("  return p * 2;  // the inlined line") + 1
    assert (str(source), line) in {(stack[0].path, stack[0].line) for stack in inlined}
    assert all(stack[0].inlined and not stack[1].inlined for stack in inlined)
    assert all(stack[0].name.endswith("taxed") for stack in inlined)
    assert binary.problems == ()


def test_symbols_alone_have_names_and_translation_units(plain_binary: Path) -> None:
    ring, _ = address_of(plain_binary, "shop::Till::ring(int)")
    c, _ = address_of(plain_binary, "plain_c")
    hidden, _ = address_of(plain_binary, "shop::(anonymous namespace)::hidden(int)")
    binary = Binary.open(plain_binary)

    (in_ring,), (in_c,), (in_hidden,) = binary.resolve([ring + 3, c, hidden])

    assert binary.build_id is None
    assert (in_ring.name, in_ring.symbol) == ("shop::Till::ring", "shop::Till::ring(int)")
    assert (in_ring.mangled, in_ring.path, in_ring.line, in_ring.inlined) == ("_ZN4shop4Till4ringEi", None, 0, False)
    assert in_c.name == "plain_c"
    assert (in_hidden.name, in_hidden.unit) == ("shop::(anonymous namespace)::hidden", "program.cc")


def test_an_address_outside_every_function_has_no_symbol(plain_binary: Path) -> None:
    start, size = address_of(plain_binary, "plain_c")
    binary = Binary.open(plain_binary)
    end = start + size
    after = binary.resolve([end])[0]
    assert binary.resolve([0, 1 << 63, -1, 1 << 70]) == [(), (), (), ()]
    assert not after or after[0].name != "plain_c"
    assert binary.resolve([end - 1])[0][0].name == "plain_c"


def test_a_function_is_found_by_name_alone(tmp_path: Path) -> None:
    """Linkers store a name that is a suffix of another once, and append a library's version to names."""
    library = tmp_path / "libnames.so"
    (tmp_path / "names.c").write_text("int print_and_stop(int x) { return x; }\nint stop(int x) { return x + 1; }\n")
    (tmp_path / "names.map").write_text("NAMES_1.0 { global: print_and_stop; stop; };\n")
    version = f"-Wl,--version-script={tmp_path / 'names.map'}"
    subprocess.run(["gcc", "-shared", "-fPIC", version, tmp_path / "names.c", "-o", library], check=True)
    table = Binary.open(library).symbols
    assert table is not None
    start, _ = address_of(library, "stop")
    assert {symbol.start for symbol in table.functions_named("stop")} == {start}
    assert table.functions_named("top") == []


def test_a_stripped_library_names_its_exports(stripped_library: Path) -> None:
    start, _ = address_of(stripped_library, "plain_c", "-D")
    assert Binary.open(stripped_library).resolve([start])[0][0].name == "plain_c"


@pytest.mark.parametrize("way", ["debuglink", "build-id"])
def test_a_separate_debug_file_is_used(
    way: str, debug_binary: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stripped binary has exact lines if its debug file is next to it or in a cache."""
    start, size = address_of(debug_binary, "shop::Till::ring(int)")
    stripped, separate = tmp_path / "program", tmp_path / "program.debug"
    subprocess.run(["objcopy", "--only-keep-debug", debug_binary, separate], check=True)
    if way == "debuglink":
        options = ["--remove-section=.note.gnu.build-id", f"--add-gnu-debuglink={separate}"]
    else:
        options = []
        cache = tmp_path / "cache" / "0123abcd"
        cache.mkdir(parents=True)
        separate = separate.rename(cache / "debuginfo")
        monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(cache.parent))
    subprocess.run(["objcopy", "--strip-all", *options, debug_binary, stripped], check=True)

    stacks = Binary.open(stripped).resolve(range(start, start + size))
    # another file: first its checksum differs, then it is not an ELF file
    separate.write_bytes(separate.read_bytes()[:-100] + bytes(100))
    if way == "build-id":
        separate.write_bytes(b"")

    assert {(stack[-1].name, stack[-1].path) for stack in stacks} == {("shop::Till::ring", str(source))}
    assert {len(stack) for stack in stacks} == {1, 2}
    assert Binary.open(stripped).resolve([start]) != stacks[:1]


def test_the_build_id_is_read(debug_binary: Path) -> None:
    assert Binary.open(debug_binary).build_id == "0123abcd"


@pytest.mark.parametrize("content", [None, b"", b"\x7fELF", b"#!/bin/sh\n", b"\x7fELF" + b"\xff" * 200])
def test_a_file_that_is_not_a_binary_is_a_problem_without_an_exception(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    binary = Binary.open(path)
    assert binary.problems and binary.build_id is None
    assert binary.resolve([0x1000]) == [()]


def test_a_folder_is_a_problem_without_an_exception(tmp_path: Path) -> None:
    assert Binary.open(tmp_path).problems


def test_a_truncated_binary_is_read_as_far_as_possible(debug_binary: Path, tmp_path: Path) -> None:
    """Opening and resolving a truncated binary never raises, and reports the loss."""
    data = debug_binary.read_bytes()
    start, _ = address_of(debug_binary, "plain_c")
    for cut in [1, 16, 63, 64, 100, 1000, *range(2000, len(data), 2500), len(data) - 1]:
        path = tmp_path / f"cut-{cut}"
        path.write_bytes(data[:cut])
        binary = Binary.open(path)
        binary.resolve([start])
        assert binary.problems, cut


def test_flipped_bytes_never_raise_or_hang(debug_binary: Path, tmp_path: Path) -> None:
    data = debug_binary.read_bytes()
    start, size = address_of(debug_binary, "shop::Till::ring(int)")
    dice = random.Random(20260720)
    headers = int.from_bytes(data[0x28:0x30], "little")
    began = time.process_time()
    for turn in range(120):
        damaged = bytearray(data)
        low, high = [(0, 64), (64, 1024), (headers, len(data)), (0, len(data))][turn % 4]
        for _ in range(dice.choice([1, 4, 40])):
            damaged[dice.randrange(low, high)] = dice.randrange(256)
        path = tmp_path / f"flipped-{turn}"
        path.write_bytes(damaged)
        binary = Binary.open(path)
        for stack in binary.resolve(range(start, start + size)):
            assert all(isinstance(symbol.name, str) for symbol in stack)
    assert time.process_time() - began < 60


@pytest.mark.exhaustive
def test_damaged_machine_code_is_read_in_bounded_time(debug_binary: Path, tmp_path: Path) -> None:
    data = debug_binary.read_bytes()
    dice = random.Random(7)
    path = tmp_path / "damaged"
    began = time.process_time()
    for _ in range(60):
        damaged = bytearray(data)
        for _ in range(30):
            damaged[dice.randrange(len(data))] = dice.randrange(256)
        path.write_bytes(damaged)
        binary = Binary.open(path)
        for address in range(0x1000, 0x1400, 64):
            code = binary.code_around(address)
            for i in range(len(code.calls) if code else 0):
                assert code is not None and len(code.calls_before(i)) <= 8 and len(code.calls_after(i)) <= 8
    assert time.process_time() - began < 30


def test_every_jaxlib_function_is_read() -> None:
    """The largest binary that users have; `python -m benchmarks symbols` measures its time."""
    jaxlib = pytest.importorskip("jaxlib")
    path = Path(jaxlib.__file__).with_name("libjax_common.so")
    binary = Binary.open(path)
    assert len(read_symbols(Elf.open(path))) > 300_000 and binary.problems == ()

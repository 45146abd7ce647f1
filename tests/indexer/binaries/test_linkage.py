"""Calls through the dynamic linker are named for every layout of compilers and linkers."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from framedex.binaries import Binary

_SOURCE = """
extern "C" int elsewhere(int);
namespace shop {
__attribute__((visibility("default"))) int exported(int price) { return elsewhere(price) + 1; }
int calls(int price) { return elsewhere(price) + exported(price) + elsewhere(exported(price)) + 1; }
int jumps(int price) { return elsewhere(price + 1); }
}
"""
_LINKERS = [linker for linker in ("bfd", "gold", "lld", "mold") if shutil.which(f"ld.{linker}")]
_WAYS = {
    "lazily": (),
    "at once": ("-Wl,-z,now",),
    "marked for indirect branches": ("-fcf-protection=full", "-Wl,-z,ibtplt"),
    "without stubs": ("-fno-plt",),
    "without stubs, marked": ("-fno-plt", "-fcf-protection=full"),
}


def built(folder: Path, *options: str) -> Path:
    (folder / "shop.cc").write_text(_SOURCE)
    library = folder / "shop.so"
    command = ["c++", "-O2", "-fPIC", "-shared", "-fno-inline", *options, "shop.cc", "-o", str(library)]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if ran.returncode:
        pytest.skip(f"this linker cannot: {ran.stderr.strip()[-200:]}")
    return library


def named_calls(library: Path, function: str) -> list[str]:
    """The names of a function's callees, in order."""
    binary = Binary.open(library)
    symbols = binary.symbols
    assert symbols is not None
    start = next(symbol.start for symbol in symbols if symbol.mangled == function)
    code = binary.code_around(start)
    assert code is not None
    return [binary.function_at(call.target) for call in code.calls]


@pytest.mark.parametrize("way", _WAYS)
@pytest.mark.parametrize("linker", _LINKERS)
def test_calls_and_jumps_have_the_names_of_their_targets(linker: str, way: str, tmp_path: Path) -> None:
    """Functions of another library and its own exported ones, which can both be interposed."""
    library = built(tmp_path, f"-fuse-ld={linker}", *_WAYS[way])

    outside, own = "elsewhere", "shop::exported(int)"
    assert sorted(named_calls(library, "_ZN4shop5callsEi")) == [outside, outside, own, own]
    assert named_calls(library, "_ZN4shop5jumpsEi") == [outside]


def test_section_headers_are_not_needed(tmp_path: Path) -> None:
    library = built(tmp_path)
    content = bytearray(library.read_bytes())
    symbols = Binary.open(library).symbols
    assert symbols is not None
    start = next(symbol.start for symbol in symbols if symbol.mangled == "_ZN4shop5callsEi")
    whole = Binary.open(library).code_around(start)
    assert whole is not None
    content[40:48] = bytes(8)  # e_shoff
    content[58:64] = bytes(6)  # e_shentsize, e_shnum, e_shstrndx
    library.write_bytes(content)

    binary = Binary.open(library)

    assert binary._linkage.find_target_name(whole.calls[0].target) in ("elsewhere", "_ZN4shop8exportedEi")


def test_a_static_program_has_no_linker_symbols(tmp_path: Path) -> None:
    (tmp_path / "main.c").write_text("#include <string.h>\nint main(int n, char **a) { return strlen(a[0]) + n; }\n")
    subprocess.run(["cc", "-O2", "-static", "main.c", "-o", "main"], cwd=tmp_path, check=True)

    binary = Binary.open(tmp_path / "main")

    assert binary.function_names_at(0x400000) == ()


def test_all_functions_at_one_address_are_returned(tmp_path: Path) -> None:
    (tmp_path / "main.cc").write_text(
        "namespace a { __attribute__((noinline)) int f(int x) { return x * 3; } }\n"
        'namespace b { int g(int) __attribute__((alias("_ZN1a1fEi"))); }\n'
        "int main(int n, char **) { return a::f(n) + b::g(n); }\n"
    )
    subprocess.run(["c++", "-O1", "main.cc", "-o", "main"], cwd=tmp_path, check=True)
    binary = Binary.open(tmp_path / "main")
    symbols = binary.symbols
    assert symbols is not None
    start = next(symbol.start for symbol in symbols if symbol.mangled in ("_ZN1a1fEi", "_ZN1b1gEi"))

    assert sorted(binary.function_names_at(start)) == ["a::f(int)", "b::g(int)"]
    assert binary.function_names_at(start + 1) == ()


def test_code_that_gcc_split_off_is_read_with_its_function(tmp_path: Path) -> None:
    """A function whose unlikely calls are in a separate part, viewed from either part."""
    (tmp_path / "cold.c").write_text(
        "void often(int);\n__attribute__((cold)) void seldom(int);\n"
        "int split(int n) { if (n > 7) { seldom(n); seldom(n + 1); } often(n); return n; }\n"
    )
    subprocess.run(["gcc", "-O2", "-fPIC", "-shared", "cold.c", "-o", "cold.so"], cwd=tmp_path, check=True)
    binary = Binary.open(tmp_path / "cold.so")
    symbols = binary.symbols
    assert symbols is not None
    starts = [symbol.start for symbol in symbols if symbol.mangled.partition(".")[0] == "split"]
    assert len(starts) == 2

    for start in starts:
        code = binary.code_around(start)
        assert code is not None
        names = [binary.function_at(call.target) for call in code.calls]
        assert names == ["often", "seldom", "seldom"]
        assert {binary.function_at(target) for target in code.calls_after(1)} == {"seldom", "often"}


def test_a_binary_names_its_compiler(tmp_path: Path) -> None:
    assert any(compiler.startswith("GCC: ") for compiler in Binary.open(built(tmp_path)).compilers)


@pytest.mark.exhaustive
def test_damaged_linker_tables_give_fewer_names(tmp_path: Path) -> None:
    library = built(tmp_path)
    whole = library.read_bytes()
    segment = Binary.open(library)._linkage._elf.dynamic_segment
    assert segment is not None
    chance = random.Random(19)
    for _ in range(150):
        content = bytearray(whole)
        for _ in range(6):
            place = chance.randrange(len(content)) if chance.random() < 0.3 else whole.find(b"\x05\0\0\0\0\0\0\0")
            value = chance.choice((0, 1, 0x7FFFFFFFFFFFFFFF, (1 << 64) - 1, chance.randrange(1 << 32)))
            place += chance.randrange(-160, 300)
            if 64 < place < len(content) - 8:
                content[place : place + 8] = value.to_bytes(8, "little")
        library.write_bytes(content)
        binary = Binary.open(library)
        for address in (*range(0x1000, 0x1100, 16), 0x3FE0, 0x4000, (1 << 64) - 1):
            binary.function_at(address)
            binary.function_names_at(address)
            binary.code_around(address)

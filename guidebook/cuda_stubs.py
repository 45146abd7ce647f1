"""Stub CUDA libraries for PyPI's torch, which links 5 GB of them but calls none without a GPU.

A stub exports the symbols that torch's libraries need. Its functions return the address of zeroed memory, because torch
stores some results while it is loaded.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

MAIN_LIBRARY = "libtorch_cuda.so"
LARGE_LIBRARIES = (MAIN_LIBRARY, "libtorch_cuda_linalg.so", "libtorch_nvshmem.so")
LINKED = ("c10", "c10_cuda", "shm", "torch", "torch_cpu", "torch_global_deps", "torch_python")
SYSTEM = ("libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6")
_START = ".bss\n.balign 64\nroom: .skip 65536\n"
_END = ".text\nnothing: xor %eax, %eax\nret\n.section .note.GNU-stack\n"
_FUNCTION = ".text\n.globl {0}\n.type {0}, @function\n.balign 64\n{0}: lea room(%rip), %rax\nret\n"
_OBJECT = '.section .data.rel, "aw"\n.globl {0}\n.type {0}, @object\n.balign 64\n{0}:\n'
_TYPE = '.quad _ZTVN10__cxxabiv117__class_type_infoE + 16\n.quad name{0}\n.section .rodata\nname{0}: .string "{1}"\n'
_VIRTUAL_FUNCTIONS = ".quad 0, 0\n.rept 64\n.quad nothing\n.endr\n"


@dataclass(frozen=True, slots=True)
class LinkedSymbols:
    """The needed libraries, needed symbols with versions (empty: any), and defined symbols of a library."""

    needed: frozenset[str]
    undefined: frozenset[tuple[str, str]]
    defined: frozenset[str]


def build_stubs(folder: Path) -> None:
    """Replace the large GPU libraries in torch's library folder by stubs.

    Raises OSError or subprocess.CalledProcessError if a stub cannot be compiled.
    """
    for name in LARGE_LIBRARIES:
        (folder / name).unlink(missing_ok=True)
    read = [_read_library(folder / f"lib{name}.so") for name in LINKED]
    defined = {symbol for library in read for symbol in library.defined}
    missing = {name for library in read for name in library.needed if not _is_available(name, folder)}
    system = [ctypes.CDLL(name) for name in SYSTEM]
    symbols: dict[str, list[str]] = defaultdict(list)
    for name, version in sorted({undefined for library in read for undefined in library.undefined}):
        if version in missing:
            symbols[version].append(name)
        elif name in defined or name.startswith(("Py", "_Py")) or any(hasattr(library, name) for library in system):
            continue
        elif not version:
            symbols[MAIN_LIBRARY].append(name)
    for library in missing:
        _compile(folder / library, symbols[library], version="" if library == MAIN_LIBRARY else library)


def _read_library(path: Path) -> LinkedSymbols:
    with path.open("rb") as file:
        elf: Any = ELFFile(file)
        tags = elf.get_section_by_name(".dynamic").iter_tags()
        needed = frozenset(tag.needed for tag in tags if tag.entry.d_tag == "DT_NEEDED")
        symbols = list(elf.get_section_by_name(".dynsym").iter_symbols())
        versions = list(_symbol_versions(elf, len(symbols)))
        undefined, defined = set(), set()
        for symbol, version in zip(symbols, versions, strict=True):
            if symbol["st_shndx"] != "SHN_UNDEF":
                defined.add(symbol.name)
            elif symbol.name and symbol["st_info"]["bind"] != "STB_WEAK":
                undefined.add((symbol.name, version))
        return LinkedSymbols(needed, frozenset(undefined), frozenset(defined))


def _symbol_versions(elf: Any, count: int) -> Iterator[str]:
    """Yield the needed version of each dynamic symbol, empty for any."""
    numbers = elf.get_section_by_name(".gnu.version")
    needs = elf.get_section_by_name(".gnu.version_r")
    if numbers is None or needs is None:
        yield from [""] * count
        return
    names = {each["vna_other"]: each.name for _, each_of in needs.iter_versions() for each in each_of}
    for index in range(count):
        yield names.get(numbers.get_symbol(index)["ndx"], "")


def _is_available(name: str, folder: Path) -> bool:
    if (folder / name).exists():
        return True
    try:
        ctypes.CDLL(name)
    except OSError:
        return False
    return True


def _compile(path: Path, symbols: Iterable[str], version: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, script = Path(folder) / "stand_in.s", Path(folder) / "versions"
        source.write_text(_START + "".join(map(_assembly, symbols)) + _END, encoding="ascii")
        script.write_text(f"{version} {{ global: *; }};" if version else "{ global: *; };", encoding="ascii")
        options = ["-shared", f"-Wl,-soname,{path.name}", f"-Wl,--version-script={script}"]
        command = ["c++", *options, "-o", str(path), str(source)]
        subprocess.run(command, check=True, capture_output=True, text=True)


def _assembly(symbol: str) -> str:
    if symbol.startswith("_ZTI"):
        return (_OBJECT + _TYPE).format(symbol, symbol.removeprefix("_ZTI"))
    if symbol.startswith(("_ZTV", "_ZTT")):
        return _OBJECT.format(symbol) + _VIRTUAL_FUNCTIONS
    return _FUNCTION.format(symbol)

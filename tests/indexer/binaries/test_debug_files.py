"""Compressed symbols in a binary (`.gnu_debugdata`) give the same results as `.symtab`."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from framedex.binaries import Binary
from framedex.binaries.elf import Elf
from framedex.binaries.symbols import ElfSymbol, read_symbols
from tests.indexer.binaries.conftest import compiled
from tests.indexer.binaries.embedding import compressed, embed, functions_not_exported, only_symbols

BIT_64, MACHINE = 4, 18  # offsets in an ELF header
AARCH64 = 183


@pytest.fixture(scope="module")
def library(source: Path) -> Path:
    """A library with all its symbols, some of them exported."""
    return compiled(source, "whole.so", "-O2", "-shared", "-fPIC", "-Wl,--build-id=0x0123456789abcdef")


def functions(path: Path) -> list[ElfSymbol]:
    elf = Elf.open(path)
    found = list(read_symbols(elf))
    assert elf.problems == []
    return found


def names_in(path: Path, where: list[ElfSymbol]) -> list[str]:
    """The name found in the middle of each of these functions."""
    found = Binary.open(path).resolve([(symbol.start + symbol.end) // 2 for symbol in where])
    return [stack[0].mangled if stack else "" for stack in found]


def test_a_moved_symbol_table_names_the_same_functions_extents_and_units(library: Path, tmp_path: Path) -> None:
    moved = embed(library, tmp_path / "moved.so", compressed(only_symbols(library, tmp_path / "symbols").read_bytes()))

    assert functions(moved) == functions(library)
    assert {symbol.translation_unit for symbol in functions(moved)} >= {"program.cc", None}
    assert not Binary.open(moved).is_stripped


def test_embedded_symbols_are_completed_by_exports(library: Path, tmp_path: Path) -> None:
    """All functions are named even if the embedded symbols omit the exported ones."""
    rest = functions_not_exported(library, tmp_path / "rest")
    moved = embed(library, tmp_path / "moved.so", compressed(rest.read_bytes()))

    whole = functions(library)
    names = names_in(moved, whole)

    assert names == [symbol.mangled for symbol in whole]
    assert {"plain_c", "_ZN4shop12_GLOBAL__N_16hiddenEi"} <= set(names)


def test_a_binary_with_both_tables_has_all_their_functions(library: Path, tmp_path: Path) -> None:
    rest = functions_not_exported(library, tmp_path / "rest")
    both = embed(library, tmp_path / "both.so", compressed(rest.read_bytes()), "--strip-all", "--keep-symbol=plain_c")

    whole = functions(library)

    assert names_in(both, whole) == [symbol.mangled for symbol in whole]


def test_embedded_symbols_do_not_change_a_full_table(library: Path, tmp_path: Path) -> None:
    symbols = only_symbols(library, tmp_path / "symbols")
    both = embed(
        library, tmp_path / "both.so", compressed(symbols.read_bytes()), "--strip-debug", "--keep-file-symbols"
    )

    assert functions(both) == functions(library)


def damaged(kind: str, symbols: bytes, other: bytes) -> bytes:
    """Contents of a malformed section."""
    if kind == "for another machine":
        header = bytearray(symbols)
        header[MACHINE : MACHINE + 2] = AARCH64.to_bytes(2, "little")
        return compressed(bytes(header))
    sections: dict[str, Callable[[], bytes]] = {
        "empty": bytes,
        "no xz": lambda: b"\x7fELF" + bytes(100),
        "truncated": lambda: compressed(symbols)[:-40],
        "no ELF file": lambda: compressed(b"#!/bin/sh\n" * 100),
        "truncated before compression": lambda: compressed(symbols[:200]),
        "larger than": lambda: compressed(bytes((256 << 20) + 1)),
        "belong to another binary": lambda: compressed(other),
    }
    return sections[kind]()


@pytest.mark.exhaustive(keep=["truncated"])
@pytest.mark.parametrize(
    "kind",
    [
        *("empty", "no xz", "truncated", "no ELF file", "truncated before compression", "larger than"),
        *("for another machine", "belong to another binary"),
    ],
)
def test_unusable_embedded_symbols_are_skipped_with_a_note(
    kind: str, library: Path, source: Path, tmp_path: Path
) -> None:
    """The binary then has only its exported names, and reports the reason."""
    symbols = only_symbols(library, tmp_path / "symbols").read_bytes()
    another = compiled(source, "another.so", "-O0", "-shared", "-fPIC", "-Wl,--build-id=none")
    other = only_symbols(another, tmp_path / "other").read_bytes()
    bad = embed(library, tmp_path / "bad.so", damaged(kind, symbols, other))
    whole = functions(library)
    binary = Binary.open(bad)

    named = names_in(bad, whole)

    assert "plain_c" in named and "_ZN4shop12_GLOBAL__N_16hiddenEi" not in named
    assert all(name in ("", symbol.mangled) for name, symbol in zip(named, whole, strict=True))
    assert any(".gnu_debugdata" in problem for problem in binary.problems)
    assert binary.is_stripped
    if kind in ("truncated", "larger than", "for another machine", "belong to another binary"):
        assert any(kind in problem for problem in binary.problems)


@pytest.mark.exhaustive
def test_false_embedded_symbols_never_raise(library: Path, tmp_path: Path) -> None:
    symbols = only_symbols(library, tmp_path / "symbols").read_bytes()
    dice = random.Random(18)
    for turn in range(60):
        lying = bytearray(symbols)
        for _ in range(dice.choice([1, 8, 80])):
            lying[dice.randrange(64 if turn % 2 else 0, len(lying))] = dice.randrange(256)
        binary = Binary.open(embed(library, tmp_path / "lying.so", compressed(bytes(lying))))
        for stack in binary.resolve(range(0x1000, 0x1400, 16)):
            assert all(isinstance(symbol.name, str) for symbol in stack)
        assert all(isinstance(problem, str) for problem in binary.problems)

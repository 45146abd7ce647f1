"""Line tables are built once for a binary, and again when it or their builder changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from framedex.binaries import Binary, dwarf
from framedex.binaries.dwarf import CachedLineTables, LineTables
from tests.indexer.binaries.conftest import compiled

TABLES = os.urandom(1 << 17)


@pytest.fixture
def binary(tmp_path: Path) -> Path:
    path = tmp_path / "library.so"
    path.write_bytes(b"a binary")
    return path


@pytest.fixture
def maker(tmp_path: Path) -> Path:
    path = tmp_path / "maker.py"
    path.write_bytes(b"the library that makes tables")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


def test_stored_tables_are_read_back(binary: Path, maker: Path, folder: Path) -> None:
    CachedLineTables(binary, maker, folder).store(TABLES)
    assert CachedLineTables(binary, maker, folder).read() == TABLES


@pytest.mark.parametrize("changed", ["binary", "maker"])
def test_tables_of_another_file_state_are_not_used(
    binary: Path, maker: Path, folder: Path, changed: str, request: pytest.FixtureRequest
) -> None:
    CachedLineTables(binary, maker, folder).store(TABLES)
    Path(request.getfixturevalue(changed)).write_bytes(b"built anew")
    assert CachedLineTables(binary, maker, folder).read() is None


def test_tables_are_not_stored_if_the_binary_changes_meanwhile(binary: Path, maker: Path, folder: Path) -> None:
    kept = CachedLineTables(binary, maker, folder)
    binary.write_bytes(b"built anew")
    kept.store(TABLES)
    assert kept.read() is None
    assert CachedLineTables(binary, maker, folder).read() is None


@pytest.mark.parametrize("damage", [b"", b"\0" * 4, b"\0" * len(TABLES)])
def test_damaged_tables_are_not_read(binary: Path, maker: Path, folder: Path, damage: bytes) -> None:
    kept = CachedLineTables(binary, maker, folder)
    kept.store(TABLES)
    (file,) = folder.iterdir()
    file.write_bytes(damage)
    assert kept.read() is None


def test_the_least_recently_used_tables_are_deleted(
    tmp_path: Path, maker: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dwarf, "_MAX_TOTAL_BYTES", 2 * len(TABLES) + 100)
    binaries = [tmp_path / name for name in ("first", "second", "third")]
    for age, path in enumerate(reversed(binaries[:2]), 1):
        path.write_bytes(b"a binary")
        CachedLineTables(path, maker, folder).store(TABLES)
        for file in folder.iterdir():
            os.utime(file, (1e9 - age, 1e9 - age))
    assert CachedLineTables(binaries[0], maker, folder).read() == TABLES
    binaries[2].write_bytes(b"a binary")
    CachedLineTables(binaries[2], maker, folder).store(TABLES)
    assert [CachedLineTables(path, maker, folder).read() is not None for path in binaries] == [True, False, True]


def test_stored_tables_give_the_same_lines(
    debug_binary: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dwarf, "_MIN_STORED_BYTES", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    addresses = range(0x1000, 0x1400)
    made = LineTables(debug_binary, 0)
    found = [made.find(address) for address in addresses]
    assert list((tmp_path / "framedex" / "line-tables").iterdir())
    monkeypatch.setattr(LineTables, "_build_tables", lambda _: pytest.fail("they were made again"))
    kept = LineTables(debug_binary, 0)
    assert [kept.find(address) for address in addresses] == found
    assert any(line.path == str(source) for lines in found for line in lines)


def test_lines_are_found_without_a_writable_cache(
    debug_binary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dwarf, "_MIN_STORED_BYTES", 0)
    blocked = tmp_path / "a file"
    blocked.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    lines = LineTables(debug_binary, 0)
    assert any(lines.find(address) for address in range(0x1000, 0x1400))
    assert lines.problem is None


def test_a_split_off_part_without_a_row_of_its_own_has_no_lines(tmp_path: Path) -> None:
    # GCC writes no row at the start of a `.cold` part. The innermost of five functions would be missing there.
    source = tmp_path / "owners.cpp"
    source.write_text(
        "#include <memory>\n"
        "struct A { virtual ~A(); };\n"
        "std::shared_ptr<A> make() { return std::shared_ptr<A>(new A); }\n"
        "A::~A() {}\n"
    )
    library = compiled(source, "libowners.so", "-O2", "-g", "-shared", "-fPIC")
    binary = Binary.open(library)
    assert binary.symbols is not None
    (part,) = (each for each in binary.symbols.functions_containing("make", 9) if each.mangled.endswith(".cold"))
    code = binary.code_around(part.start)
    assert code is not None
    addresses = [call.return_address - 1 for call in code.calls if part.start < call.return_address <= part.end]
    frames = [[bool(frame.path) for frame in frames] for frames in binary.resolve(addresses)]
    assert frames[:2] == [[False], [True] * 5]

"""A jaxlib with its symbols in `.gnu_debugdata` is indexed like the original jaxlib."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import jaxlib
import pytest

from framedex.binaries import Binary
from framedex.binaries.elf import Elf
from framedex.binaries.symbols import read_symbols
from framedex.index import Store
from framedex.ingest import SilentProgress, ingest_captures
from tests.indexer.binaries.embedding import compressed, embed, only_symbols
from tests.running import TIMEOUT, Run, mock_environment

NAME = "libjax_common.so"
PROGRAM = """
import jax, jax.numpy as jnp
print(float(jax.jit(lambda x: jnp.tanh(x @ x).sum())(jnp.ones((8, 8)))))
"""


@dataclass(frozen=True)
class Moved:
    """The installed library, the library with moved symbols, and a capture recorded with the latter."""

    installed: Path
    library: Path
    ran: Run


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Moved:
    """A copy of jaxlib with one library replaced, with which a program was recorded."""
    installed = Path(jaxlib.__file__).parent
    if not (installed / NAME).exists():
        pytest.skip(f"this jaxlib has no {NAME}")
    folder = tmp_path_factory.mktemp("moved")
    package = folder / "packages" / "jaxlib"
    shutil.copytree(installed, package, ignore=shutil.ignore_patterns(NAME, "__pycache__", "include"))
    symbols = only_symbols(installed / NAME, folder / "symbols")
    library = embed(installed / NAME, package / NAME, compressed(symbols.read_bytes()))
    symbols.unlink()
    environment = mock_environment(folder) | {"PYTHONPATH": str(package.parent)}
    ran = Run.of([sys.executable, "-c", PROGRAM], folder, environment, TIMEOUT)
    return Moved(installed / NAME, library, ran)


@pytest.mark.exhaustive
def test_the_library_has_only_the_embedded_symbol_table(moved: Moved) -> None:
    sections = {section.name for section in Elf.open(moved.library).sections}

    assert ".gnu_debugdata" in sections and not {".symtab", ".strtab"} & sections


@pytest.mark.exhaustive
def test_all_functions_extents_and_units_are_equal(moved: Moved) -> None:
    whole, embedded = (read_symbols(Elf.open(path)) for path in (moved.installed, moved.library))

    assert len(whole) > 300_000 and len(embedded) == len(whole)
    assert all(one == other for one, other in zip(whole, embedded, strict=True))


@pytest.mark.exhaustive
def test_an_index_has_the_same_names_and_lines_as_before_stripping(moved: Moved, tmp_path: Path) -> None:
    """For one recording, naming by both libraries gives the same functions."""
    assert moved.ran.result == pytest.approx(64.0, rel=1e-3)
    with Store(tmp_path / "index.db") as store:
        report = ingest_captures(store, [moved.ran.capture], [], SilentProgress())
    with closing(sqlite3.connect(tmp_path / "index.db")) as database:
        frames = database.execute(
            "SELECT fr.offset, fn.name, fn.symbol, fn.unit FROM frames fr"
            " JOIN functions fn ON fn.id = fr.function JOIN modules m ON m.id = fr.module WHERE m.path = ?",
            (str(moved.library),),
        ).fetchall()
    whole = Binary.open(moved.installed)

    assert report.captures[0].problems == ()
    assert len(frames) > 50
    for offset, name, symbol, unit in frames:
        (expected,) = whole.resolve([offset - 1])[0]
        assert (name, symbol, unit) == (expected.name, expected.symbol, expected.unit or "")


@pytest.mark.exhaustive
def test_recorded_frames_call_the_same_functions(moved: Moved) -> None:
    """A frame's line is found from the calls before and after it."""
    whole, embedded = Binary.open(moved.installed), Binary.open(moved.library)
    offsets = [symbol.start + 1 for symbol in list(read_symbols(Elf.open(moved.installed)))[::20_000]]

    for offset in offsets:
        one, other = whole.code_around(offset), embedded.code_around(offset)
        assert one is not None and other is not None and one.calls == other.calls
        for call in one.calls:
            assert whole.function_at(call.target) == embedded.function_at(call.target)

"""Collectives of sharded programs: compared with the compiler's text, with their lines and who asked for them."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.model import Collective
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.run.costs.cases import line_marked
from tests.running import PROGRAMS, run

TABLES = ("program_collectives", "program_memory", "program_frames")
PROGRAM = PROGRAMS / "costs" / "collectives.py"


class Recorded:
    """The index of the program, and the collectives in the compiler's text by program and opcode."""

    def __init__(self, folder: Path) -> None:
        ran = run("costs/collectives.py", folder=folder, FRAMEDEX_DEVICES="8")
        self.expected: dict[str, dict[str, int]] = ran.result
        self.index = index_without_sources(folder / "index.db", ran.capture)

    def collectives(self) -> dict[str, tuple[Collective, ...]]:
        """The collectives by function."""
        with Index.open(self.index) as index:
            return {row.function: row.collectives for row in index.compiles() if row.function in self.expected}


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return made_once("collectives", Recorded)


def test_each_collective_of_the_compiler_is_counted_once(recorded: Recorded) -> None:
    found = recorded.collectives()
    assert len(recorded.expected) == 6 and all(recorded.expected.values())
    for name, expected in recorded.expected.items():
        counts: dict[str, int] = {}
        for each in found[name]:
            counts[each.opcode] = counts.get(each.opcode, 0) + each.count
        assert (name, counts) == (name, expected)


@pytest.mark.parametrize(
    ("function", "case", "is_requested", "is_repeated"),
    [
        ("summed", "sum", False, False),
        ("matrix_product", "product", False, False),
        ("mapped", "psum", True, False),
        ("constrained", "constraint", False, False),
        ("constrained_here", "asked", True, False),
        ("looped", "loop", False, True),
    ],
)
def test_a_collective_has_its_line_and_whether_it_asked_for_it(
    recorded: Recorded, function: str, case: str, is_requested: bool, is_repeated: bool
) -> None:
    line = line_marked(PROGRAM, f"case: {case}")
    here = [each for each in recorded.collectives()[function] if each.line and each.line.location.line == line]
    assert here
    assert {(each.is_requested, each.is_repeated) for each in here} == {(is_requested, is_repeated)}


def test_sizes_and_groups(recorded: Recorded) -> None:
    (psum,) = recorded.collectives()["mapped"]
    assert (psum.opcode, psum.shape, psum.size, psum.devices) == ("all-reduce", "f32[4,16]", 256, 4)


def test_text_and_json_have_the_collectives(recorded: Recorded) -> None:
    runner = CliRunner(env={"COLUMNS": "300"})
    text = runner.invoke(cli, ["--index", str(recorded.index), "compiles"]).stdout
    assert re.search(r"1 all-reduce for psum\w*: f32\[4,16\], 256 B on each device between 4 devices", text)
    assert "inserted by the compiler for reduce_sum" in text
    document = json.loads(runner.invoke(cli, ["--index", str(recorded.index), "compiles", "--json"]).stdout)
    assert any(each["is_requested"] for row in document["compiles"] for each in row["collectives"])


def test_a_removed_capture_leaves_no_rows(recorded: Recorded, tmp_path: Path) -> None:
    copy = tmp_path / "index.db"
    shutil.copy(recorded.index, copy)
    with Store(copy) as store:
        (capture,) = store.captures()
        store.remove_captures([capture.id])
    with closing(sqlite3.connect(copy)) as connection:
        rows = [connection.execute(f"SELECT count(*) FROM {table}").fetchone() for table in TABLES]
    assert rows == [(0,)] * len(TABLES)

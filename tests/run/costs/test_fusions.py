"""Ops of several lines in one fusion: compared with the compiler's text, and the answers about each line."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.index import Index, Store
from framedex.model import LineFusion
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.run.costs.cases import line_marked
from tests.running import PROGRAMS, run

TABLES = ("program_fusions", "program_fusion_lines", "program_memory", "program_frames")
PROGRAM = PROGRAMS / "costs" / "fusions.py"
FIRST, SECOND, THIRD = (line_marked(PROGRAM, f"case: {case}") for case in ("first", "second", "third"))
PRODUCT, SCALE = (line_marked(PROGRAM, f"case: {case}") for case in ("product", "scale"))
SINGLE = line_marked(PROGRAM, "case: single")


class Recorded:
    """The index of the program, and the lines with their ops in each fusion of the compiler's text, by program."""

    def __init__(self, folder: Path) -> None:
        ran = run("costs/fusions.py", folder=folder)
        self.expected: dict[str, list[list[tuple[int, int]]]] = ran.result
        self.index = index_without_sources(folder / "index.db", ran.capture)

    def fusions(self, line: int, index: Path | None = None) -> tuple[LineFusion, ...]:
        """The fusions with ops of a line of the program."""
        with Index.open(index or self.index) as opened:
            (use,) = opened.line(str(PROGRAM), line).program_uses()
        return use.fusions


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return made_once("fusions", Recorded)


def _shares(fusion: LineFusion) -> dict[int, float]:
    return {line.location.line: round(share, 3) for line, share in fusion.shares}


def _expected_shares(ops: list[tuple[int, int]]) -> dict[int, float]:
    total = sum(count for _, count in ops)
    return {line: round(count / total, 3) for line, count in ops}


@pytest.mark.parametrize(("line", "name"), [(FIRST, "chain"), (SECOND, "chain"), (THIRD, "chain"), (SCALE, "layers")])
def test_a_line_has_all_lines_of_its_fusions_as_in_the_compilers_text(recorded: Recorded, line: int, name: str) -> None:
    expected = [ops for ops in recorded.expected[name] if len(ops) > 1 and line in dict(ops)]
    assert expected
    found = recorded.fusions(line)
    assert sum(fusion.count for fusion in found) == len(expected)
    kinds = Counter(json.dumps(sorted(_shares(fusion).items())) for fusion in found for _ in range(fusion.count))
    assert kinds == Counter(json.dumps(sorted(_expected_shares(ops).items())) for ops in expected)
    for fusion in found:
        shares = [share for _, share in fusion.shares]
        assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(1)


def test_equal_fusions_of_repeated_layers_are_counted_together(recorded: Recorded) -> None:
    assert max(fusion.count for fusion in recorded.fusions(PRODUCT)) > 1


def test_a_fusion_of_one_line_is_left_out(recorded: Recorded) -> None:
    assert any(len(ops) == 1 for ops in recorded.expected["single"])
    assert recorded.fusions(SINGLE) == ()


def test_text_and_json_of_where_have_the_lines_with_their_shares(recorded: Recorded) -> None:
    (fusion,) = recorded.fusions(SECOND)
    arguments = ["--index", str(recorded.index), "where", f"{PROGRAM}:{SECOND}"]
    text = CliRunner(env={"COLUMNS": "300"}).invoke(cli, arguments).stdout
    assert re.search(r"^  fused    once, as jit\(chain\)/\w+$", text, re.MULTILINE)
    for line, share in _shares(fusion).items():
        shown = rf"^ +{share:.0%} of {re.escape(fusion.instruction)}: \S+fusions\.py:{line} in chain$"
        assert re.search(shown, text, re.MULTILINE), text
    document = json.loads(CliRunner().invoke(cli, [*arguments, "--json"]).stdout)
    (use,) = document["programs"]
    (found,) = use["fusions"]
    assert {line["location"]["line"]: round(share, 3) for line, share in found["shares"]} == _shares(fusion)


def test_a_shared_file_has_the_same_fusions(recorded: Recorded, tmp_path: Path) -> None:
    shared, copy = tmp_path / "shared.fdx.zip", tmp_path / "copy" / "index.db"
    for index, arguments in ((recorded.index, ["share", "1", "-o", str(shared)]), (copy, ["import", str(shared)])):
        assert CliRunner().invoke(cli, ["--index", str(index), *arguments]).exit_code == 0
    for line in (SECOND, SCALE):
        assert recorded.fusions(line, copy) == recorded.fusions(line)


def test_a_redacted_file_has_the_same_lines_without_names(recorded: Recorded, tmp_path: Path) -> None:
    shared, copy = tmp_path / "shared.fdx.zip", tmp_path / "index.db"
    share = ["share", "1", "--redact", "-o", str(shared)]
    for index, arguments in ((recorded.index, share), (copy, ["import", str(shared)])):
        assert CliRunner().invoke(cli, ["--index", str(index), *arguments]).exit_code == 0
    assert _rows(copy, "n.fusions, l.ops, fr.line") == _rows(recorded.index, "n.fusions, l.ops, fr.line")
    assert all(name.startswith("instruction_") for (name,) in _rows(copy, "n.instruction"))
    assert not any(str(PROGRAM.parent) in path for (path,) in _rows(copy, "f.path"))


def _rows(index: Path, columns: str) -> list[tuple[str, ...]]:
    with closing(sqlite3.connect(index)) as connection:
        return sorted(
            connection.execute(
                f"SELECT {columns} FROM program_fusions n JOIN program_fusion_lines l ON l.memory = n.memory"
                " AND l.fusion = n.number JOIN program_frames fr ON fr.id = l.frame JOIN files f ON f.id = fr.file"
            )
        )


def test_a_removed_capture_leaves_no_rows(recorded: Recorded, tmp_path: Path) -> None:
    copy = Path(shutil.copy(recorded.index, tmp_path / "index.db"))
    with Store(copy) as store:
        (capture,) = store.captures()
        store.remove_captures([capture.id])
    with closing(sqlite3.connect(copy)) as connection:
        rows = [connection.execute(f"SELECT count(*) FROM {table}").fetchone() for table in TABLES]
    assert rows == [(0,)] * len(TABLES)

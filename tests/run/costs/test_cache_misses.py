"""Misses of JAX's persistent compilation cache are explained by the parts of the key."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.index import Index
from framedex.model import CacheMiss
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.run.costs.cases import line_marked
from tests.run.costs.compiling import NOTED
from tests.running import PROGRAMS, run

PROGRAM = PROGRAMS / "costs" / "cache_misses.py"


class Recorded:
    """The index of a program that filled the cache, and of one that missed it."""

    def __init__(self, folder: Path) -> None:
        arguments = "costs/cache_misses.py", str(folder / "cache")
        self.first = run(*arguments, "first", folder=folder, **NOTED).capture
        both = run(*arguments, "second", folder=folder, **NOTED).captures
        self.second = next(path for path in both if path != self.first)
        self.index = index_without_sources(folder / "index.db", self.first, self.second)

    def misses(self, case: str) -> tuple[CacheMiss, ...]:
        """The misses of the second program on a marked line."""
        line = line_marked(PROGRAM, f"case: {case}")
        with Index.open(self.index) as index:
            rows = index.compiles(all_lines=True)
            callers = [(row, [row.line, *row.outward]) for row in rows]
        return tuple(
            miss
            for row, lines in callers
            if any(each is not None and each.location.line == line for each in lines)
            for miss in row.cache_misses
        )


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    return made_once("cache-misses", Recorded)


@pytest.mark.parametrize(
    ("case", "parts", "changes"),
    [("program", ("computation",), ["x"]), ("options", ("compile_options",), ["xla_cpu_enable_fast_math"])],
)
def test_a_miss_has_the_parts_of_the_key_that_differ(
    recorded: Recorded, case: str, parts: tuple[str, ...], changes: list[str]
) -> None:
    (miss,) = recorded.misses(case)
    assert (miss.parts, miss.earlier_path) == (parts, str(recorded.first))
    assert [name for change in miss.changes for name in changes if name in (change.parameter, change.what)] == changes


def test_a_program_that_compiled_too_quickly_was_not_stored(recorded: Recorded) -> None:
    (miss,) = recorded.misses("quick")
    assert (miss.parts, miss.minimum_s, miss.earlier_path) == ((), 1000, str(recorded.second))


def test_an_entry_in_another_folder_is_gone(recorded: Recorded) -> None:
    (miss,) = recorded.misses("gone")
    assert (miss.parts, miss.minimum_s) == ((), None)


def test_without_a_cache_nothing_is_missed(recorded: Recorded) -> None:
    assert recorded.misses("no cache") == ()


def test_every_compilation_with_a_cache_has_a_miss(recorded: Recorded) -> None:
    with Index.open(recorded.index) as index:
        rows = index.compiles()
    assert [(row.compiles, row.loads, len(row.cache_misses)) for row in rows] == [(7, 1, 5)]


def test_text_and_json_have_the_misses(recorded: Recorded) -> None:
    runner = CliRunner(env={"COLUMNS": "300"})
    text = runner.invoke(cli, ["--index", str(recorded.index), "compiles", "--all-lines"]).stdout
    earlier = f"of {recorded.first.name}"
    assert "cache miss: different program than in call" in text
    assert f"{earlier} (x was float32[4,4], [5,5])" in text
    assert "was not stored, it compiled in less than 1000 s (jax_persistent_cache_min_compile_time_secs)" in text
    assert "but its entry was removed or is in another folder" in text
    document = json.loads(runner.invoke(cli, ["--index", str(recorded.index), "compiles", "--json"]).stdout)
    misses = [miss for row in document["compiles"] for miss in row["cache_misses"]]
    assert {"cause": "shape", "what": "argument 0 (x)", "values": ["float32[4,4]", "float32[5,5]"]} in [
        change for miss in misses for change in miss["changes"]
    ]

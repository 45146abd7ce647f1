"""Compilations by line, of programs with known reasons, as JAX itself logs them."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from framedex.index import Index
from framedex.model import ChangeCause, CompileChange
from tests.once import made_once
from tests.run.costs.compiling import Recorded, recorded_and_indexed
from tests.running import run


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    """The program that compiles for every reason, on four devices."""
    return made_once("costs-compiles", _record)


@pytest.fixture(scope="module")
def cached() -> Recorded:
    """A program that runs twice with a persistent cache."""
    return made_once("costs-compiles-cached", _record_twice)


def _record(folder: Path) -> Recorded:
    return recorded_and_indexed(folder, "costs/compiles.py", FRAMEDEX_DEVICES="4")


def _record_twice(folder: Path) -> Recorded:
    program = ("compilation_cache.py", str(folder / "cache"))
    run(*program, folder=folder, FRAMEDEX_DEVICES="4")
    return recorded_and_indexed(folder, *program, FRAMEDEX_DEVICES="4", JAX_LOG_COMPILES="1")


def test_the_compilations_of_each_function_equal_the_jax_log(recorded: Recorded) -> None:
    assert recorded.counted() == recorded.logged
    assert not any(row.loads or row.problem for row in recorded.rows())


@pytest.mark.parametrize(
    ("case", "compiles", "changes"),
    [
        (
            "shapes",
            19,
            [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", tuple(f"float32[{n}]" for n in range(1, 20)))],
        ),
        ("helper", 1, [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", ("float32[19]", "float32[30]"))]),
        (
            "dtypes",
            4,
            [CompileChange(ChangeCause.DTYPE, "argument 0 (x)", ("float32[3]", "int32[3]", "complex64[3]", "bool[3]"))],
        ),
        ("in_loop", 3, [CompileChange(ChangeCause.SAME, "")]),
        ("static_constant", 3, [CompileChange(ChangeCause.CONSTANTS, "constants", ("2.0", "3.0", "4.0"))]),
        ("static_shape", 2, [CompileChange(ChangeCause.CODE, "result 0", ("float32[2,3]", "float32[3,3]"))]),
        ("static_code", 2, [CompileChange(ChangeCause.CODE, "")]),
        ("static_nothing", 2, [CompileChange(ChangeCause.SAME, "")]),
        ("weak", 2, [CompileChange(ChangeCause.SAME, "")]),
        ("donated", 2, [CompileChange(ChangeCause.DONATION, "argument 0 (x)", ("kept", "donated"))]),
        (
            "sharded",
            3,
            [
                CompileChange(
                    ChangeCause.SHARDING,
                    "argument 0 (x)",
                    ("P('devices', None)", "P(None, 'devices')", "P(None, None)"),
                )
            ],
        ),
        ("over", 2, [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", ("float32[4]", "float32[8]"))]),
        ("tree", 2, [CompileChange(ChangeCause.ARGUMENTS, "number of arguments", ("2", "3"))]),
        ("renamed", 1, [CompileChange(ChangeCause.ARGUMENTS, "argument 1", ("params['b']", "params['c']"))]),
        ("with_closure", 2, [CompileChange(ChangeCause.CONSTANTS, "constants", ("1.0", "2.0"))]),
        (
            "vmapped",
            3,
            [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", ("float32[2,3]", "float32[4,3]", "float32[8,3]"))],
        ),
        ("scanned", 2, [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", ("float32[5]", "float32[6]"))]),
        ("ahead", 2, [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", ("float32[5]", "float32[6]"))]),
        ("cleared", 2, [CompileChange(ChangeCause.SAME, "")]),
    ],
)
def test_a_line_has_its_compilation_count_and_causes(
    recorded: Recorded, case: str, compiles: int, changes: list[CompileChange]
) -> None:
    row = recorded.row(case)
    assert (row.compiles, list(row.changes)) == (compiles, changes)
    assert 0 < row.longest_duration <= row.total_duration


@pytest.mark.parametrize(
    ("case", "parameter"), [("shapes", "x"), ("renamed", "array argument 2"), ("static_shape", ""), ("tree", "")]
)
def test_a_changed_argument_is_named(recorded: Recorded, case: str, parameter: str) -> None:
    assert [change.parameter for change in recorded.row(case).changes] == [parameter]


def test_another_internal_sharding_is_not_the_same_program(recorded: Recorded) -> None:
    row = recorded.row("specs")
    assert row.compiles == 2
    assert ChangeCause.SAME not in {change.cause for change in row.changes}


def test_ops_without_jit_belong_to_the_calling_line(recorded: Recorded) -> None:
    of_line = {row.line.location.line for row in recorded.rows() if row.line and row.function == "sort"}
    (line,) = of_line
    assert recorded.program.read_text().splitlines()[line - 1].endswith("# case: without_jit")


@pytest.mark.exhaustive
def test_a_cached_program_is_loaded_instead_of_compiled(cached: Recorded) -> None:
    rows = cached.rows()
    assert sum(row.compiles for row in rows) + sum(row.loads for row in rows) == cached.logged.total()
    loaded = [row for row in rows if row.loads]
    assert sum(row.loads for row in loaded) == 3
    assert all(row.load_duration > 0 and not row.function and not row.changes for row in loaded)
    assert "(from a compilation cache)" in cached.invoke().stdout


def test_the_stacks_of_a_compilation_are_listed_on_request(recorded: Recorded) -> None:
    with Index.open(recorded.index) as index:
        (row,) = [row for row in index.compiles(all_lines=True) if row.line and row.line.function == "helper"]
        assert [line.function for line in row.outward if line.location.path == str(recorded.program)] == ["<module>"]
        assert not any(row.outward for row in index.compiles())
    assert "called from" in recorded.invoke("--all-lines", "--limit", "0").stdout


def test_text_output_has_sentences(recorded: Recorded) -> None:
    result = recorded.invoke("--limit", "1")
    assert result.exit_code == 0
    assert "--limit 0 shows all" in result.stdout
    everything = recorded.invoke("--limit", "0").stdout  # the slowest row depends on the machine's load
    assert "x was float32[1], [2], [3], ... [19]" in everything
    assert "recompiled an identical program: a new `jit` wrapper" in everything
    assert "constants were 2.0, 3.0, 4.0" in everything
    assert f"{recorded.logged.total():>8}" in everything.splitlines()[-1]


def test_json_output_has_every_figure(recorded: Recorded) -> None:
    document = json.loads(recorded.invoke("--json", "--limit", "0").stdout)
    assert sum(row["compiles"] for row in document["compiles"]) == recorded.logged.total()
    (shapes,) = [row for row in document["compiles"] if row["compiles"] == 19]
    assert shapes["changes"][0]["cause"] == "shape"
    assert len(json.loads(recorded.invoke("--json", "--limit", "2").stdout)["compiles"]) == 2


def test_a_view_has_every_compilation_with_its_line(recorded: Recorded) -> None:
    rows = recorded.rows()
    told = Counter({(row.line and row.line.location.line, row.function): row.compiles for row in rows if row.compiles})

    with closing(sqlite3.connect(recorded.index)) as database:
        query = (
            "SELECT line, compiled FROM compiles_readable WHERE program AND capture = (SELECT max(id) FROM captures)"
        )
        assert Counter(database.execute(query)) == told


SAME_AGAIN = """\
import jax, jax.numpy as jnp

@jax.jit
def step(x):
    if x.shape == (2,):
        return jnp.cos(x)
    return jnp.sin(x)

for size in (2, 3, 2):
    step(jnp.ones(size))
    jax.clear_caches()
"""


def test_the_latest_program_of_a_module_is_the_one_compiled_last(tmp_path: Path) -> None:
    (tmp_path / "again.py").write_text(SAME_AGAIN)
    recorded = recorded_and_indexed(tmp_path, str(tmp_path / "again.py"))
    with Index.open(recorded.index) as index:
        module = index.compiled_module("jit_step")
    assert module is not None and [each.line.location.line for each in module.lines] == [6]

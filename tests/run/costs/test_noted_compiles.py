"""Compilations with JAX's explanations: weak types, static and unused arguments; and options."""

from __future__ import annotations

from pathlib import Path

import pytest

from framedex.model import ChangeCause, CompileChange, Compiles
from framedex.model.costs import SAME_PASS
from tests.once import made_once
from tests.run.costs.cases import line_marked
from tests.run.costs.compiling import NOTED, Recorded, recorded_and_indexed
from tests.running import run

AS_BEFORE = "function, arguments and settings as before"


@pytest.fixture(scope="module")
def recorded() -> Recorded:
    """The program of test_compiles."""
    return made_once("costs-noted-compiles", lambda folder: _record(folder, "costs/compiles.py"))


@pytest.fixture(scope="module")
def more() -> Recorded:
    """A program that compiles for further reasons."""
    return made_once("costs-more-compiles", lambda folder: _record(folder, "costs/more_compiles.py"))


def _record(folder: Path, program: str) -> Recorded:
    return recorded_and_indexed(folder, program, FRAMEDEX_DEVICES="4", JAX_EXPLAIN_CACHE_MISSES="1", **NOTED)


# The causes that agree with an explanation of JAX, or say more. JAX reports cached functions that it has forgotten, and
# functions with other values from outside, as functions that it has never seen.
CAUSES_BY_EXPLANATION = {
    "different input types": {ChangeCause.SHAPE, ChangeCause.DTYPE, ChangeCause.WEAK_TYPE, ChangeCause.ARGUMENTS},
    "different input pytree": {ChangeCause.STATIC_DATA, ChangeCause.ARGUMENTS, ChangeCause.STATIC},
    "Tracing context doesn't match": {ChangeCause.SETTING},
    "but seen another function": {ChangeCause.FUNCTION, ChangeCause.CONSTANTS, ChangeCause.SAME, ChangeCause.SHAPE},
}


@pytest.mark.exhaustive(keep=["more"])
@pytest.mark.parametrize("name", ["recorded", "more"])
def test_each_cause_is_that_of_jax_or_a_more_exact_one(name: str, request: pytest.FixtureRequest) -> None:
    found: Recorded = request.getfixturevalue(name)
    compared = 0
    for row in found.rows():
        text = found.explained.get(row.line.location.line, "") if row.line is not None else ""
        expected = [causes for words, causes in CAUSES_BY_EXPLANATION.items() if words in text]
        if row.changes and expected:
            causes = {change.cause for change in row.changes}
            assert all(causes & each for each in expected), (row.line, text, row.changes)
            compared += 1
    assert compared >= 12


@pytest.mark.exhaustive(keep=["more"])
@pytest.mark.parametrize("name", ["recorded", "more"])
def test_the_compilations_of_each_function_equal_the_jax_log(name: str, request: pytest.FixtureRequest) -> None:
    found: Recorded = request.getfixturevalue(name)
    assert found.counted() == found.logged


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("case", "compiles", "changes"),
    [
        (
            "shapes",
            19,
            [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", tuple(f"float32[{n}]" for n in range(1, 20)))],
        ),
        ("static_constant", 3, [CompileChange(ChangeCause.STATIC, "n", ("2", "3", "4"))]),
        ("static_shape", 2, [CompileChange(ChangeCause.STATIC, "size", ("2", "3"))]),
        ("static_code", 2, [CompileChange(ChangeCause.STATIC, "mode", ("'sin'", "'cos'"))]),
        ("static_nothing", 2, [CompileChange(ChangeCause.STATIC, "unused", ("'a'", "'b'"))]),
        ("weak", 2, [CompileChange(ChangeCause.WEAK_TYPE, "argument 0 (x)", ("weak float32[]", "float32[]"))]),
        ("donated", 2, [CompileChange(ChangeCause.DONATION, "argument 0 (x)", ("kept", "donated"))]),
        ("tree", 2, [CompileChange(ChangeCause.ARGUMENTS, "number of arguments", ("2", "3"))]),
        ("renamed", 1, [CompileChange(ChangeCause.ARGUMENTS, "argument 1", ("params['b']", "params['c']"))]),
        ("with_closure", 2, [CompileChange(ChangeCause.CONSTANTS, "constants", ("1.0", "2.0"))]),
        ("ahead", 2, [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", ("float32[5]", "float32[6]"))]),
        ("cleared", 2, [CompileChange(ChangeCause.SAME, AS_BEFORE)]),
    ],
)
def test_a_line_has_facts_only_known_to_jax(
    recorded: Recorded, case: str, compiles: int, changes: list[CompileChange]
) -> None:
    row = recorded.row(case)
    assert (row.compiles, list(row.changes)) == (compiles, changes)


@pytest.mark.parametrize(
    ("case", "compiles", "changes"),
    [
        (
            *("configured", 3),
            [
                CompileChange(
                    *(ChangeCause.STATIC, "config"),
                    (
                        "Config(width=2, mode=Mode.FAST)",
                        "Config(width=3, mode=Mode.FAST)",
                        "Config(width=3, mode=Mode.EXACT)",
                    ),
                )
            ],
        ),
        ("function", 2, [CompileChange(ChangeCause.STATIC, "function", ("sin", "cos"))]),
        (
            *("keywords", 3),
            [
                CompileChange(ChangeCause.STATIC, "a", ("not given", "2")),
                CompileChange(ChangeCause.STATIC, "b", ("not given", "2")),
            ],
        ),
        (
            *("ignoring", 3),
            [CompileChange(ChangeCause.SHAPE, "unused argument ignored", ("float32[1]", "float32[2]", "float32[2,2]"))],
        ),
        (
            *("promoted", 4),
            [
                CompileChange(ChangeCause.DTYPE, "argument 1 (y)", ("float32[3]", "int32[3]", "int32[]", "float32[]")),
                CompileChange(ChangeCause.SHAPE, "argument 1 (y)", ("int32[3]", "int32[]")),
            ],
        ),
        ("loop", 2, [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", ("float32[2]", "float32[3]"))]),
        ("calling_back", 2, [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", ("float32[2]", "float32[3]"))]),
        (
            "precision",
            2,
            [CompileChange(ChangeCause.SETTING, "jax_default_matmul_precision", ("'float32'", "'bfloat16'"))],
        ),
        (
            *("x64", 2),
            [
                CompileChange(ChangeCause.DTYPE, "argument 0 (x)", ("int32[3]", "int64[3]")),
                CompileChange(ChangeCause.SETTING, "jax_enable_x64", ("False", "True")),
            ],
        ),
        ("placed", 2, [CompileChange(ChangeCause.OPTIONS, "device_assignment", ("0", "1"))]),
        ("options", 2, [CompileChange(ChangeCause.OPTIONS, "xla_backend_optimization_level", ("0", "1"))]),
        ("ahead_of_time", 2, [CompileChange(ChangeCause.STATIC, "n", ("2", "3"))]),
        ("weak", 2, [CompileChange(ChangeCause.WEAK_TYPE, "argument 0 (x)", ("weak float32[]", "float32[]"))]),
        ("nested", 2, [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", ("float32[2]", "float32[3]"))]),
        ("nearest", 1, [CompileChange(ChangeCause.SHAPE, "argument 0 (x)", ("float32[3]", "float32[2]"))]),
        ("container", 2, [CompileChange(ChangeCause.ARGUMENTS, "the structure of tree", ("list", "tuple"))]),
        ("registered", 2, [CompileChange(ChangeCause.STATIC_DATA, "tree['state'][0].rate", ("0.1", "0.2"))]),
        ("static_tree", 2, [CompileChange(ChangeCause.STATIC, "tree.rate", ("0.1", "0.2"))]),
        ("donated_in_vain", 2, [CompileChange(ChangeCause.DONATION, "argument 0 (x)", ("kept", "donated"))]),
        ("without_arrays", 2, [CompileChange(ChangeCause.STATIC, "n", ("2", "3"))]),
        ("without_ops", 2, [CompileChange(ChangeCause.STATIC, "new_dtype", ("int32", "float32"))]),
        ("random", 2, [CompileChange(ChangeCause.DTYPE, "argument 0 (key)", ("uint32[2]", "key<fry>[]"))]),
    ],
)
def test_a_line_has_the_cause_of_its_recompilation(
    more: Recorded, case: str, compiles: int, changes: list[CompileChange]
) -> None:
    row = more.row(case)
    assert (row.compiles, list(row.changes), row.failed) == (compiles, changes, 0)


@pytest.mark.parametrize(
    ("case", "value"),
    [
        ("new_lambda", "<lambda> #"),
        ("method", "Model #"),
        ("unprintable", "Unprintable #"),
        ("unequal", "Options(width=2) #"),
    ],
)
def test_recreated_objects_are_distinguished_without_their_repr(more: Recorded, case: str, value: str) -> None:
    (change,) = more.row(case).changes
    assert change.cause is ChangeCause.STATIC
    assert all(each.startswith(value) for each in change.values[-2:]) and len(set(change.values)) > 1


def test_static_data_that_compares_by_identity_differs_although_its_fields_are_equal(more: Recorded) -> None:
    (change,) = [change for change in more.row("unequal_data").changes if change.what == "tree.rate"]
    assert change.cause is ChangeCause.STATIC_DATA
    assert all(each.startswith("Options(width=2) #") for each in change.values[-2:])
    assert len(set(change.values[-2:])) == 2


def test_only_a_failed_compilation_is_marked(more: Recorded) -> None:
    row = more.row("failed")
    assert (row.compiles, row.failed) == (1, 1)
    assert CompileChange(ChangeCause.OPTIONS, "no_such_option", ("not set", "1")) in row.changes
    lines = more.invoke("--limit", "0").stdout.splitlines()
    (number,) = [number for number, line in enumerate(lines) if line.strip() == "failed"]
    assert "more_compiles.py" in lines[number - 1]


def test_text_output_names_the_static_argument_and_the_option(more: Recorded) -> None:
    told = more.invoke("--limit", "0").stdout
    assert "static argument n was 2, 3" in told
    assert "compile option xla_backend_optimization_level was 0, 1" in told
    assert "unused argument ignored was float32[1], [2], [2,2]" in told
    assert "_fun is a new function object, which JAX has not traced before" in told


def test_a_function_created_in_a_loop_is_new_each_time(recorded: Recorded) -> None:
    (change,) = recorded.row("in_loop").changes
    assert (change.cause, change.what, len(set(change.values))) == (ChangeCause.FUNCTION, "<lambda>", 3)
    shape, function = recorded.row("vmapped").changes
    assert shape == CompileChange(ChangeCause.SHAPE, "argument 0 (x)", ("float32[2,3]", "float32[4,3]", "float32[8,3]"))
    assert function.cause is ChangeCause.FUNCTION


def test_a_new_function_has_the_captured_values_that_differ(more: Recorded) -> None:
    function, constants = more.row("captured").changes
    assert (function.cause, constants.cause) == (ChangeCause.FUNCTION, ChangeCause.CONSTANTS)
    assert constants.values == ("2.0", "3.0")


def test_a_partial_is_named_by_its_function_and_arguments(more: Recorded) -> None:
    (change,) = more.row("partial").changes
    assert (change.cause, change.what) == (ChangeCause.FUNCTION, "power")
    assert [value.partition(" #")[0] for value in change.values] == ["partial(power, 2)", "partial(power, 3)"]


def test_a_mesh_of_the_context_is_readable(more: Recorded) -> None:
    (setting,) = [change for change in more.row("mesh").changes if change.cause is ChangeCause.SETTING]
    assert setting.what == "abstract_mesh_context_manager"
    assert [value[:21] for value in setting.values] == ["AbstractMesh((), axis", "AbstractMesh('d': 2, "]


def changed_rows(recorded: Recorded, case: str) -> list[Compiles]:
    """The rows of the line of a case that has several, with changes."""
    line = line_marked(recorded.program, f"case: {case}")
    return [row for row in recorded.rows() if row.line is not None and row.line.location.line == line and row.changes]


def test_an_equal_pass_of_a_derivative_is_not_a_cleared_cache(more: Recorded) -> None:
    (row,) = [row for row in changed_rows(more, "equal_passes") if row.function == "subtract"]
    assert CompileChange(ChangeCause.SAME, SAME_PASS) in row.changes


def test_passes_of_a_derivative_are_compared_separately(more: Recorded) -> None:
    (row,) = [row for row in changed_rows(more, "gradient") if row.function == "loss"]
    assert [(change.cause, change.values) for change in row.changes] == [
        (ChangeCause.SHAPE, ("float32[2]", "float32[3]")),
        (ChangeCause.DERIVATIVE, ()),
    ]


def test_a_backward_pass_with_equal_arguments_has_the_cause_of_the_forward_pass(more: Recorded) -> None:
    """Only its result differs: the cotangent of `x`, which has its type."""
    (row,) = [row for row in changed_rows(more, "equal_backward_arguments") if row.function == "linear_loss"]
    assert {(change.cause, change.values) for change in row.changes} == {
        (ChangeCause.SHAPE, ("float32[2]", "float32[3]")),
        (ChangeCause.DERIVATIVE, ()),
    }


def test_functions_that_jax_creates_for_an_eager_shard_map_are_rows_of_their_own(more: Recorded) -> None:
    rows = changed_rows(more, "eager_shard_map")
    assert {(change.cause, change.what) for row in rows for change in row.changes} == {
        (ChangeCause.FUNCTION, "_unmatch of JAX"),
        (ChangeCause.FUNCTION, "_match of JAX"),
    }
    assert "JAX creates it for each call outside of `jax.jit`" in more.invoke("--limit", "0").stdout


def test_a_wrapper_around_a_new_function_has_the_function_as_its_cause(more: Recorded) -> None:
    (change,) = more.row("pmap").changes
    assert change.cause is ChangeCause.FUNCTION and len(set(change.values)) == 2


@pytest.mark.exhaustive
def test_a_cached_program_has_its_function_name_and_the_cause(tmp_path: Path) -> None:
    arguments = ("compilation_cache.py", str(tmp_path / "cache"))
    run(*arguments, folder=tmp_path, FRAMEDEX_DEVICES="4", **NOTED)
    found = recorded_and_indexed(tmp_path, *arguments, FRAMEDEX_DEVICES="4", JAX_LOG_COMPILES="1", **NOTED)
    loaded = [row for row in found.rows() if row.loads]
    assert loaded and all(row.function in found.logged for row in loaded)
    assert "(from a compilation cache)" not in found.invoke().stdout


def test_rows_convert_to_a_pandas_table(more: Recorded) -> None:
    pandas = pytest.importorskip("pandas")
    from framedex.index import Index

    with Index.open(more.index) as index:
        table = index.compiles().to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert table["compiles"].sum() == more.logged.total()
    assert set(table["path"]) == {str(more.program)}

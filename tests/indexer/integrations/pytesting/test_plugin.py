"""The pytest plug-in on other projects' tests, recorded on the mock TPU.

These tests have budgets for compilations, transfers and memory.
"""

from __future__ import annotations

import re
import shutil
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from framedex.index import Index, Store
from framedex.ingest import SilentProgress, ingest_captures
from tests.hiding import NATIVE_PART, python_without
from tests.indexer.integrations.pytesting.projects import Outcome, outcome_of, pytest_in
from tests.once import made_once
from tests.pythons import ROOT

MODEL = """
import jax
import jax.numpy as jnp
import numpy as np


@jax.jit
def step(w, x):
    return w - 0.1 * x.sum()


def train(sizes):
    w = jax.device_put(np.zeros(1024, np.float32))
    for size in sizes:
        w = step(w, jax.device_put(np.ones(size, np.float32)))
    return w
"""

TESTS = """
import unittest
from pathlib import Path

import jax
import pytest

from model import train


@pytest.fixture(autouse=True)
def as_if_alone():
    jax.clear_caches()


@pytest.fixture
def warm(as_if_alone):
    Path("set_up").open("a").write("x")
    return train([3])


@pytest.mark.framedex(compiles=1, implicit_transfers=0, memory="1MiB")
def test_kept():
    assert jax.default_backend() == "tpu"
    train([3, 3])


def test_plain():  # the first here that opens a backend
    assert jax.default_backend() == "cpu"


@pytest.mark.framedex(compiles=0)
def test_what_fixtures_do_is_not_the_body(warm):
    train([3, 3])


@pytest.mark.framedex(compiles="model.py:*=1")
def test_compiles():
    train([3, 4, 5])


def test_under_a_behaviour(tpu_behaviour):
    @tpu_behaviour.on("PJRT_Client_BufferFromHostBuffer")
    def full(call):
        call.fail("RESOURCE_EXHAUSTED", "the device is full")

    with pytest.raises(jax.errors.JaxRuntimeError, match="the device is full"):
        train([3])


@pytest.mark.framedex(implicit_transfers=0)
def test_moves():
    float(train([3])[0])


@pytest.mark.framedex(memory="1KiB")
def test_holds():
    train([3])


@pytest.mark.framedex(compiles={"stp": 1})
def test_typo_of_a_function():
    train([3])


@pytest.mark.framedex(compiles={"stp": 0})
def test_typo_of_none():
    train([3])


@pytest.mark.framedex(compile=1)
def test_typo_of_a_budget():
    pass


@pytest.mark.framedex
def test_no_budget():
    pass


@pytest.mark.framedex(compiles="many")
def test_no_number():
    pass


@pytest.mark.framedex(compiles=1)
@pytest.mark.parametrize("text", ["a::b c"])
def test_with_parameters(text, tmp_path, record_property):
    record_property("where", tmp_path)
    train([len(text)])


@pytest.mark.xfail(strict=True)
@pytest.mark.framedex(compiles=0)
def test_expected():
    train([3])


class TestClass(unittest.TestCase):
    pytestmark = pytest.mark.framedex(compiles=1)

    def setUp(self):
        self.sizes = [3, 4]

    @pytest.mark.framedex(compiles="step=2")
    def test_nearest_mark(self):
        train(self.sizes)

    def test_mark_of_its_class(self):
        train(self.sizes)


def test_recorded(recorded):
    with recorded() as first:
        train([3, 4])
    with recorded(compiles=0, implicit_transfers=0) as second:
        train([3, 4])
    with recorded(clear_caches=True) as third:
        train([3])
    assert [(row.function, row.compiles) for row in first.compiles()] == [("step", 2)]
    assert [row.compiles for row in third.compiles()] == [1]
    assert not second.compiles()
    assert not any(row.is_implicit for row in second.transfers())
    assert second.memory()[0].peak >= 4096
    assert sum(capture.calls for capture in second.index.captures()) > 0
    assert second.waits().recorded > 0


def test_blocks_in_one_another(recorded):
    with recorded() as outer:
        with recorded() as inner:
            train([3])
        train([4])
        with pytest.raises(Exception, match="after its `with` block"):
            outer.compiles()
    assert [row.compiles for row in inner.compiles()] == [1]
    assert [row.compiles for row in outer.compiles()] == [2]


def test_a_block_over_its_budget(recorded):
    with recorded(compiles=1):
        train([3, 4])


def test_an_exception_goes_before_budgets(recorded):
    with pytest.raises(KeyError):
        with recorded(compiles=0):
            train([3])
            raise KeyError


class TestOwnFixture:
    @pytest.fixture
    def recorded(self):
        return "something else"

    def test_of_this_name(self, recorded):
        assert jax.default_backend() == "cpu" and recorded == "something else"


@pytest.fixture
def by_another(recorded):
    return recorded


def test_through_another_fixture(by_another):
    with by_another() as run:
        train([3])
    assert len(run.compiles()) == 1


def test_asked_late(request):
    request.getfixturevalue("recorded")
"""

# Tests without a JAX program: their processes start in a fraction of the time.
TESTS_WITHOUT_JAX = """
import os

import pytest


@pytest.mark.framedex(compiles=1)
def test_fails_by_itself():
    print("what it printed")
    assert "a text" == "another text"


@pytest.mark.framedex(compiles=1)
def test_ends_its_process():
    os._exit(3)


@pytest.mark.framedex(compiles=1)
def test_skipped():
    pytest.skip("not today")
"""

# Each marked test has its own process here.
APART = {
    "test_plain": "passed",
    "test_what_fixtures_do_is_not_the_body": "passed",
    "test_compiles": "failed",
    "test_typo_of_a_budget": "error",
    "test_fails_by_itself": "failed",
    "test_asked_late": "failed",
    "test_ends_its_process": "error",
    "TestOwnFixture::test_of_this_name": "passed",
}
MORE_APART = {
    "test_kept": "passed",
    "test_with_parameters[a::b c]": "passed",
    "test_expected": "xfail",
    "TestClass::test_nearest_mark": "passed",
}
RECORDED = {
    "test_under_a_behaviour": "passed",
    "test_moves": "failed",
    "test_holds": "failed",
    "test_typo_of_a_function": "failed",
    "test_typo_of_a_budget": "error",
    "test_no_budget": "error",
    "test_no_number": "error",
    "test_fails_by_itself": "failed",
    "TestClass::test_nearest_mark": "passed",
    "test_recorded": "passed",
    "test_blocks_in_one_another": "passed",
    "test_a_block_over_its_budget": "failed",
    "test_an_exception_goes_before_budgets": "passed",
    "test_asked_late": "failed",
}
RECORDED_COMPILATIONS = 13  # of `step`, by all tests in RECORDED
MORE_RECORDED = {
    "test_kept": "passed",
    "test_what_fixtures_do_is_not_the_body": "passed",
    "test_compiles": "failed",
    "test_typo_of_none": "passed",
    "test_with_parameters[a::b c]": "passed",
    "test_expected": "xfail",
    "TestClass::test_mark_of_its_class": "failed",
    "test_through_another_fixture": "passed",
}


def write_project(folder: Path, tests: str = TESTS, **others: str) -> Path:
    """A project with these tests in `test_it.py`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"model": MODEL, "test_it": tests, **others}.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def _selecting(*tests: str) -> tuple[str, str]:
    names = {re.split(r"\[|::", test)[-1 if test.startswith("Test") else 0] for test in tests}
    return "-k", " or ".join(sorted(names))


def _run_apart(folder: Path) -> Outcome:
    write_project(folder, test_without_jax=TESTS_WITHOUT_JAX)
    return pytest_in(folder, *_selecting(*APART, "test_skipped"))


def _run_recorded(folder: Path, outcomes: Mapping[str, str] = RECORDED) -> Outcome:
    write_project(folder, test_without_jax=TESTS_WITHOUT_JAX)
    started = ("-m", "framedex", "run", "-o", "captures")
    return pytest_in(folder, *_selecting(*outcomes), before=started, JAX_PLATFORMS="tpu")


@pytest.fixture(scope="module")
def apart() -> Outcome:
    """Some of them, by `pytest` alone."""
    return made_once("pytest-apart", _run_apart)


@pytest.fixture(scope="module")
def all_recorded() -> Outcome:
    """Most of them, by `framedex run -m pytest`."""
    return made_once("pytest-recorded", _run_recorded)


def test_each_test_is_judged_separately(apart: Outcome) -> None:
    assert apart.outcomes == APART, apart.output
    assert "1 skipped" in apart.output
    assert apart.status == 1


@pytest.mark.exhaustive
def test_each_kind_of_test_is_judged_separately(tmp_path: Path) -> None:
    tested = pytest_in(write_project(tmp_path), *_selecting(*MORE_APART))
    assert tested.outcomes == MORE_APART, tested.output


def test_fixtures_are_created_in_the_process_of_the_test(apart: Outcome) -> None:
    """Once, and not for other tests of the module."""
    assert (apart.folder / "set_up").read_text() == "x"


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("test_compiles", ["step was compiled 3 times, 1 is allowed (model.py:*=1)", "model.py:15 in train"]),
        ("test_compiles", ["x was float32[3], [4], [5]", "Over the budget of this test"]),
        ("test_typo_of_a_budget", ["Unknown budget 'compile'", "Did you mean compiles?"]),
        ("test_fails_by_itself", ["assert 'a text' == 'another text'", "what it printed"]),
        ("test_asked_late", ["This test is not marked for recording", "Add `recorded` to its arguments"]),
        ("test_ends_its_process", ["ended early, with status 3"]),
    ],
)
def test_errors_are_reported(apart: Outcome, test: str, told: list[str]) -> None:
    section = apart.section(test)
    for text in told:
        assert text in section


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ("test_moves", ["2 implicit transfers, none is allowed", "float: device to host, 1 time, 4 B"]),
        ("test_holds", ["device 0 held", "1 KiB is allowed", "made by", "model.py:15 in train"]),
        ("test_typo_of_a_function", ["stp matches no compiled function; did you mean step?"]),
        ("test_no_budget", ["has no budget", "compiles=1, implicit_transfers=0"]),
        ("test_no_number", ["'many' has no number"]),
        ("test_a_block_over_its_budget", ["Over the budget of this block", "with recorded(compiles=1):"]),
    ],
)
def test_errors_are_reported_in_one_process(all_recorded: Outcome, test: str, told: list[str]) -> None:
    section = all_recorded.section(test)
    for text in told:
        assert text in section


def test_the_index_of_a_failed_budget_can_be_queried(apart: Outcome) -> None:
    section = apart.section("test_compiles")
    path = Path(section.partition("--index ")[2].partition(" ")[0])
    with Index.open(path) as index:
        assert [row.compiles for row in index.compiles() if row.function == "step"] == [3]
    shutil.rmtree(path.parents[1])


def test_a_recorded_process_runs_its_tests_directly(all_recorded: Outcome) -> None:
    assert all_recorded.outcomes == RECORDED, all_recorded.output
    assert all_recorded.status == 1


@pytest.mark.exhaustive
def test_a_recorded_process_runs_every_kind_of_test(tmp_path: Path) -> None:
    tested = _run_recorded(tmp_path, MORE_RECORDED)
    assert tested.outcomes == MORE_RECORDED, tested.output
    assert "stp matches no compiled function; did you mean step?" in tested.output.partition("warnings summary")[2]


def test_captures_of_tests_are_stored_beside_the_others(all_recorded: Outcome) -> None:
    assert "NOT ALL CALLS" not in all_recorded.output
    assert len(list((all_recorded.folder / "captures").iterdir())) > len(RECORDED)


@pytest.mark.exhaustive
def test_an_enclosing_recording_contains_all_tests(all_recorded: Outcome) -> None:
    with Store(all_recorded.folder / "index.db") as store:
        ingest_captures(store, list((all_recorded.folder / "captures").iterdir()), [], SilentProgress())
    with Index.open(all_recorded.folder / "index.db") as index:
        assert len(index.captures()) > len(RECORDED)
        assert sum(row.compiles for row in index.compiles() if row.function == "step") == RECORDED_COMPILATIONS


def test_xdist_workers_have_the_same_results(tmp_path: Path) -> None:
    tests = """
    import pytest

    @pytest.mark.framedex(compiles=0)
    def test_over_its_budget():
        from model import train

        train([3])

    def test_plain():
        pass
    """
    tested = pytest_in(write_project(tmp_path, dedent(tests)), "-p", "xdist", "-n", "2")
    assert tested.outcomes == {"test_over_its_budget": "failed", "test_plain": "passed"}, tested.output
    assert "step was compiled 1 time, none is allowed" in tested.section("test_over_its_budget")


def test_without_markers_nothing_is_imported_or_changed(tmp_path: Path) -> None:
    conftest = """
    import sys

    def pytest_sessionfinish():
        ours = ("framedex", "framedex_native", "jax", "numpy")
        print("IMPORTED", *sorted(name for name in sys.modules if name.partition(".")[0] in ours))
    """
    write_project(tmp_path, "def test_one():\n    pass\n", conftest=dedent(conftest))
    tested = pytest_in(tmp_path, "-s", "--strict-markers")
    assert tested.status == 0
    (imported,) = re.findall("IMPORTED (.*)", tested.output)
    ours = ("hooks", "plugin")
    assert imported.split() == [
        "framedex",
        "framedex.base",
        "framedex.base.lazy",
        "framedex.integrations",
        "framedex.integrations.pytesting",
        *map("framedex.integrations.pytesting.{}".format, ours),
    ]


def test_an_old_pytest_runs_unmarked_tests(tmp_path: Path) -> None:
    """The nearest to an old pytest that the installed one can imitate."""
    tests = """
    import pytest

    def test_one():
        pass

    @pytest.mark.framedex(compiles=0)
    def test_two():
        pass
    """
    write_project(tmp_path, dedent(tests))
    code = (
        "import sys, pytest; del pytest.StashKey; pytest.version_tuple = (7, 2, 0);"
        " sys.exit(pytest.main(['-p', 'framedex.integrations.pytesting.plugin', '-rA', '--strict-markers']))"
    )
    tested = outcome_of([sys.executable, "-c", code], tmp_path, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    assert tested.outcomes == {"test_one": "passed", "test_two": "error"}, tested.output
    assert "@pytest.mark.framedex needs pytest 8 or newer" in tested.section("test_two")


def test_foreign_fixtures_with_this_name_are_respected(tmp_path: Path) -> None:
    conftest = """
    import pytest

    @pytest.fixture
    def recorded():
        return 1
    """
    tests = """
    import sys

    import pytest

    @pytest.fixture
    def recorded(recorded):
        return recorded + 1

    def test_one(recorded):
        assert recorded == 2
        assert "framedex.integrations.pytesting.recorded_tests" not in sys.modules

    @pytest.mark.parametrize("recorded", [3])
    def test_two(recorded):
        assert recorded == 3
        assert "framedex.integrations.pytesting.recorded_tests" not in sys.modules
    """
    tested = pytest_in(write_project(tmp_path, dedent(tests), conftest=dedent(conftest)))
    assert tested.outcomes == {"test_one": "passed", "test_two[3]": "passed"}, tested.output


@pytest.mark.exhaustive(keep=["test_on_the_cpu"])
@pytest.mark.parametrize("test", ["test_on_the_cpu", "test_recorded_on_the_cpu"])
def test_an_unrecordable_test_fails(test: str, tmp_path: Path) -> None:
    tests = """
    import pytest

    def train():
        import jax

        jax.config.update("jax_platforms", "cpu")
        from model import train

        train([3])

    @pytest.mark.framedex(compiles=0)
    def test_on_the_cpu():
        train()

    def test_recorded_on_the_cpu(recorded):
        with recorded() as run:
            train()
        assert not run.compiles()
    """
    tested = pytest_in(write_project(tmp_path, dedent(tests)), "-k", test)
    assert tested.outcomes == {test: "failed"}, tested.output
    assert "No runtime calls were recorded, so budgets cannot be checked: JAX runs on cpu." in tested.section(test)


def test_a_collection_failure_in_the_child_fails_one_test(tmp_path: Path) -> None:
    """Its locations are in a file, so that it matches the other module."""
    other = """
    import os

    assert os.environ["JAX_PLATFORMS"] == "cpu", "not where this is recorded"
    """
    tests = """
    import pytest

    @pytest.mark.framedex(compiles=0)
    def test_one():
        pass

    def test_two():
        pass
    """
    write_project(tmp_path, dedent(tests), test_other=dedent(other))
    (tmp_path / "places").write_text("test_it.py\ntest_other.py\n")
    tested = pytest_in(tmp_path, "@places")
    assert tested.outcomes == {"test_one": "error", "test_two": "passed"}, tested.output
    assert "not where this is recorded" in tested.section("test_one")


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "arguments",
    [("test_it.py", "-k", "test_it.py"), ("-k", "test_it.py", "test_it.py"), ("-k", "test_it.py", "--", "test_it.py")],
)
def test_an_option_value_is_not_a_test_path(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    tests = """
    import pytest
    from model import train

    @pytest.mark.framedex(compiles=1)
    def test_one():
        train([3])
    """
    tested = pytest_in(write_project(tmp_path, dedent(tests)), *arguments)
    assert tested.outcomes == {"test_one": "passed"}, tested.output


def test_without_the_native_part_a_marked_test_is_an_error(tmp_path: Path) -> None:
    tests = """
    import pytest

    @pytest.mark.framedex(compiles=0)
    def test_one():
        pass

    def test_two(recorded):
        pass

    def test_three():
        pass
    """
    write_project(tmp_path, dedent(tests))
    code = "import pytest; sys.exit(pytest.main(['-p', 'framedex.integrations.pytesting.plugin', '-rA']))"
    tested = outcome_of(python_without(NATIVE_PART, code), tmp_path, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"})
    assert tested.outcomes == {"test_one": "error", "test_two": "error", "test_three": "passed"}, tested.output
    assert "native part" in tested.section("test_one")


def test_the_installation_registers_the_plug_in() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"framedex": "framedex.integrations.pytesting.plugin"}

"""Cells recorded in a real kernel: their display, their index data, and failing cells."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import nbformat
import pytest

from framedex.index import Index
from framedex.integrations.notebook.options import format_help
from framedex.model import CallFilter, CaptureScope
from tests.once import made_once
from tests.pythons import ROOT
from tests.run.notebook.notebooks import executed, run_through, shown, told

FUNCTION = "import jax\nimport jax.numpy as jnp\n\ndef double(x):\n    return x + x"
RECORDED = "%%framedex -o run\ntwice = jax.jit(double)\nfor size in (3, 5):\n    float(twice(jnp.ones(size)).sum())"
CELLS = {
    "load": "%load_ext framedex",
    "function": FUNCTION,
    "unknown option": "%%framedex --colour red\nprint('it ran')",
    "no variable": "%%framedex -o 'a b'\nprint('it ran')",
    "recorded": RECORDED,
    "rows": "for row in run.compiles():\n    print(row.function, row.compiles, row.line and row.line.location.line)",
    "index": "print(run.index_path)",
    "fails": "%%framedex\ndouble(jnp.ones(7))\n1 / 0",
    "awaits": "%%framedex\nimport asyncio\nawait asyncio.sleep(0)\ndouble(jnp.ones(11))",
    "nested": "%%framedex\n%%framedex\nprint('it ran')",
    "another machine": "%%framedex --device v4\nprint('it ran')",
    "nothing": "%%framedex\n1 + 1",
    "not writable": "%%framedex --output /proc/captures\nprint('it ran')",
    "fresh": "%%framedex --fresh --devices 2\nimport jax\nprint(jax.numpy.ones(4).sum())",
    "unloaded": "%unload_ext framedex",
    "as before": "%%framedex\nprint('it ran')",
}
ODD_CELLS = {
    "load": CELLS["load"],
    "function": FUNCTION,
    "interrupted": "%%framedex\nimport os, signal\ndouble(jnp.ones(9))\nos.kill(os.getpid(), signal.SIGINT)\n1",
    "not shown": "%%framedex\ndouble(jnp.ones(10))\nraise ValueError('\\ud800')",
    "timed": "%%time\n%%framedex\ndouble(jnp.ones(13));",
}


@pytest.fixture(scope="module")
def cells() -> dict[str, Any]:
    """The executed cells by name, with their folder."""
    folder, notebook = made_once("notebook", lambda folder: (folder, executed(list(CELLS.values()), folder)))
    return dict(zip(CELLS, notebook.cells, strict=True)) | {"folder": folder}


@pytest.fixture(scope="module")
def odd_cells() -> dict[str, Any]:
    """The executed cells of ODD_CELLS."""
    notebook = made_once("odd-notebook", lambda folder: executed(list(ODD_CELLS.values()), folder))
    return dict(zip(ODD_CELLS, notebook.cells, strict=True))


def test_a_recorded_cell_shows_answers_and_lines(cells: dict[str, Any]) -> None:
    page = shown(cells["recorded"])
    number = list(CELLS).index("recorded") + 1
    assert f"cell In[{number}] line 4" in page
    assert "<code>float(twice(jnp.ones(size)).sum())</code>" in page
    for answer in ("Compiles", "Transfers", "Memory", "Waits", "Flame graph"):
        assert f"<summary>{answer}" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")


def test_the_variable_contains_the_rows(cells: dict[str, Any]) -> None:
    assert "double 2 4" in told(cells["rows"]).splitlines()


def test_cell_lines_are_in_files_with_their_text(cells: dict[str, Any]) -> None:
    """A function of an earlier, unrecorded cell also has its line."""
    with Index.open(Path(told(cells["index"]).strip()), counted=CaptureScope.ALL) as index:
        places = [function.location for function in index.functions.find("double")]
        for place in places:
            assert place is not None and Path(place.path).read_text() == f"{FUNCTION}\n"
        assert {place.line for place in places if place} == {4}
        compiled = [row.line.location for row in index.compiles() if row.line and row.function == "double"]
    assert {place.line for place in compiled} >= {4}
    assert all(place.stale is None for place in compiled)
    assert Path(compiled[0].path).read_text() == f"{RECORDED}\n"


def test_calls_before_an_exception_are_shown_below_it(cells: dict[str, Any]) -> None:
    _check_failed(cells["fails"], "ZeroDivisionError")


@pytest.mark.exhaustive
def test_calls_before_an_interrupt_are_shown_below_it(odd_cells: dict[str, Any]) -> None:
    _check_failed(odd_cells["interrupted"], "KeyboardInterrupt")


def _check_failed(cell: Any, error: str) -> None:
    """The cell shows its error, and below it the recorded data."""
    assert [output.output_type for output in cell.outputs] == ["error", "display_data"]
    assert told(cell).strip() == error
    assert "PJRT_Client_Compile" in _flames(cell)


@pytest.mark.exhaustive
def test_a_cell_ends_even_if_its_error_cannot_be_shown(odd_cells: dict[str, Any]) -> None:
    """After an error that Jupyter cannot send, the cell's recording has ended too."""
    assert "PJRT_Client_Compile" in _flames(odd_cells["not shown"])


def test_a_cell_may_await(cells: dict[str, Any]) -> None:
    assert "Compiles" in shown(cells["awaits"])
    assert "Error" not in told(cells["awaits"])


@pytest.mark.exhaustive
def test_a_recorded_cell_may_be_timed(odd_cells: dict[str, Any]) -> None:
    assert "Compiles" in shown(odd_cells["timed"])
    assert "Error" not in told(odd_cells["timed"])


def test_a_child_process_is_recorded(cells: dict[str, Any]) -> None:
    number = list(CELLS).index("fresh") + 1
    assert "4.0" in told(cells["fresh"])
    assert f"cell In[{number}] line 3" in shown(cells["fresh"])


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("unknown option", "No such option '--colour'"),
        ("no variable", "-o a b is not a variable name"),
        ("nested", "A recorded cell cannot record another cell."),
        ("another machine", "JAX has already initialised its devices"),
        ("not writable", "%%framedex --output FOLDER"),
        ("as before", "`%%framedex` not found"),
    ],
)
def test_an_unrecordable_cell_does_not_run(cells: dict[str, Any], name: str, why: str) -> None:
    assert why in told(cells[name])
    assert "it ran" not in told(cells[name])


def test_help_equals_the_options_on_the_page() -> None:
    assert f"```text\n{format_help()}\n```" in (ROOT / "docs" / "how-to" / "notebooks.md").read_text()


def test_a_cell_without_calls_says_so(cells: dict[str, Any]) -> None:
    assert shown(cells["nothing"], "text/plain") == "2"
    assert "no runtime calls were recorded. This cell made no runtime calls." in told(cells["nothing"])


@pytest.mark.exhaustive
def test_a_cell_after_jax_started_is_recorded_in_a_child_process(tmp_path: Path) -> None:
    """If JAX has opened its devices, the remedy is shown, and works."""
    (tmp_path / "beside.py").write_text("SIZE = 4\n")
    opened, load, here, apart, failing = executed(
        [
            "import jax\njax.devices()",
            "%load_ext framedex",
            "%%framedex\nprint('it ran')",
            "%%framedex --fresh --devices 2\nimport beside, jax\nprint(jax.numpy.ones(beside.SIZE).sum())",
            "%%framedex --fresh\nraise SystemExit(3)",
        ],
        tmp_path,
    ).cells
    assert told(opened) == ""
    for cell in (load, here):
        assert "JAX initialised its devices before framedex was loaded" in told(cell) and "--fresh" in told(cell)
    assert "it ran" not in told(here)
    assert "4.0" in told(apart)
    assert "cell In[4] line 3" in shown(apart)
    assert "nothing was recorded" in told(failing) and "ended with status 3" in told(failing)
    with Index.open(tmp_path / ".framedex" / "index.db") as index:
        assert [capture.command for capture in index.captures()]
        assert index.calls.find(CallFilter(function="PJRT_Client_Compile"), 1)


@pytest.mark.exhaustive
def test_the_example_runs(tmp_path: Path) -> None:
    notebook = run_through(nbformat.read(ROOT / "docs" / "notebook.ipynb", 4), tmp_path)
    displays = [shown(cell) for cell in notebook.cells if cell.cell_type == "code"]
    assert [bool(display) for display in displays] == [False, False, True, False, True, True]
    assert "batch was float32[4,16], [8,16], [12,16]" in displays[2]
    trace = displays[4]
    assert trace.index("cell In[3] line 5") < trace.index("<code>PJRT_Client_Compile</code>")
    assert "pjit.cc:" in trace and "ipykernel" not in trace


def _flames(cell: Any) -> str:
    """The flame graph image of a cell, as text."""
    return base64.b64decode(shown(cell).partition("base64,")[2].partition('"')[0]).decode()

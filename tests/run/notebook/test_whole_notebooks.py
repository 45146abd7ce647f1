"""Notebooks and IPython under `framedex run`, without the extension: lines are those of their cells."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Index
from tests.indexer.unplaced import index_without_sources
from tests.once import made_once
from tests.run.invoking import framedex_run

_NAME_IN_PYTHON = r"/ipykernel_\d"
CELLS = (
    "import jax\nimport jax.numpy as jnp\n\ndef double(x):\n    return x + x",
    "\n\n%time\ntwice = jax.jit(double)\nfloat(twice(jnp.ones(3)).sum())",
    "%%capture\nfloat(twice(jnp.ones(4)).sum())",
    "%%time\n\nthrice = jax.jit(lambda x: x * 3)\ndef later(x):\n    return thrice(x)\nlater(jnp.ones(5))",
    "%%time\nthrice(jnp.ones(6))\nlater(jnp.ones(7))",
    "%%timeit -n1 -r1 value = thrice(jnp.ones(8))\n\nthrice(value[:5] + thrice(jnp.ones(9))[:5])",
    "a = 1\n%timeit -n1 -r1 thrice(jnp.ones(10))\n%time thrice(jnp.ones(11))",
)


@pytest.fixture(scope="module")
def notebook() -> Path:
    """The folder of a notebook executed by `jupyter execute`, with its index."""
    return made_once("whole-notebook", _executed)


def _executed(folder: Path) -> Path:
    cells = [nbformat.v4.new_code_cell(cell) for cell in CELLS]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "train.ipynb")
    ended = framedex_run("-m", "jupyter", "execute", "train.ipynb", folder=folder)
    assert ended.status == 0, ended.stderr
    index_without_sources(folder / "index.db", folder / ended.capture)
    return folder


def invoke(folder: Path, *arguments: str, **environment: str) -> Result:
    """Run the command line on the folder's index."""
    return CliRunner(env=environment).invoke(cli, ["--index", str(folder / "index.db"), *arguments])


def test_lines_are_in_files_named_after_notebook_and_cell(notebook: Path) -> None:
    with Index.open(notebook / "index.db") as index:
        rows = [row.line for row in index.compiles() if row.line and row.function == "double"]
    place, inner = sorted((row.location for row in rows), key=lambda location: location.path)
    assert Path(place.path).name == "train.ipynb.In[2].py"
    assert Path(place.path).read_text() == CELLS[1].lstrip("\n") + "\n"
    assert (place.line, place.stale) == (3, None)
    assert Path(inner.path).name.startswith("train.ipynb.In[3]-"), "what %%capture runs is of its cell"
    assert Path(inner.path).read_text() == CELLS[2].partition("\n")[2] + "\n"
    text = invoke(notebook, "compiles", COLUMNS="300").stdout
    assert f"{place.path}:3 in <module>" in text
    assert "not here" not in text and not re.search(_NAME_IN_PYTHON, text)


def test_timed_code_has_the_lines_of_its_cell(notebook: Path) -> None:
    with Index.open(notebook / "index.db") as index:
        rows = [row.line for row in index.compiles() if row.line and row.function == "<lambda>"]
    lines = sorted((Path(row.location.path).name, row.location.line, row.location.stale) for row in rows)
    assert lines == [
        ("train.ipynb.In[4].py", 5, None),
        ("train.ipynb.In[5].py", 2, None),
        ("train.ipynb.In[6].py", 1, None),
        ("train.ipynb.In[6].py", 3, None),
        ("train.ipynb.In[7].py", 2, None),
        ("train.ipynb.In[7].py", 3, None),
    ]
    for number in (4, 5, 6):
        (cell,) = notebook.glob(f"**/cells/train.ipynb.In?{number}?.py")
        assert cell.read_text() == CELLS[number - 1] + "\n"


def test_the_report_names_notebook_cell_and_line(notebook: Path) -> None:
    page = notebook / "report.html"
    assert invoke(notebook, "report", "-o", str(page)).exit_code == 0
    text = page.read_text()
    assert "train.ipynb cell In[2] line 3" in text
    assert "float(twice(jnp.ones(3)).sum())" in text
    assert not re.search(_NAME_IN_PYTHON, text)


def test_a_traceback_with_a_recorded_cell_name_leads_to_its_text(notebook: Path) -> None:
    (names,) = notebook.glob("**/cells/names.json")
    recorded = next(name for name, file in json.loads(names.read_text()).items() if file == "train.ipynb.In[2].py")
    log = notebook / "log.txt"
    log.write_text(f'  File "{recorded}", line 3, in <module>\n    float(twice(jnp.ones(3)).sum())\n')
    assert f"{names.parent / 'train.ipynb.In[2].py'}:3\n" in invoke(notebook, "explain", str(log)).stdout


@pytest.mark.exhaustive
def test_ipython_in_a_terminal_has_cells_without_a_notebook(tmp_path: Path) -> None:
    ended = framedex_run("-m", "IPython", "--no-banner", "-c", "import jax; jax.numpy.ones(9)", folder=tmp_path)
    index_without_sources(tmp_path / "index.db", tmp_path / ended.capture)
    assert "/cells/In[1].py:1 in <module>" in invoke(tmp_path, "compiles", COLUMNS="300").stdout

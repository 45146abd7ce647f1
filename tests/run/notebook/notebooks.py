"""Notebooks in a real kernel of this Python, run cell by cell like in JupyterLab and VS Code."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.running import TIMEOUT, plain_environment


def executed(cells: Sequence[str], folder: Path) -> Any:
    """A notebook of these cells after all of them ran in `folder`, successful or not."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    return run_through(notebook, folder, is_failing=True)


def run_through(notebook: Any, folder: Path, *, is_failing: bool = False) -> Any:
    """The notebook with its cells' outputs; cells must succeed unless marked."""
    client = NotebookClient(notebook, kernel_name="python3", timeout=TIMEOUT, allow_errors=is_failing)
    client.execute(cwd=str(folder), env=kernel_environment())
    return notebook


def kernel_environment() -> dict[str, str]:
    """A user-like environment of a kernel or its starter: under pytest, it would not forward all output."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {name: value for name, value in plain_environment().items() if name != "PYTEST_CURRENT_TEST"} | {
        "PATH": path
    }


def told(cell: Any) -> str:
    """The printed text and the errors of a cell."""
    texts = (output.get("text") or output.get("ename") or "" for output in cell.outputs)
    return "\n".join(texts)


def shown(cell: Any, kind: str = "text/html") -> str:
    """The display output of a cell; empty without output of that kind."""
    found = (output.get("data", {}).get(kind) for output in cell.outputs)
    return next(filter(None, found), "")

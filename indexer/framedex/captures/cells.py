"""The notebook cells stored as files in a capture, because the file names in their code objects are not real files.

The folder `cells/` of a capture has a file for each cell: `In[3].py` or, if the notebook is known,
`train.ipynb.In[3].py`. `names.json` maps recorded names to these files.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from framedex.captures.metadata import read_metadata
from framedex.regularfile import read_regular_text

_FOLDER = "cells"
_NAMES = "names.json"
_FILE = re.compile(r"(?:[^/\0]{1,100}\.)?In\[\d{1,9}\](?:-\d{1,9})?\.py")
_NOT_IN_NAMES = re.compile(r"[^\w. +@-]")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as it ran: the file name in its code objects, its name in the notebook (`In[3]`), and its text.

    `notebook` is the file name of the notebook, empty if unknown.
    """

    recorded: str
    name: str
    text: str
    notebook: str = ""


def write_cells(capture: Path, cells: Sequence[Cell]) -> None:
    """Store cells in a capture, replacing its previous cells. Raises OSError.

    The files get the time of the recording: a newer file would count as changed since.
    """
    began = read_metadata(capture).started_unix_ns or 0
    folder = capture / _FOLDER
    folder.mkdir(exist_ok=True)
    names: dict[str, str] = {}
    for cell in cells:
        notebook = _NOT_IN_NAMES.sub("_", cell.notebook)[-100:]
        name = f"{notebook}.{cell.name}" if notebook else cell.name
        file = f"{name}.py"
        if file in names.values():  # code run outside the notebook's own cells has the number of the next cell
            file = f"{name}-{len(names)}.py"
        names[cell.recorded] = file
        (folder / file).write_text(cell.text, "utf-8", errors="surrogateescape")
        os.utime(folder / file, ns=(began, began))
    (folder / _NAMES).write_text(json.dumps(names))


def read_cells(capture: Path) -> dict[str, str]:
    """The path of each stored cell's file by its name in code objects; empty if `names.json` is missing or damaged."""
    folder = capture / _FOLDER
    try:
        names = json.loads(read_regular_text(folder / _NAMES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(names, dict):
        return {}
    kept = {name: file for name, file in names.items() if isinstance(file, str) and _FILE.fullmatch(file)}
    return {name: os.fspath(folder / file) for name, file in kept.items()}

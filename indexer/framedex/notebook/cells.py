"""The texts of a notebook's cells, by the file names in their code objects."""

from __future__ import annotations

import linecache
import re
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from framedex.captures import Cell

_NAME = re.compile(r"In\[(\d+)\]")


def cells_of(shell: Any) -> Iterator[Cell]:
    """The cells that ran in a shell, in their order.

    A text is the typed one if known, otherwise IPython's translation; both have the same lines.
    """
    for recorded, entry in list(linecache.cache.items()):
        name = _name(shell, recorded)
        if name and len(entry) == 4:
            yield Cell(recorded, name, _text(shell, recorded, name, "".join(entry[2])))


def running_cell(shell: Any) -> str:
    """The name of the cell that calls this function, such as `In[3]`; empty outside of a cell."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if name := _name(shell, frame.f_code.co_filename):
            return name
        frame = frame.f_back
    return ""


def _name(shell: Any, recorded: str) -> str:
    """The notebook's name of the cell with this file name in its code objects; empty if it is not a cell."""
    named = shell.compile.format_code_name(recorded)
    return named[1] if named is not None and _NAME.fullmatch(named[1]) else ""


def _text(shell: Any, recorded: str, name: str, translated: str) -> str:
    typed, number = shell.history_manager.input_hist_raw, int(name[len("In[") : -1])
    raw = typed[number] if number < len(typed) else ""
    if shell.compile.get_code_name(raw, translated, number) != recorded:
        return translated
    lines = raw.splitlines()
    while lines and not lines[0].strip():  # IPython does not count leading empty lines
        lines.pop(0)
    return "\n".join(lines) + "\n"

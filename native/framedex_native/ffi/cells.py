"""The cells that run in IPython, told to `framedex run` as they come.

What code objects of a cell call their file was never one (`/tmp/ipykernel_7116/3885929236.py`), and the process that
knows the text may be killed. So each cell is an entry of the launcher's report (`FRAMEDEX_REPORT`) before it runs.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

_VARIABLE = "FRAMEDEX_REPORT"
_MEMORY = "/memfd:framedex-report"
_MARK = "_framedex_cells"
_NOTEBOOK_OF_VS_CODE = "__vsc_ipynb_file__"


def note_cells(compilerop: Any) -> None:
    """Tell the launcher of each cell that `IPython.core.compilerop` names; nothing without a launcher."""
    compiler = compilerop.CachingCompiler
    if _VARIABLE not in os.environ or hasattr(compiler, _MARK):
        return
    original = compiler.cache
    setattr(compiler, _MARK, original)
    numbers: dict[str, int] = {}

    @functools.wraps(original)
    def cache(self: Any, transformed_code: str, number: int = 0, raw_code: str | None = None) -> Any:
        recorded = original(self, transformed_code, number, raw_code)
        try:
            numbers[recorded] = _running(sys._getframe(1), numbers) or number
            _tell(recorded, numbers[recorded], _text(transformed_code, raw_code))
        except Exception:  # whatever it is: the cell has to run
            return recorded
        return recorded

    compiler.cache = cache


def _running(frame: FrameType | None, numbers: Mapping[str, int]) -> int:
    """The number of the cell that runs below a frame: that of `%%capture` has IPython run its lines as another cell.

    0 without one.
    """
    while frame is not None:
        if number := numbers.get(frame.f_code.co_filename):
            return number
        frame = frame.f_back
    return 0


def _tell(recorded: str, number: int, text: str) -> None:
    path = os.environ[_VARIABLE]
    if not str(Path(path).readlink()).startswith(_MEMORY):  # the launcher is gone, and another process has its number
        return
    cell = {"pid": os.getpid(), "file": recorded, "number": number, "notebook": _notebook(), "text": text}
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        os.write(file, b"cell " + json.dumps(cell).encode() + b"\0")
    finally:
        os.close(file)


def _text(translated: str, typed: str | None) -> str:
    """The text that was typed if its lines are those of the translated one, which IPython counts by."""
    lines = (typed or "").splitlines()
    while lines and not lines[0].strip():  # IPython counts lines without these
        lines.pop(0)
    return "\n".join(lines) + "\n" if len(lines) == len(translated.splitlines()) else translated


def _notebook() -> str:
    """The file name of the notebook, empty where neither VS Code nor Jupyter says it."""
    shell = sys.modules["IPython"].get_ipython()
    named = shell.user_ns.get(_NOTEBOOK_OF_VS_CODE) if shell is not None else None
    path = named if isinstance(named, str) and named else os.environ.get("JPY_SESSION_NAME", "")
    return Path(path).name

"""Reports IPython cells to `framedex run` before they run.

The file name in a cell's code objects never exists on disk (`/tmp/ipykernel_7116/3885929236.py`), and the process with
the text may be killed. So each cell is added to the launcher's report (`FRAMEDEX_REPORT`) before it runs.
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
    """Report each cell that `IPython.core.compilerop` names to the launcher, if there is one."""
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
        except Exception:  # on any failure the cell must still run
            return recorded
        return recorded

    compiler.cache = cache


def _running(frame: FrameType | None, numbers: Mapping[str, int]) -> int:
    """The number of the running cell that encloses a frame, 0 if there is none.

    `%%capture` makes IPython run the lines of one cell as another cell.
    """
    while frame is not None:
        if number := numbers.get(frame.f_code.co_filename):
            return number
        frame = frame.f_back
    return 0


def _tell(recorded: str, number: int, text: str) -> None:
    path = os.environ[_VARIABLE]
    # the launcher exited, and another process reuses its process id
    if not str(Path(path).readlink()).startswith(_MEMORY):
        return
    cell = {"pid": os.getpid(), "file": recorded, "number": number, "notebook": _notebook(), "text": text}
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        os.write(file, b"cell " + json.dumps(cell).encode() + b"\0")
    finally:
        os.close(file)


def _text(translated: str, typed: str | None) -> str:
    """The typed text if it has as many lines as the translated text, whose lines IPython counts; else the latter."""
    lines = (typed or "").splitlines()
    while lines and not lines[0].strip():  # IPython does not count leading blank lines
        lines.pop(0)
    return "\n".join(lines) + "\n" if len(lines) == len(translated.splitlines()) else translated


def _notebook() -> str:
    """The file name of the notebook; empty if neither VS Code nor Jupyter provides it."""
    shell = sys.modules["IPython"].get_ipython()
    named = shell.user_ns.get(_NOTEBOOK_OF_VS_CODE) if shell is not None else None
    path = named if isinstance(named, str) and named else os.environ.get("JPY_SESSION_NAME", "")
    return Path(path).name

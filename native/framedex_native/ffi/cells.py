"""Reports IPython cells to `framedex run` before they run, and gives code of `%%time` the file name of its cell.

The file name in a cell's code objects never exists on disk (`/tmp/ipykernel_7116/3885929236.py`), and the process with
the text may be killed. So each cell is added to the launcher's report (`FRAMEDEX_REPORT`) before it runs.
"""

from __future__ import annotations

import ast
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
_CELL_MAGIC = "get_ipython().run_cell_magic("
_TIMEIT = "<magic-timeit>"
_TIMED = ("<timed exec>", "<timed eval>", _TIMEIT)
"""The file names that IPython gives to the code of all `%time` and `%timeit` magics."""


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
            _report_cell(recorded, numbers[recorded], _text(transformed_code, raw_code))
        except Exception:  # on any failure the cell must still run
            return recorded
        return recorded

    compiler.cache = cache


def name_timed_code(compilerop: Any) -> None:
    """Compile the code of `%time` and `%timeit` with the file name and the lines of its cell.

    IPython gives the code of all these magics one file name, and counts its lines from the magic.
    """
    compiler = compilerop.CachingCompiler
    original = compiler.__call__
    if hasattr(original, _MARK):
        return

    @functools.wraps(original)
    def compile_code(self: Any, source: Any, filename: str, *arguments: Any, **more: Any) -> Any:
        if filename in _TIMED:
            try:
                filename = _move_into_cell(source, filename, self._filename_map)
            except Exception:  # on any failure the code must still run
                return original(self, source, filename, *arguments, **more)
        return original(self, source, filename, *arguments, **more)

    setattr(compile_code, _MARK, original)
    compiler.__call__ = compile_code


def _move_into_cell(code: Any, name: str, cells: Mapping[str, int]) -> str:
    """Shift the lines of a magic's code to those in the running cell, and return the file name of that cell.

    `name` is returned if no cell is running.
    """
    frame: FrameType | None = sys._getframe(2)
    below = 0  # lines from the magic to the first line of its code
    while frame is not None and frame.f_code.co_filename not in cells:
        if frame.f_code.co_name == "run_cell_magic":
            lines = frame.f_locals["cell"].splitlines()
            below = 1 + next(number for number, line in enumerate(lines) if line.strip())
        frame = frame.f_back
    if frame is None:
        return name
    line = frame.f_lineno
    typed = [code] if name != _TIMEIT else _take_timed_code(code, line)
    for node in typed:
        ast.increment_lineno(node, line - 1 + below)
    return frame.f_code.co_filename


def _take_timed_code(code: Any, line: int) -> Any:
    """Put IPython's function around timed code, and its setup, on the line of the magic. Return the timed code."""
    loop = code.body[0].body[-3]
    timed, loop.body = loop.body, []
    node: Any
    for node in ast.walk(code):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = line
    loop.body = timed
    return timed


def _running(frame: FrameType | None, numbers: Mapping[str, int]) -> int:
    """The number of the running cell that encloses a frame, 0 if there is none.

    `%%capture` makes IPython run the lines of one cell as another cell.
    """
    while frame is not None:
        if number := numbers.get(frame.f_code.co_filename):
            return number
        frame = frame.f_back
    return 0


def _report_cell(recorded: str, number: int, text: str) -> None:
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
    """The typed text if its lines are those of the code; else the translated text, whose lines IPython counts."""
    lines = (typed or "").splitlines()
    while lines and not lines[0].strip():  # IPython does not count leading blank lines
        lines.pop(0)
    is_cell_magic = translated.startswith(_CELL_MAGIC)  # one line for a whole cell
    return "\n".join(lines) + "\n" if is_cell_magic or len(lines) == len(translated.splitlines()) else translated


def _notebook() -> str:
    """The file name of the notebook; empty if neither VS Code nor Jupyter provides it."""
    shell = sys.modules["IPython"].get_ipython()
    named = shell.user_ns.get(_NOTEBOOK_OF_VS_CODE) if shell is not None else None
    path = named if isinstance(named, str) and named else os.environ.get("JPY_SESSION_NAME", "")
    return Path(path).name

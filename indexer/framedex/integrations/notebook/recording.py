"""Record a notebook cell, in this process or in a new one, and find the sources of cells."""

from __future__ import annotations

import linecache
import os
import re
import sys
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from framedex.base.errors import FramedexError
from framedex.captures import Cell, project_captures_folder, write_cells
from framedex.commands.inputs.files import to_absolute_path, working_folder
from framedex.commands.launching.launch import Launch, build_metadata_variable, check_python, find_runtime, launch
from framedex.commands.launching.outcome import Outcome
from framedex.commands.launching.runtimes import Runtime, find_plugin
from framedex.integrations.notebook.options import Options
from framedex.integrations.process_recorder import Recorder


class CellRecording:
    """The recording of the running cell."""

    def __init__(self, options: Options, name: str) -> None:
        """Start recording. `name` is the name of the cell, such as `train.ipynb:In[3]`.

        Raises FramedexError if recording is impossible.
        """
        self.options = options
        folder = to_absolute_path(options.output or project_captures_folder(working_folder()))
        metadata = build_metadata_variable(uuid.uuid4().hex, sys.executable, sys.argv[1:], name)  # noqa: TID251
        self._stack = ExitStack()
        self._captures = self._stack.enter_context(
            Recorder(_make_writable_folder(folder)).block({**options.recording, **metadata})
        )

    def end(self, cells: Iterable[Cell]) -> Sequence[Path]:
        """Stop recording, store the sources of cells, and return the captures.

        Raises FramedexError if recording failed.
        """
        self._stack.close()
        kept = list(cells)
        for capture in self._captures:
            _save_cells(capture, kept)
        return self._captures


def run_in_new_process(options: Options, text: str, name: str) -> Outcome:
    """Record the text of a cell such as `In[3]` as a script in a new process.

    Raises FramedexError if the process cannot be started.
    """
    check_python(sys.executable)  # noqa: TID251
    plugins = (find_plugin(options.plugin, sys.executable),) if options.plugin else ()  # noqa: TID251
    runtime = Runtime.PJRT if plugins else find_runtime(sys.executable)  # noqa: TID251
    folder = _make_writable_folder(to_absolute_path(options.output or project_captures_folder(working_folder())))
    with tempfile.TemporaryDirectory(prefix="framedex-") as place:
        script = Path(place) / f"{name}.py"
        script.write_text(text, "utf-8")
        settings = {**options.recording, **options.machine, "PYTHONPATH": _python_path()}
        outcome = launch(Launch(sys.executable, (os.fspath(script),), folder, settings, plugins, runtime))  # noqa: TID251
    for capture in outcome.captures:
        _save_cells(capture, [Cell(os.fspath(script), name, text)])
    return outcome


def _python_path() -> str:
    """The PYTHONPATH with which a script has the imports of a notebook in the working folder."""
    return os.pathsep.join([os.fspath(working_folder()), *filter(None, [os.environ.get("PYTHONPATH")])])


def _save_cells(capture: Path, cells: Sequence[Cell]) -> None:
    with suppress(OSError):  # on a full disk, the cell keeps the file name of its code object
        write_cells(capture, cells)


def _make_writable_folder(folder: Path) -> Path:
    """Create the folder if it is missing, and return it. Raises FramedexError if it is not writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
        why = "Permission denied"
    except OSError as error:
        why = error.strerror or str(error)
    raise FramedexError(
        f"{folder} cannot be written: {why}.", "Name a folder for captures: %%framedex --output FOLDER."
    )


_CELL_NAME = re.compile(r"In\[(\d+)\]")


def recorded_cells(shell: Any) -> Iterator[Cell]:
    """The cells that ran in a shell, in their order.

    A cell has the typed text if that is known, otherwise IPython's translation; both have the same lines.
    """
    for recorded, entry in list(linecache.cache.items()):
        name = _find_cell_name(shell, recorded)
        if name and len(entry) == 4:
            yield Cell(recorded, name, _find_cell_source(shell, recorded, name, "".join(entry[2])))


def find_running_cell(shell: Any) -> str:
    """The name of the cell that calls this function, such as `In[3]`; empty outside of a cell."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if name := _find_cell_name(shell, frame.f_code.co_filename):
            return name
        frame = frame.f_back
    return ""


def _find_cell_name(shell: Any, recorded: str) -> str:
    """The notebook's name of the cell with this file name in its code objects; empty if it is not a cell."""
    named = shell.compile.format_code_name(recorded)
    return named[1] if named is not None and _CELL_NAME.fullmatch(named[1]) else ""


def _find_cell_source(shell: Any, recorded: str, name: str, translated: str) -> str:
    typed, number = shell.history_manager.input_hist_raw, int(name[len("In[") : -1])
    raw = typed[number] if number < len(typed) else ""
    if shell.compile.get_code_name(raw, translated, number) != recorded:
        return translated
    lines = raw.splitlines()
    while lines and not lines[0].strip():  # IPython does not count leading empty lines
        lines.pop(0)
    return "\n".join(lines) + "\n"

"""Records a cell: here, between its beginning and its end, or in a process of its own."""

from __future__ import annotations

import os
import sys
import tempfile
import uuid
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from framedex.captures import Cell, captures_below, write_cells
from framedex.commands.launching.launch import Launch, check_jaxlib, check_python, launch, metadata_variable
from framedex.commands.launching.outcome import Outcome
from framedex.commands.launching.plugins import find_plugin
from framedex.commands.launching.runtimes import Runtime
from framedex.commands.reading.files import absolute, working_folder
from framedex.errors import FramedexError
from framedex.inprocess import Recorder
from framedex.notebook.options import Options


class CellRecording:
    """The recording of the cell that runs now."""

    def __init__(self, options: Options, name: str) -> None:
        """Begin. `name` is what the cell is called: `train.ipynb:In[3]`.

        Raises FramedexError where nothing can be recorded.
        """
        self.options = options
        folder = absolute(options.output or captures_below(working_folder()))
        told = metadata_variable(uuid.uuid4().hex, sys.executable, sys.argv[1:], name)  # noqa: TID251
        self._stack = ExitStack()
        self._captures = self._stack.enter_context(Recorder(_made(folder)).block({**options.recording, **told}))

    def end(self, cells: Iterable[Cell]) -> Sequence[Path]:
        """End, keep the texts of cells, and hand out the captures. Raises FramedexError."""
        self._stack.close()
        kept = list(cells)
        for capture in self._captures:
            _keep(capture, kept)
        return self._captures


def recorded_apart(options: Options, text: str, name: str) -> Outcome:
    """Run the text of the cell `In[3]`, say, in a process of its own.

    Raises FramedexError where that process cannot be started.
    """
    check_python(sys.executable)  # noqa: TID251
    plugin = find_plugin(options.plugin, sys.executable) if options.plugin else None  # noqa: TID251
    runtime = Runtime.PJRT if plugin else check_jaxlib(sys.executable)  # noqa: TID251
    folder = _made(absolute(options.output or captures_below(working_folder())))
    with tempfile.TemporaryDirectory(prefix="framedex-") as place:
        script = Path(place) / f"{name}.py"
        script.write_text(text, "utf-8")
        settings = {**options.recording, **options.machine, "PYTHONPATH": _python_path()}
        outcome = launch(Launch(sys.executable, (os.fspath(script),), folder, settings, plugin, runtime))  # noqa: TID251
    for capture in outcome.captures:
        _keep(capture, [Cell(os.fspath(script), name, text)])
    return outcome


def _python_path() -> str:
    """PYTHONPATH of a process that imports what a notebook in the working folder does."""
    return os.pathsep.join([os.fspath(working_folder()), *filter(None, [os.environ.get("PYTHONPATH")])])


def _keep(capture: Path, cells: Sequence[Cell]) -> None:
    with suppress(OSError):  # on a full disk the cell is named by what Python calls its file
        write_cells(capture, cells)


def _made(folder: Path) -> Path:
    """The folder, which can be written. Raises FramedexError where it cannot."""
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

"""Record a cell: in this process between its start and end, or in a process of its own."""

from __future__ import annotations

import os
import sys
import tempfile
import uuid
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from framedex.captures import Cell, captures_below, write_cells
from framedex.commands.inputs.files import absolute, working_folder
from framedex.commands.launching.launch import Launch, check_jaxlib, check_python, launch, metadata_variable
from framedex.commands.launching.outcome import Outcome
from framedex.commands.launching.plugins import find_plugin
from framedex.commands.launching.runtimes import Runtime
from framedex.errors import FramedexError
from framedex.inprocess import Recorder
from framedex.notebook.options import Options


class CellRecording:
    """The recording of the running cell."""

    def __init__(self, options: Options, name: str) -> None:
        """Start recording. `name` is the name of the cell, such as `train.ipynb:In[3]`.

        Raises FramedexError if recording is impossible.
        """
        self.options = options
        folder = absolute(options.output or captures_below(working_folder()))
        told = metadata_variable(uuid.uuid4().hex, sys.executable, sys.argv[1:], name)  # noqa: TID251
        self._stack = ExitStack()
        self._captures = self._stack.enter_context(Recorder(_made(folder)).block({**options.recording, **told}))

    def end(self, cells: Iterable[Cell]) -> Sequence[Path]:
        """Stop recording, store the texts of cells, and return the captures.

        Raises FramedexError if recording failed.
        """
        self._stack.close()
        kept = list(cells)
        for capture in self._captures:
            _keep(capture, kept)
        return self._captures


def recorded_apart(options: Options, text: str, name: str) -> Outcome:
    """Run the text of a cell such as `In[3]` in a process of its own.

    Raises FramedexError if the process cannot be started.
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
    """The PYTHONPATH for a process with the imports of a notebook in the working folder."""
    return os.pathsep.join([os.fspath(working_folder()), *filter(None, [os.environ.get("PYTHONPATH")])])


def _keep(capture: Path, cells: Sequence[Cell]) -> None:
    with suppress(OSError):  # on a full disk, the cell appears under Python's name for its file
        write_cells(capture, cells)


def _made(folder: Path) -> Path:
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

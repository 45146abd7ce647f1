"""The IPython extension: the magics `%framedex` and `%%framedex`, and the display of answers.

IPython replaces `%%framedex` by a first line that starts the recording. The rest runs as an ordinary cell, with
`await`, magics, a displayed last value and correct line numbers. The recording ends with the cell, even after an
exception.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.inputtransformer2 import cell_magic
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult
from IPython.display import display

from framedex.base.errors import FramedexError
from framedex.integrations.notebook.answers import index_captures, register_formatters, unregister_formatters
from framedex.integrations.notebook.kernel import JaxRuntime, explain_no_calls
from framedex.integrations.notebook.options import (
    FRESH_OPTION,
    Options,
    format_help,
    parse_cell_options,
    parse_kernel_options,
)

if TYPE_CHECKING:  # this module needs the native part, but viewing traces does not
    from framedex.integrations.notebook.recording import CellRecording

_MAGIC = "framedex"
_BEGIN_MAGIC = "framedex_begin"
_FIRST_LINE = re.compile(rf"%%{_MAGIC}(?:[ \t]+(?P<options>.*))?\s*")


def load_ipython_extension(shell: Any) -> None:
    """Load the extension; called by `%load_ext framedex`."""
    extension = Extension(shell)
    shell.__dict__[_MAGIC] = extension
    extension.install()


def unload_ipython_extension(shell: Any) -> None:
    """Unload the extension; called by `%unload_ext framedex`. JAX continues to use the recording runtime."""
    shell.__dict__.pop(_MAGIC).remove()


class Extension:
    """The framedex extension of one IPython shell."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._kernel = JaxRuntime()
        self._running: list[ExecutionInfo] = []  # nested cells, the innermost last
        self._recording: CellRecording | None = None
        self._recorded: ExecutionInfo | None = None  # the cell that is being recorded

    def install(self) -> None:
        """Register the magics, and make JAX load framedex. A problem is printed; the first cell reports it again."""
        shell = self._shell
        shell.register_magic_function(self._run_magic, "line_cell", _MAGIC)
        shell.register_magic_function(self._begin_recording, "line", _BEGIN_MAGIC)
        shell.input_transformers_cleanup.append(_replace_first_line)
        shell.events.register("pre_run_cell", self._on_begin)
        shell.events.register("post_run_cell", self._on_end)
        register_formatters(shell)
        try:
            self._kernel.prepare()
            self._print_runtime()
        except FramedexError as error:
            print(f"framedex: {error}", file=sys.stderr)

    def remove(self) -> None:
        """Undo `install`."""
        shell = self._shell
        unregister_formatters(shell)
        shell.events.unregister("post_run_cell", self._on_end)
        shell.events.unregister("pre_run_cell", self._on_begin)
        shell.input_transformers_cleanup.remove(_replace_first_line)
        for kind, name in (("line", _MAGIC), ("cell", _MAGIC), ("line", _BEGIN_MAGIC)):
            del shell.magics_manager.magics[kind][name]

    def _run_magic(self, line: str, cell: str | None = None) -> None:
        try:
            if cell is None:
                options = parse_kernel_options(line)
                self._kernel.choose_machine(options.plugin, options.machine)
                self._print_runtime()
                return
            options = parse_cell_options(line)
            if options.is_fresh:
                self._run_in_new_process(options, f"# %%{_MAGIC} {line}\n{cell}")
                return
            self._check_no_recording()
        except FramedexError as error:
            raise UsageError(str(error)) from None
        self._shell.run_cell(f"%%{_MAGIC} {line}\n{cell}").raise_error()

    _run_magic.__doc__ = format_help()

    def _begin_recording(self, line: str) -> None:
        """Record the rest of this cell."""
        try:
            self._kernel.check_recordable()
            from framedex.integrations.notebook.recording import CellRecording

            options = parse_cell_options(line)
            self._check_no_recording()
            if not self._running:
                raise FramedexError("A silent cell cannot be recorded.", "Run it without silent=True.")
            self._kernel.choose_machine(options.plugin, options.machine)
            self._recording = CellRecording(options, self._name())
            self._recorded = self._running[-1]
        except FramedexError as error:
            raise UsageError(str(error)) from None

    def _print_runtime(self) -> None:
        """Print the runtime of this kernel. Raises FramedexError if its cells cannot be recorded."""
        self._kernel.check_recordable()
        print(f"framedex: JAX runs on {self._kernel.runtime} in this kernel. Choose another: `%framedex?`.")

    def _check_no_recording(self) -> None:
        """Raise FramedexError if a cell is being recorded already."""
        if self._recording is not None:
            raise FramedexError("A recorded cell cannot record another cell.", "Remove the inner %%framedex.")

    def _name(self) -> str:
        """The name of the running cell, with the notebook if Jupyter or VS Code provides its name."""
        from framedex.integrations.notebook.recording import find_running_cell

        notebook = self._shell.user_ns.get("__vsc_ipynb_file__") or os.environ.get("JPY_SESSION_NAME") or ""
        name = ":".join(filter(None, [Path(notebook).name, find_running_cell(self._shell)]))
        return shlex.quote(name) if re.search(r"[\s'\"\\]", name) else name

    def _on_begin(self, info: ExecutionInfo) -> None:
        self._running.append(info)

    def _on_end(self, result: ExecutionResult | None) -> None:
        """End the recording when its cell ends, even after an exception."""
        info = result.info if result is not None else None
        ended = self._running_cell_info(info) if info is not None else None
        self._running = [each for each in self._running if ended is not None and each is not ended]
        if self._recording is None or self._recorded in self._running:
            return
        from framedex.integrations.notebook.recording import recorded_cells

        recording, self._recording, self._recorded = self._recording, None, None
        try:
            self._show_answers(recording.end(recorded_cells(self._shell)), recording.options)
        except FramedexError as error:
            print(f"framedex: {error}", file=sys.stderr)
        except KeyboardInterrupt:
            print("framedex: Interrupted. The capture is kept: `framedex index` reads it.", file=sys.stderr)

    def _running_cell_info(self, info: ExecutionInfo) -> ExecutionInfo:
        """The running cell of an IPython event, which has another object if IPython could not show the cell's error."""
        found = (each for each in reversed(self._running) if each.raw_cell == info.raw_cell)
        return info if any(each is info for each in self._running) else next(found, info)

    def _run_in_new_process(self, options: Options, text: str) -> None:
        from framedex.integrations.notebook.recording import find_running_cell, run_in_new_process

        outcome = run_in_new_process(options, text, find_running_cell(self._shell))
        if outcome.captures:
            self._show_answers(outcome.captures, options)
        else:
            print(f"framedex: {outcome.summary()}", file=sys.stderr)
        if outcome.status:
            how = f"status {outcome.status}" if outcome.status > 0 else f"signal {-outcome.status}"
            raise FramedexError(f"The process of this cell ended with {how}.")

    def _show_answers(self, captures: Sequence[Path], options: Options) -> None:
        recorded = index_captures(captures)
        if options.name:
            self._shell.push({options.name: recorded})
        if not recorded.index.answer_of().captures:
            print(f"framedex: no runtime calls were recorded. {explain_no_calls()}", file=sys.stderr)
            return
        display(recorded)


def _replace_first_line(lines: list[str]) -> list[str]:
    """Replace a leading `%%framedex` with a line that starts the recording; return other cells unchanged."""
    first: Any = _FIRST_LINE.fullmatch(lines[0]) if lines else None
    options = (first["options"] or "") if first else ""
    if first is None or FRESH_OPTION in options.split():
        return lines
    return [f"get_ipython().run_line_magic({_BEGIN_MAGIC!r}, {options!r})\n", *cell_magic(lines[1:])]

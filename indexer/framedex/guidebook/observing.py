"""Collect observations of the runtime's functions from the captures in an index."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.guidebook.joining import free_key
from framedex.guidebook.programs import read_program
from framedex.missing import is_of_samples
from framedex.model import Metadata
from framedex.model.guidebook.observed import Observations, Run, Task
from framedex.regularfile import open_regular

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.index.ask.guidebook.capture import ObservedCapture
    from framedex.model import CaptureRow

_LARGEST_PROGRAM = 1 << 18  # bytes


def observe(index: Index, captures: Collection[int] | None = None) -> Observations:
    """Return the observations of the captures with these ids, or of all that have calls.

    The result is deterministic. Samples of other recorders are not calls, so their captures are skipped.
    """
    runs, functions, objects, tasks = [], [], [], []
    used: Counter[str] = Counter()
    for capture in index.captures():
        if not capture.calls or is_of_samples(capture.metadata_text):
            continue
        if captures is not None and capture.id not in captures:
            continue
        with index.reading():
            held = index.observed(capture.id)
            told = held.run()
            run = replace(told, key=free_key(_key(told), used))
            of_functions, of_objects = held.functions(run.key)
            task = _task(held, capture, run)
        runs.append(run)
        functions += of_functions
        objects += of_objects
        tasks += [task] if task is not None else []
    return Observations(tuple(runs), tuple(functions), tuple(objects), tuple(tasks))


def _key(run: Run) -> str:
    """Return a name of the run for use in addresses."""
    program = Path((run.title.split() or ["program"])[0]).stem
    plugin = run.plugin.removeprefix("the ").removesuffix(".so")
    words = " ".join((run.framework, run.framework_version, plugin, program))
    return re.sub(r"[^a-z0-9.]+", "-", words.lower()).strip("-.")


def _task(held: ObservedCapture, capture: CaptureRow, run: Run) -> Task | None:
    """Return the program as a task, if it is unchanged since the recording and marks its steps; else None."""
    metadata = Metadata.parse(capture.metadata_text)
    for word in metadata.argv[1:3]:
        path = os.path.normpath(Path(metadata.cwd or "/") / word)
        if word.endswith(".py") and (source := _source(Path(path), metadata.started_unix_ns)) is not None:
            program = read_program(source)
            if program is None:
                return None
            steps = held.steps(path, program.steps)
            name = Path(path).stem
            return Task(run.key, name, program.title or name, program.text, steps)
    return None


def _source(path: Path, started_unix_ns: int | None) -> str | None:
    """Return the text of a program, if it is unchanged since it was started; else None."""
    try:
        with open_regular(path) as file:
            is_changed = started_unix_ns is not None and os.fstat(file.fileno()).st_mtime_ns > started_unix_ns
            return None if is_changed else file.read(_LARGEST_PROGRAM).decode()
    except (OSError, ValueError):
        return None

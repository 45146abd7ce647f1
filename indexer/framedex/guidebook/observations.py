"""Collect observations of the runtime's functions from the captures in an index, and join those of several indexes.

A program with steps has a docstring, and a comment `# step: TITLE` at the beginning of each step.
"""

from __future__ import annotations

import ast
import io
import os
import re
import textwrap
import tokenize
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.regularfile import open_regular
from framedex.model import Metadata
from framedex.model.guidebook import Observations, Program, ProgramStep, Run, Task
from framedex.sources.python_syntax import parse_python
from framedex.texts.captures import is_of_samples

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.index.ask.guidebook.capture import ObservedCapture
    from framedex.model import CaptureRow


_MAX_PROGRAM_BYTES = 1 << 18  # bytes


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
            observed_capture = index.observed_capture(capture.id)
            recorded_run = observed_capture.run()
            run = replace(recorded_run, key=make_unique_key(_run_key(recorded_run), used))
            new_functions, new_objects = observed_capture.functions(run.key)
            task = _build_task(observed_capture, capture, run)
        runs.append(run)
        functions += new_functions
        objects += new_objects
        tasks += [task] if task is not None else []
    return Observations(tuple(runs), tuple(functions), tuple(objects), tuple(tasks))


def _run_key(run: Run) -> str:
    """Return a name of the run that can be part of a page's address."""
    program = Path((run.title.split() or ["program"])[0]).stem
    plugin = run.plugin.removeprefix("the ").removesuffix(".so")
    words = " ".join((run.framework, run.framework_version, plugin, program))
    return re.sub(r"[^a-z0-9.]+", "-", words.lower()).strip("-.")


def _build_task(observed_capture: ObservedCapture, capture: CaptureRow, run: Run) -> Task | None:
    """Return the program as a task, if it is unchanged since the recording and marks its steps; else None."""
    metadata = Metadata.parse(capture.metadata_text)
    for word in metadata.argv[1:3]:
        path = os.path.normpath(Path(metadata.cwd or "/") / word)
        if word.endswith(".py") and (source := _read_source(Path(path), metadata.started_unix_ns)) is not None:
            program = read_program(source)
            if program is None:
                return None
            steps = observed_capture.steps(path, program.steps)
            name = Path(path).stem
            return Task(run.key, name, program.title or name, program.text, steps)
    return None


def _read_source(path: Path, started_unix_ns: int | None) -> str | None:
    """Return the text of a program, if it is unchanged since it was started; else None."""
    try:
        with open_regular(path) as file:
            is_changed = started_unix_ns is not None and os.fstat(file.fileno()).st_mtime_ns > started_unix_ns
            return None if is_changed else file.read(_MAX_PROGRAM_BYTES).decode()
    except (OSError, ValueError):
        return None


_STEP = re.compile(r"\s*# step: (?P<title>.*\S)\s*")
_COMMENT = re.compile(r"\s*#(?: (?P<text>.*))?")


def read_program(source: str) -> Program | None:
    """Return the steps of a Python program; None if it cannot be parsed or has no steps.

    The docstring's first line, without its full stop, is the title. Comments right below a step comment are its text.
    """
    source = io.StringIO(source, newline=None).getvalue()  # normalizes line endings as Python does
    module = parse_python(source)
    if module is None:
        return None
    try:
        comments = list(_find_comment_lines(source))
    except (SyntaxError, tokenize.TokenError):
        return None
    lines = source.rstrip("\n").split("\n")  # the tokenizer's line numbers
    starts = [line - 1 for line in comments if _STEP.fullmatch(lines[line - 1])]
    if not starts:
        return None
    title, _, text = (ast.get_docstring(module) or "").partition("\n")
    ends = [*starts[1:], len(lines)]
    steps = tuple(_build_step(lines[start:end], start + 1) for start, end in zip(starts, ends, strict=True))
    return Program(title.strip().removesuffix("."), text.strip(), steps)


def _find_comment_lines(source: str) -> Iterator[int]:
    """Yield the lines (1-based) with a comment. The tokenizer excludes `#` inside strings."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0]


def _build_step(lines: list[str], first: int) -> ProgramStep:
    match = _STEP.fullmatch(lines[0])
    assert match is not None
    text = []
    for line in lines[1:]:
        comment = _COMMENT.fullmatch(line)
        if comment is None:
            break
        text.append(comment["text"] or "")
    code = textwrap.dedent("\n".join(lines[1 + len(text) :])).strip("\n")
    return ProgramStep(match["title"], "\n".join(text), code, first, first + len(lines) - 1)


def join_observations(all_observations: Sequence[Observations]) -> Observations:
    """Return all observations as one. Runs with the same key get a number appended."""
    used: Counter[str] = Counter()
    found = [_rename_runs(each, used) for each in all_observations]
    return Observations(
        tuple(run for each in found for run in each.runs),
        tuple(function for each in found for function in each.functions),
        tuple(life for each in found for life in each.objects),
        tuple(task for each in found for task in each.tasks),
    )


def make_unique_key(key: str, used: Counter[str]) -> str:
    """Return the key, with a number appended if it is already used, and mark it as used."""
    used[key] += 1
    if used[key] == 1:
        return key
    return make_unique_key(f"{key}-{used[key]}", used)


def _rename_runs(observations: Observations, used: Counter[str]) -> Observations:
    keys = {run.key: make_unique_key(run.key, used) for run in observations.runs}
    if all(old == new for old, new in keys.items()):
        return observations
    return Observations(
        tuple(replace(run, key=keys[run.key]) for run in observations.runs),
        tuple(replace(each, run=keys[each.run]) for each in observations.functions),
        tuple(replace(each, run=keys[each.run]) for each in observations.objects),
        tuple(replace(each, run=keys[each.run]) for each in observations.tasks),
    )

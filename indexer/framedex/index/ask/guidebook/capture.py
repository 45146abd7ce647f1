"""`ObservedCapture`: the guidebook's queries for one capture; its run, functions and the calls of program steps."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import groupby
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from framedex.index.ask.capture.contents import read_capture_tree
from framedex.index.ask.guidebook.functions import BEHAVIOUR_BOUNDARY, observe_functions
from framedex.index.ask.guidebook.stacks import StackPaths, file_name, shorten_paths
from framedex.index.file.conventions import IN_JSON, build_json_list
from framedex.index.read.locations import read_builds
from framedex.index.read.rows import Reader, decode_arguments, read_frame_chain, read_frames_by_id
from framedex.index.read.subjects import CaptureQuery
from framedex.model import CaptureRow, FrameRow, Language, LinkEvidence, Metadata
from framedex.model.guidebook import PathNode, ProgramStep, Run, Step, StepCall
from framedex.sources.releases.builds import find_installed_version
from framedex.texts.captures import format_all_problems, format_data_problems
from framedex.texts.errors import name_error

if TYPE_CHECKING:
    from framedex.model.guidebook import LifeCycle, ObservedFunction


LEGACY = "TPU"
"""The API of a run over the C API of jaxlib 0.4.13, which has no version."""

_TABLE = "GetPjrtApi"

_LEGACY_BOUNDARY = "tpu_executor"

_MOCK = "the mock TPU"

_NATIVE = "a native program"

# The first match wins: torch_xla may use jax, and pypjrt is a separate client.
_FRAMEWORKS = (
    ("torch_xla", re.compile(r"/(?:torch_xla/|_XLAC)")),
    ("pypjrt", re.compile(r"/pypjrt/")),
    ("jax", re.compile(r"/(?:jax|jaxlib)/|/libjax_common|/xla_extension")),
)

_INSTALLATION = r"(/.*)/{}/"

_INTERPRETER = re.compile(r"python[\d.]*")

MAX_CALLS = 200
"""Limit of shown calls per step."""

_MAX_CALLS_READ = 100_000
"""Limit of calls of a capture; larger captures get no calls per step, since demonstration programs are small."""

_COLUMNS = "c.id, c.id - c.inside, s.leaf, s.python_leaf, b.name, t.name, t.label, c.duration, k.error"


class ObservedCapture(CaptureQuery):
    """The guidebook's data from one capture. These queries may read the whole capture."""

    def run(self) -> Run:
        """Return the run, with an empty key. Raises FramedexError if there is no such capture."""
        return build_run(self.reader, self.row())

    def functions(self, run: str) -> tuple[list[ObservedFunction], list[LifeCycle]]:
        """Return the called functions, by name, and the object types; `run` is the run key of this capture."""
        return observe_functions(self.reader, self.capture, run, self._stack_paths)

    def steps(self, program: str, steps: Sequence[ProgramStep]) -> tuple[Step, ...]:
        """Return the calls that each step of a program led to; `program` is its recorded path."""
        return find_step_calls(self.reader, self.capture, program, steps, self._stack_paths)

    @cached_property
    def _stack_paths(self) -> StackPaths:
        return StackPaths(self.reader, self.capture)


def build_run(reader: Reader, found: CaptureRow) -> Run:
    """Return the run of a capture, with an empty key."""
    capture = found.id
    metadata = Metadata.parse(found.metadata_text)
    framework, modules = _find_framework(reader, capture)
    packages = dict(metadata.launch.packages) if metadata.launch else {}
    components = {build.component: build.version for build in reversed(read_builds(reader, capture))} | packages
    version = components.get(framework) or _find_installed_version(modules, framework, metadata.started_unix_ns)
    plugin, api = _find_plugin(reader, capture)
    selected = f"Only some calls were recorded: {', '.join(metadata.selected_by)}." if metadata.selected_by else ""
    limitations = [
        *([selected] if selected else []),
        *format_data_problems(format_all_problems(found.stops, found.problems)),
    ]
    return Run(
        key="",
        title=_format_title(metadata, found),
        framework=framework,
        framework_version=version,
        plugin=plugin,
        api=api,
        versions=tuple(sorted(components.items())),
        calls=found.calls - _count_calls(reader, capture, BEHAVIOUR_BOUNDARY),
        left_out=shorten_paths(" ".join(limitations)),
    )


def _find_framework(reader: Reader, capture: int) -> tuple[str, list[str]]:
    """Return the framework on the stacks, and its files that appear on them."""
    frames = {frame for _, _, frame in read_capture_tree(reader, capture).nodes}
    modules = [
        module
        for (module,) in reader.rows(
            "SELECT DISTINCT fn.module FROM frames fr JOIN functions fn ON fn.id = fr.function"
            f" WHERE fr.id {IN_JSON} ORDER BY 1",
            build_json_list(frames),
        )
    ]
    for name, pattern in _FRAMEWORKS:
        if own := [module for module in modules if pattern.search(module)]:
            return name, own
    has_python = any(module.endswith(".py") for module in modules)
    return ("Python" if has_python else _NATIVE), []


def _find_installed_version(modules: list[str], package: str, started: int | None) -> str:
    """Return a package's version from its installation metadata, or "" if there is none."""
    pattern = re.compile(_INSTALLATION.format(re.escape(package)))
    sites = dict.fromkeys(match[1] for module in modules if (match := pattern.match(module)))
    return next(filter(None, (find_installed_version(Path(site), package, started) for site in sites)), "")


def _find_plugin(reader: Reader, capture: int) -> tuple[str, str]:
    """Return plug-in names and the versions of their tables; the names note behaviours that ran."""
    tables = [
        decode_arguments(text)
        for (text,) in reader.rows(
            "SELECT a.json FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
            " JOIN call_rows c ON c.id = k.first_call JOIN arguments a ON a.id = c.arguments"
            " WHERE k.capture = ? AND k.calls > 0 AND b.name = ? ORDER BY c.id",
            capture,
            _TABLE,
        )
    ]
    if not tables:
        return (_MOCK, LEGACY) if _count_calls(reader, capture, _LEGACY_BOUNDARY) else ("", "")
    names = ", ".join(dict.fromkeys(file_name(str(table.get("plugin") or "")) for table in tables))
    changed = " under behaviours" if _count_calls(reader, capture, BEHAVIOUR_BOUNDARY) else ""
    return f"{names}{changed}", ", ".join(dict.fromkeys(map(_format_version, tables)))


def _count_calls(reader: Reader, capture: int, boundary: str) -> int:
    """Return the number of a capture's calls of one boundary."""
    query = (
        "SELECT coalesce(sum(k.calls), 0) FROM call_kinds k JOIN boundaries b ON b.id = k.boundary"
        " WHERE k.capture = ? AND k.calls > 0 AND b.boundary = ?"
    )
    ((calls,),) = reader.rows(query, capture, boundary)
    return int(calls)


def _format_version(table: dict[str, Any]) -> str:
    return f"{table.get('major_version', '?')}.{table.get('minor_version', '?')}"


def _format_title(metadata: Metadata, capture: CaptureRow) -> str:
    """Return the program and its arguments without folders: `train.py --steps 3`."""
    words = list(metadata.argv) or capture.command.split()
    if len(words) > 1 and _INTERPRETER.fullmatch(PurePath(words[0]).name):
        words = words[1:]
    if words[:1] == ["-m"] and len(words) > 1:
        words = words[1:]
    return " ".join(file_name(word) if word.startswith("/") else PurePath(word).name for word in words)


def find_step_calls(
    reader: Reader, capture: int, program: str, steps: Sequence[ProgramStep], stack_paths: StackPaths
) -> tuple[Step, ...]:
    """Return each step with its calls, or without calls if the capture has more than `_MAX_CALLS_READ`."""
    calls: dict[int, list[StepCall]] = {number: [] for number in range(len(steps))}
    for number, call in _Steps(reader, capture, program, steps, stack_paths).iter_calls():
        calls[number].append(call)
    found = []
    for number, step in enumerate(steps):
        shown = _fold_repeats(calls[number])
        kept = tuple(shown[:MAX_CALLS])
        left_out = sum(1 + call.repeated for call in shown[MAX_CALLS:])
        found.append(Step(step.title, step.text, step.code, kept, left_out))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _StackStep:
    """The step that contains a stack's innermost program line, and the path from that line to the call."""

    step: int | None
    path: tuple[PathNode, ...]


class _Steps:
    """Assigns the calls of a capture to steps."""

    def __init__(
        self, reader: Reader, capture: int, program: str, steps: Sequence[ProgramStep], stack_paths: StackPaths
    ) -> None:
        self._reader = reader
        self._capture = capture
        self._program = program
        self._steps = steps
        self._stack_paths = stack_paths
        self._cached_stack_step = cache(self._find_stack_step)
        # The last step, if it has no code, takes the calls after the program's end.
        self._end = len(steps) - 1 if steps and not steps[-1].code else None

    def iter_calls(self) -> Iterator[tuple[int, StepCall]]:
        """Yield (step number, call) in start order."""
        rows = self._reader.rows(
            f"SELECT {_COLUMNS} FROM call_rows c CROSS JOIN call_kinds k ON k.id = c.kind"
            " CROSS JOIN stacks s ON s.id = k.stack CROSS JOIN boundaries b ON b.id = k.boundary"
            " CROSS JOIN threads t ON t.id = k.thread JOIN captures p ON c.id BETWEEN p.first_call AND p.last_call"
            " WHERE p.id = ? AND p.calls <= ? ORDER BY c.id",
            self._capture,
            _MAX_CALLS_READ,
        )
        linked = self._find_dispatching_steps()
        stack_steps = {
            call: self._cached_stack_step(leaf, python_leaf, name) for call, _, leaf, python_leaf, name, *_ in rows
        }
        last_own = max((call for call, stack_step in stack_steps.items() if stack_step.step is not None), default=0)
        step_of: dict[int, int | None] = {}
        depth_of: dict[int, int] = {}
        for call, outer, _, _, name, thread, label, duration, error in rows:
            depth_of[call] = depth_of.get(outer, -1) + 1
            after_all = self._end if call > last_own else None
            candidates = (stack_steps[call].step, step_of.get(outer), linked.get(call), after_all)
            step = step_of[call] = next((each for each in candidates if each is not None), None)
            if step is not None:
                yield (
                    step,
                    StepCall(
                        function=name,
                        depth=depth_of[call],
                        thread=label if label == "main" else thread,
                        duration=duration if duration >= 0 else None,
                        error=name_error(error) if error > 0 else "",
                        path=stack_steps[call].path,
                        repeated=0,
                    ),
                )

    def _find_stack_step(self, leaf: int, python_leaf: int, boundary: str) -> _StackStep:
        """Return the step and the path of a stack with these end nodes."""
        frames = self._stack_paths.chain(leaf)
        begin = next((at for at in reversed(range(len(frames))) if self._find_step(frames[at]) is not None), None)
        step = (
            self._innermost_step(self._stack_paths.chain(python_leaf))
            if begin is None
            else self._find_step(frames[begin])
        )
        path = self._stack_paths.build_path(frames[begin or 0 :], boundary)
        nodes = (PathNode(each.function, each.language, each.place, 1, each.folded, ()) for each in path)
        return _StackStep(step, tuple(nodes))

    def _innermost_step(self, frames: Sequence[FrameRow]) -> int | None:
        steps = (self._find_step(frame) for frame in reversed(frames))
        return next((step for step in steps if step is not None), None)

    def _find_step(self, frame: FrameRow) -> int | None:
        """Return the number of the step that contains a frame's line, or None."""
        if frame.function.language is Language.PYTHON and frame.function.module == self._program:
            for number, step in enumerate(self._steps):
                if step.first <= frame.line <= step.last:
                    return number
        return None

    def _find_dispatching_steps(self) -> dict[int, int | None]:
        """Return the steps that dispatched calls to native threads; ambiguous links are left out."""
        rows = self._reader.rows(
            "SELECT l.call, l.node FROM call_links l JOIN captures p ON l.call BETWEEN p.first_call AND p.last_call"
            " WHERE p.id = ? AND l.how <> ? AND p.calls <= ?",
            self._capture,
            LinkEvidence.CANDIDATES.value,
            _MAX_CALLS_READ,
        )
        chains = {node: read_frame_chain(self._reader, node) for _, node in rows}
        frames = read_frames_by_id(self._reader, {frame for each in chains.values() for frame in each})
        return {call: self._innermost_step([frames[frame] for frame in chains[node]]) for call, node in rows}


def _fold_repeats(calls: Sequence[StepCall]) -> list[StepCall]:
    """Fold consecutive calls that differ only in duration into the first one and a repeat count."""
    found = []
    for _, alike in groupby(calls, lambda call: replace(call, duration=None)):
        first, *others = alike
        found.append(replace(first, repeated=len(others)))
    return found

"""The guidebook: the runtime's functions by their ABI, observations of them in captures, and comparisons of runs.

All types can be written as JSON and read back (`framedex.guidebook.observation_files`). Observations of several
captures can be merged.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded process: its program, framework and plug-in. Observations refer to it by `key`.

    `framework` is "jax", "torch_xla", "pypjrt" or another caller, with its version. `plugin` is the file name or "the
    mock TPU". `api` is the plug-in's version of the PJRT C API ("0.112", or "TPU" for the C API of jaxlib 0.4.13).
    `versions` has those of components by name. `left_out` describes calls that were not recorded, empty if none.
    """

    key: str
    title: str
    framework: str
    framework_version: str
    plugin: str
    api: str
    versions: tuple[tuple[str, str], ...]
    calls: int
    left_out: str


@dataclass(frozen=True, slots=True)
class DisplayedLocation:
    """A line for display: `text` such as `jax/_src/api.py:2480`, and its public address `url`, None if it has none."""

    text: str
    url: str | None
    how: str  # model.LocationEvidence; empty without a line


@dataclass(frozen=True, slots=True)
class DisplayedFrame:
    """A displayed frame of a stack path, after `folded` hidden ones."""

    function: str
    language: str
    place: DisplayedLocation
    folded: int


@dataclass(frozen=True, slots=True)
class PathNode:
    """A frame in a tree of merged stacks, outermost first.

    `calls` passed it; `callees` are its inner frames, most calls first.

    `folded` counts hidden frames of the interpreter and glue between the parent and this frame.
    """

    function: str
    language: str  # native, python
    place: DisplayedLocation
    calls: int
    folded: int
    callees: tuple[PathNode, ...]


@dataclass(frozen=True, slots=True)
class NameCount:
    """A name and its number of occurrences."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class ObservedError:
    """An error that calls returned."""

    code: str  # RESOURCE_EXHAUSTED
    message: str  # from an example call
    calls: int


@dataclass(frozen=True, slots=True)
class Example:
    """One call: its arguments and results as texts by name, in struct order."""

    arguments: tuple[tuple[str, str], ...]
    line: DisplayedLocation | None  # the program's line


@dataclass(frozen=True, slots=True)
class ObservedFunction:
    """The observations of one function in one run.

    Durations are nanoseconds of calls that returned, None if none did. `before` and `after` are the adjacent functions
    on the same thread, outside all other calls. `makes`, `uses` and `ends` are types of objects.
    """

    run: str
    function: str
    boundary: str
    calls: int
    median: int | None
    p90: int | None
    longest: int | None
    lines: tuple[tuple[DisplayedLocation, int], ...]
    paths: tuple[PathNode, ...]
    omitted_calls: int  # calls omitted from the tree to limit its size
    examples: tuple[Example, ...]
    errors: tuple[ObservedError, ...]
    before: tuple[NameCount, ...]
    after: tuple[NameCount, ...]
    inside: tuple[NameCount, ...]  # the enclosing functions
    makes: tuple[NameCount, ...]
    uses: tuple[NameCount, ...]
    ends: tuple[NameCount, ...]
    threads: tuple[NameCount, ...]


@dataclass(frozen=True, slots=True)
class LifeCycle:
    """The life of a type of objects in one run: the functions that created, used and ended them."""

    run: str
    type: str
    objects: int
    made: tuple[NameCount, ...]
    used: tuple[NameCount, ...]
    deleted: tuple[NameCount, ...]
    destroyed: tuple[NameCount, ...]
    left: int  # objects not destroyed when the recording ended


@dataclass(frozen=True, slots=True)
class StepCall:
    """A call of a step: its function, and the frames from the program's line to it, without branches."""

    function: str
    depth: int  # 0: called by Python; otherwise the number of enclosing recorded calls
    thread: str
    duration: int | None  # ns
    error: str
    path: tuple[PathNode, ...]
    repeated: int  # the number of identical calls that follow directly and are hidden


@dataclass(frozen=True, slots=True)
class Step:
    """The code below a `# step: TITLE` comment of a program, as text, and its calls in order."""

    title: str
    text: str  # the comment lines below it, as Markdown
    code: str
    calls: tuple[StepCall, ...]
    left_out: int  # omitted calls after these


@dataclass(frozen=True, slots=True)
class Task:
    """A program with `# step: TITLE` comments; title and text come from its docstring."""

    run: str
    name: str  # the file's stem: device_put
    title: str
    text: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Observations:
    """All observations of captures."""

    runs: tuple[Run, ...]
    functions: tuple[ObservedFunction, ...]
    objects: tuple[LifeCycle, ...]
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True)
class ProgramStep:
    """The code below a `# step: TITLE` comment, up to the next one.

    `first` and `last` are its lines (1-based), including the comment. `code` is empty if no statement follows: then the
    step covers the time after the program has ended.
    """

    title: str
    text: str
    code: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Program:
    """A program with steps; title and text come from its docstring."""

    title: str
    text: str
    steps: tuple[ProgramStep, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A field of a function's argument struct, or a parameter of a function without one.

    A field of a nested struct, or of one behind a pointer, has a dotted name. `since` is the minor version of the API
    that added it, None if it is older than the history.
    """

    name: str
    type: str
    is_output: bool
    since: int | None


class Kind(StrEnum):
    """The kind of table that contains a function."""

    API = "api"  # the table of the PJRT C API itself
    EXTENSION = "extension"
    OBJECT = "object"  # an object's own table, whose calls are not recorded
    LEGACY = "legacy"  # not in a table: exported by the C API of jaxlib 0.4.13


@dataclass(frozen=True, slots=True)
class FunctionDescription:
    """A function of a table.

    `table` is "PJRT" for the API table. Otherwise it is the extension ("Layouts"), the object's own table ("Memory"),
    or "TPU" for the C API of jaxlib 0.4.13. `since` is as for parameters. `source` is the public address of its
    declaration, None if unknown.
    """

    name: str
    kind: Kind
    table: str
    returns: str
    arguments: str  # the type of its argument struct; empty for functions that take parameters
    parameters: tuple[Parameter, ...]
    since: int | None
    source: str | None


@dataclass(frozen=True, slots=True)
class ApiRelease:
    """A release of jaxlib: the minor version of its PJRT C API, and the number of functions in the table."""

    jaxlib: str
    minor: int
    functions: int


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """The runs selected by a name, by their keys."""

    name: str
    runs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SideTotals:
    """The totals of a function on one side: all calls, and the minimum and maximum of the runs' medians (ns)."""

    calls: int
    errors: int
    medians: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ComparedFunction:
    """A function on both sides; None for a side that did not call it."""

    function: str
    left: SideTotals | None
    right: SideTotals | None


@dataclass(frozen=True, slots=True)
class ChangedStep:
    """A step of a program with different calls in two runs.

    The calls are functions in order, without nested calls, with consecutive repetitions merged. `first` is the index of
    the first difference; if one list is a prefix of the other, it is an index into the longer one.
    """

    task: str
    step: str
    left: str
    right: str
    left_calls: tuple[str, ...]
    right_calls: tuple[str, ...]
    first: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Both sides, all functions that either called, and the steps with different calls."""

    left: ComparedRuns
    right: ComparedRuns
    functions: tuple[ComparedFunction, ...]
    changed_steps: tuple[ChangedStep, ...]

"""Observations of the runtime's functions in captures: counts, stack paths, examples, orders and objects.

All types can be written as JSON and read back (`framedex.guidebook.keeping`), and those of several captures merged.
"""

from __future__ import annotations

from dataclasses import dataclass


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
class Place:
    """A line for display: `text` such as `jax/_src/api.py:2480`, and its public address `url`, None if it has none."""

    text: str
    url: str | None
    how: str  # model.How; empty without a line


@dataclass(frozen=True, slots=True)
class Passed:
    """A displayed frame of a stack path, after `folded` hidden ones."""

    function: str
    language: str
    place: Place
    folded: int


@dataclass(frozen=True, slots=True)
class Road:
    """A frame in a tree of merged stacks, outermost first.

    `calls` passed it; `roads` are inner frames, most calls first.

    `folded` counts hidden frames of the interpreter and glue between the parent and this frame.
    """

    function: str
    language: str  # native, python
    place: Place
    calls: int
    folded: int
    roads: tuple[Road, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """A name and its number of occurrences."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class SeenError:
    """An error that calls returned."""

    code: str  # RESOURCE_EXHAUSTED
    message: str  # from an example call
    calls: int


@dataclass(frozen=True, slots=True)
class Example:
    """One call: its arguments and results as texts by name, in struct order."""

    arguments: tuple[tuple[str, str], ...]
    line: Place | None  # the program's line


@dataclass(frozen=True, slots=True)
class Observed:
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
    lines: tuple[tuple[Place, int], ...]
    roads: tuple[Road, ...]
    roads_left_out: int  # calls omitted from the tree to limit its size
    examples: tuple[Example, ...]
    errors: tuple[SeenError, ...]
    before: tuple[Counted, ...]
    after: tuple[Counted, ...]
    inside: tuple[Counted, ...]  # the enclosing functions
    makes: tuple[Counted, ...]
    uses: tuple[Counted, ...]
    ends: tuple[Counted, ...]
    threads: tuple[Counted, ...]


@dataclass(frozen=True, slots=True)
class LifeCycle:
    """The life of a type of objects in one run: the functions that created, used and ended them."""

    run: str
    type: str
    objects: int
    made: tuple[Counted, ...]
    used: tuple[Counted, ...]
    deleted: tuple[Counted, ...]
    destroyed: tuple[Counted, ...]
    left: int  # objects not destroyed when the recording ended


@dataclass(frozen=True, slots=True)
class StepCall:
    """A call of a step: its function, and the frames from the program's line to it, without branches."""

    function: str
    depth: int  # 0: called by Python; otherwise the number of enclosing recorded calls
    thread: str
    duration: int | None  # ns
    error: str
    road: tuple[Road, ...]
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
    functions: tuple[Observed, ...]
    objects: tuple[LifeCycle, ...]
    tasks: tuple[Task, ...]

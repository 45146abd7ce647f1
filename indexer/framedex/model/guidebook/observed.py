"""What captures say of the runtime's functions: counts, roads, examples, orders and objects.

All of it can be written as JSON and read again (`framedex.guidebook.keeping`), and that of several captures merged.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Run:
    """A recorded process: which program, on which framework, over which plug-in. Observations name theirs by `key`.

    `framework` is "jax", "torch_xla", "pypjrt" or what else made the calls, with its version; `plugin` the file's name
    or "the mock TPU"; `api` the plug-in's version of the PJRT C API ("0.112"; of jaxlib 0.4.13's C API "TPU").
    `versions` are those of components by name. `left_out` says how much of it was not recorded; empty where all was.
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
    """A line as it is shown: `text` such as `jax/_src/api.py:2480`, `url` its public page, None where it has none."""

    text: str
    url: str | None
    how: str  # model.How; empty where there is no line


@dataclass(frozen=True, slots=True)
class Passed:
    """A frame of a way that is shown, after `folded` ones that are not."""

    function: str
    language: str
    place: Place
    folded: int


@dataclass(frozen=True, slots=True)
class Road:
    """A frame in a tree of merged stacks, outermost first. `calls` passed here; `roads` lead on, most calls first.

    `folded` counts frames of the interpreter and of glue that are not shown between the one above and this.
    """

    function: str
    language: str  # native, python
    place: Place
    calls: int
    folded: int
    roads: tuple[Road, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """Something that was seen, and how often."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class SeenError:
    """An error that calls ended with."""

    code: str  # RESOURCE_EXHAUSTED
    message: str  # of one of them
    calls: int


@dataclass(frozen=True, slots=True)
class Example:
    """One call: its arguments and results as texts by their names, in the order of the struct."""

    arguments: tuple[tuple[str, str], ...]
    line: Place | None  # of the program


@dataclass(frozen=True, slots=True)
class Observed:
    """What one run says of one function.

    Durations are nanoseconds of calls that returned, None where none did. `before` and `after` are the functions that
    the same thread called next to it, outside of all other calls. `makes`, `uses` and `ends` are types of objects.
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
    roads_left_out: int  # calls whose roads are not in the tree, as it would be too large
    examples: tuple[Example, ...]
    errors: tuple[SeenError, ...]
    before: tuple[Counted, ...]
    after: tuple[Counted, ...]
    inside: tuple[Counted, ...]  # the functions in whose calls it was called
    makes: tuple[Counted, ...]
    uses: tuple[Counted, ...]
    ends: tuple[Counted, ...]
    threads: tuple[Counted, ...]


@dataclass(frozen=True, slots=True)
class LifeCycle:
    """What one run says of a type of objects: which functions made, used and ended them, and how many lived on."""

    run: str
    type: str
    objects: int
    made: tuple[Counted, ...]
    used: tuple[Counted, ...]
    deleted: tuple[Counted, ...]
    destroyed: tuple[Counted, ...]
    left: int  # that were not destroyed when the recording ended


@dataclass(frozen=True, slots=True)
class StepCall:
    """A call of a step: its function, and the road from the line of the program to it, a frame each (no branches)."""

    function: str
    depth: int  # 0: made by Python; else how many recorded calls it is in
    thread: str
    duration: int | None  # ns
    error: str
    road: tuple[Road, ...]
    repeated: int  # how many calls like it follow at once, that are not shown


@dataclass(frozen=True, slots=True)
class Step:
    """What lies below a `# step: TITLE` comment of a program, as text, and the calls that it led to in their order."""

    title: str
    text: str  # what the lines of comment below it say, Markdown
    code: str
    calls: tuple[StepCall, ...]
    left_out: int  # calls after these, of a step that makes very many


@dataclass(frozen=True, slots=True)
class Task:
    """A program that says with `# step: TITLE` comments what it shows; title and text are of its docstring."""

    run: str
    name: str  # of the file: device_put
    title: str
    text: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Observations:
    """All that captures say."""

    runs: tuple[Run, ...]
    functions: tuple[Observed, ...]
    objects: tuple[LifeCycle, ...]
    tasks: tuple[Task, ...]

"""Write tpu-executor-allocate.md and tpu-executor-calls.md in docs/explanation from new recordings.

python docs/make_tpu_executor_allocate.py FRAMEDEX LEGACY_PYTHON XLA

FRAMEDEX is the command of a Python with a current JAX, LEGACY_PYTHON is a Python with JAX 0.4.13. XLA is a checkout at
the commit of jaxlib 0.4.13 (seed_frames.XLA_COMMIT).
"""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path, PurePath

from seed_frames import CALLS, XLA_COMMIT, XLA_URL, Row, allocations, rows, short_name

from framedex.index import Index
from framedex.model import CallFilter, CallRow, FrameRole, FrameRow, Language, Location, Trace

DOCS = Path(__file__).resolve().parent
PROGRAM = DOCS.parent / "demo" / "seed_trace.py"
JAX_URL = "https://github.com/jax-ml/jax/blob/jax-v"
LEGACY_JAX = "0.4.13"
TODAYS_PROGRAM = "import jax\n\n\ndef put_with_jax():\n    return jax.device_put(1)\n\n\nprint(put_with_jax())\n"
TODAYS_ENTRY = "PJRT_Client_BufferFromHostBuffer"
INDEX = Path(".framedex", "index.db")
WORDS = {True: "true", False: "false"}


def main(framedex: str, legacy: str, xla: str) -> None:
    """Record, index, and write the pages."""
    with tempfile.TemporaryDirectory() as folder:
        seed, today = Path(folder, "seed"), Path(folder, "today")
        record(framedex, seed, PROGRAM, xla, "--python", str(Path(legacy).absolute()), "--devices", "1")
        record_today(framedex, today)
        with Index.open(seed / INDEX) as index, Index.open(today / INDEX) as todays:
            text = walkthrough(index, _latest(todays, TODAYS_ENTRY), Path(xla).resolve())
            (DOCS / "explanation" / "tpu-executor-allocate.md").write_text("\n".join([*text, ""]))
            (DOCS / "explanation" / "tpu-executor-calls.md").write_text("\n".join([*call_log(index), ""]))


def record(framedex: str, folder: Path, program: Path, source: str | None, *options: str) -> None:
    """Record `program`, and index the recording in `folder`."""
    folder.mkdir(exist_ok=True)
    command = str(Path(framedex).absolute())
    subprocess.run([command, "run", *options, str(program)], cwd=folder, check=True)
    roots = ["--source", str(Path(source).absolute())] if source else []
    subprocess.run([command, "index", *roots], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def record_today(framedex: str, folder: Path) -> None:
    """The same call on framedex's own installed JAX."""
    folder.mkdir()
    (folder / "put.py").write_text(TODAYS_PROGRAM)
    record(framedex, folder, folder / "put.py", None)


# --- the walkthrough --------------------------------------------------------------------------------------------------


def walkthrough(index: Index, today: Trace, xla: Path) -> Iterator[str]:
    """Yield the text of docs/explanation/tpu-executor-allocate.md."""
    traces = allocations(index)
    yield "# From `jax.device_put(1)` to `TpuExecutor_Allocate`"
    yield ""
    yield from INTRODUCTION
    yield ""
    yield "## The Python frames of call A"
    yield ""
    yield from python_table(traces["A"])
    yield ""
    yield "## The C++ frames"
    yield ""
    yield from CPP_INTRODUCTION
    yield ""
    for call, trace in traces.items():
        yield f"### Call {call}: `{CALLS[call]}`"
        yield ""
        yield from cpp_table(rows(trace, call), xla)
        yield ""
    yield "## The same journey on today's JAX"
    yield ""
    yield from side_by_side(traces["A"], today)
    yield ""
    yield "## What else works with JAX 0.4.13"
    yield ""
    yield from OTHER_SECTION


INTRODUCTION = """\
Written by `docs/make_tpu_executor_allocate.py` from a recording; `make seed-trace` makes one on your machine.

framedex grew out of a gist of 2021 that shows, frame by frame, how `jnp.device_put(1)` comes to an allocation on a TPU,
seen from a mock `libtpu.so`. Current JAX allocates differently. One stock wheel still does it this way: jaxlib 0.4.13
looks up 223 C functions by their names in the library that `TPU_LIBRARY_PATH` names. framedex's `libtpu.so` has them
all, beside the table of today's PJRT C API, and records each of them. [The log of all calls](tpu-executor-calls.md) is
a document of its own. Two calls of [`demo/seed_trace.py`](../demo/seed_trace.py) are shown:

- **A**, `jax.device_put(1)`;
- **B**, `tree_map(lambda x: client.buffer_from_pyval(np.asarray(x, np.int32), device), 1)`, the gist's own way in.

`framedex run` needs nothing but the environment's Python: it sees that its jaxlib is 0.4.13, and sets what that needs.
""".splitlines()
CPP_INTRODUCTION = f"""\
A name links to where XLA at commit [`{XLA_COMMIT[:12]}`](https://github.com/openxla/xla/tree/{XLA_COMMIT})
defines the function. The wheel has no line tables, so framedex finds the line of a frame in the sources and
labels it with the evidence. `single` is the only call of the next frame in the function. `inlined-hop` is a call
through an inlined function. No line is given if no call names the next frame.
""".splitlines()
TODAY_SECTION = f"""\
Then jaxlib had every layer of the client in itself, and asked the library for memory. Today it hands the whole transfer
to the plug-in, which allocates, copies and says when it is done: `{TODAYS_ENTRY}` is the plug-in's
first frame.
""".splitlines()
OTHER_SECTION = """\
- The machine: one host with 1 to 8 cores (`--devices`, 8 by default), two to a chip, of a `v3` or a `v2` (`--device`),
  each with the memory that the kind has or `--hbm` says. Over the limit JAX gets `RESOURCE_EXHAUSTED`.
- Transfers both ways and between cores, of every type that NumPy has; deletion; events and streams. Work on a
  stream is finished when the call returns.
- Programs that stay on one core, `pmap` without communication among them: jaxlib's own CPU client runs them, so their
  results are those of the host's arithmetic. Collectives, programs that the compiler is to partition, custom calls and
  callbacks are refused with `UNIMPLEMENTED` when they are compiled.
- Of the 223 functions jaxlib 0.4.13 calls 70. The others were for TensorFlow: they answer `UNIMPLEMENTED` where they
  can, or nothing. Structs, functions and the decoding of arguments are generated from
  `native/abi/tpu_c_api_jaxlib_0.4.13.json`.
""".splitlines()
LOG_INTRODUCTION = """\
Written by `docs/make_tpu_executor_allocate.py` from a recording of JAX 0.4.13 on one core of the mock TPU. It has all
{calls} calls of {functions} functions of the API and the mock's own allocator, up to the end of the process. Addresses
and empty fields of device descriptions are left out. The line is the Python line that led to the call. jaxlib's own
threads have no Python line.
"""


def python_table(trace: Trace) -> Iterator[str]:
    """The Python frames, outermost first, and the points where the stack leaves Python."""
    yield "| frame | line |"
    yield "|---|---|"
    was_native = False
    for frame in visible(trace):
        if frame.function.language is Language.PYTHON:
            yield f"| `{frame.function.name}` | {python_link(frame.location)} |"
        elif not was_native:
            yield "| *C++, below* | |"
        was_native = frame.function.language is Language.NATIVE


def python_link(location: Location | None) -> str:
    """The line, with a link if it is JAX's own."""
    if location is None:
        return ""
    name = f"{PurePath(location.path).name}:{location.line}"
    _, found, inside = location.path.partition("/site-packages/jax/")
    return f"[{inside}:{location.line}]({JAX_URL}{LEGACY_JAX}/jax/{inside}#L{location.line})" if found else name


def cpp_table(found: list[Row], xla: Path) -> Iterator[str]:
    """The steps of a call. Raises ValueError if the recording differs from the text."""
    yield "| gist (2021) | here | at | what it does |"
    yield "|---|---|---|---|"
    for row in found:
        check(row, xla)
        here = f"[`{row.name}`]({row.url})" if row.url else f"`{row.name}`"
        gist = quoted(row.step.gist)
        yield f"| {gist} | {here} | {call_line(row, xla)} | {row.step.does} |"


def quoted(name: str) -> str:
    """The gist's name of a frame as code, followed by its remark as text."""
    code, space, remark = name.partition(" ")
    return f"`{code}`{space}{remark}" if name else "-"


def check(row: Row, xla: Path) -> None:
    """Raise ValueError unless the frame is recorded at its step's location in XLA."""
    if row.frame is None:
        raise ValueError(f"{row.name} is missing from the recording")
    defined = row.frame.function.location
    place = f"{PurePath(defined.path).relative_to(xla)}:{defined.line}" if defined and row.place else ""
    if place != row.place:
        raise ValueError(f"{row.name} is defined at {place}, not at {row.place}")


def call_line(row: Row, xla: Path) -> str:
    """The frame's line and its evidence, if XLA's sources have more than the definition."""
    at = row.frame.location if row.frame else None
    if at is None or not row.url or at == (row.frame and row.frame.function.location):
        return ""
    path = PurePath(at.path).relative_to(xla)
    return f"[{path.name}:{at.line}]({XLA_URL}/{path}#L{at.line}) `{at.how}`"


def side_by_side(seed: Trace, today: Trace) -> Iterator[str]:
    """The frames of both recordings, outermost first; first those of Python, then the last C++ frames."""
    version = importlib.metadata.version("jaxlib")
    yield "Both stacks without the interpreter's own frames and the glue between the languages, outermost first."
    yield ""
    for title, part in (("Python", Language.PYTHON), ("C++, from the last Python frame inward", Language.NATIVE)):
        yield f"| {title}: JAX {LEGACY_JAX} | JAX {version} |"
        yield "|---|---|"
        for old, new in zip_longest(names(seed, part), names(today, part), fillvalue=""):
            yield f"| {old} | {new} |"
        yield ""
    yield from TODAY_SECTION


def names(trace: Trace, language: Language) -> list[str]:
    """The frames of one language; for C++, those called from all Python frames."""
    frames = visible(trace)
    last_python = max(i for i, frame in enumerate(frames) if frame.function.language is Language.PYTHON)
    wanted = frames if language is Language.PYTHON else frames[last_python + 1 :]
    return [f"`{_name(frame)}`" for frame in wanted if frame.function.language is language]


def _name(frame: FrameRow) -> str:
    if frame.function.language is Language.NATIVE:
        return short_name(frame.function)
    file = PurePath(frame.function.module).name
    return f"{file} {frame.function.name}"


def visible(trace: Trace) -> list[FrameRow]:
    """The frames of programs and libraries, outermost first."""
    return [frame for frame in trace.frames if frame.function.role is FrameRole.CODE]


def _latest(index: Index, function: str) -> Trace:
    call = index.calls.latest(function)
    found = index.calls.trace(call.id) if call else None
    if found is None:
        raise ValueError(f"{function} was not recorded")
    return found


# --- the call log -----------------------------------------------------------------------------------------------------


def call_log(index: Index) -> Iterator[str]:
    """Yield the text of docs/explanation/tpu-executor-calls.md."""
    calls = index.calls.find(CallFilter())
    functions = {call.function for call in calls if call.boundary == "tpu_executor"}
    yield "# Every call of the TPU C API under `demo/seed_trace.py`"
    yield ""
    yield from LOG_INTRODUCTION.format(calls=len(calls), functions=len(functions)).splitlines()
    yield ""
    yield "| | thread | line | call |"
    yield "|---|---|---|---|"
    threads: dict[str, str] = {}
    lines = index.calls.python_lines(calls)
    for number, call in enumerate(calls, 1):
        thread = threads.setdefault(call.thread, "main" if call.thread == "main" else f"worker {len(threads) or 1}")
        line = lines.get(call.id)
        at = f"{PurePath(line.location.path).name}:{line.location.line}" if line and line.link is None else ""
        nested = "" if call.parent is None else "&emsp;"
        yield f"| {number} | {thread} | {at} | {nested}`{call.function}{arguments(call)}` |"


def arguments(call: CallRow) -> str:
    """`(size=4, returned.size=4)`: the values of a call that are the same in every run."""
    shown = (f"{name}={_shown(value)}" for name, value in call.arguments.items() if not _is_left_out(name, value))
    return f"({', '.join(shown)})"


def _is_left_out(name: str, value: object) -> bool:
    if isinstance(value, list) and value and isinstance(value[0], str):
        return value[0].startswith("0x")
    if value in (None, "") or (isinstance(value, str) and value.startswith("0x")):
        return True
    return name.startswith("description.") and not value


def _shown(value: object) -> str:
    return WORDS[value] if isinstance(value, bool) else str(value).replace("|", "\\|")


if __name__ == "__main__":
    main(*sys.argv[1:4])

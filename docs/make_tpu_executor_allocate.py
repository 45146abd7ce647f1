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
            text = walkthrough(index, _latest_call(todays, TODAYS_ENTRY), Path(xla).resolve())
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
    yield "## The same call on current JAX"
    yield ""
    yield from side_by_side(traces["A"], today)
    yield ""
    yield "## What else works with JAX 0.4.13"
    yield ""
    yield from OTHER_SECTION


INTRODUCTION = """\
`docs/make_tpu_executor_allocate.py` writes this page from a recording. `make seed-trace` records it on your machine.

A gist of 2021 was the start of framedex. Frame by frame, it shows how `jnp.device_put(1)` allocates memory on a TPU,
seen from a mock `libtpu.so`. Current versions of JAX allocate memory in a different way. Only one stock wheel still
uses the old way: jaxlib 0.4.13. It looks up 223 C functions by name in the library at `TPU_LIBRARY_PATH`. framedex's
`libtpu.so` has and records all of them, in addition to the current PJRT C API. [Another page](tpu-executor-calls.md)
lists all calls. This page shows two calls of [`demo/seed_trace.py`](../../demo/seed_trace.py):

- **A**: `jax.device_put(1)`
- **B**: `tree_map(lambda x: client.buffer_from_pyval(np.asarray(x, np.int32), device), 1)`, the call of the gist

`framedex run` needs only the environment's Python. It detects jaxlib 0.4.13 and sets the required options.
""".splitlines()
CPP_INTRODUCTION = f"""\
A name links to where XLA at commit [`{XLA_COMMIT[:12]}`](https://github.com/openxla/xla/tree/{XLA_COMMIT})
defines the function. The wheel has no line tables. So framedex finds the line of a frame in the sources, and
labels it with the evidence. `single` means that the function calls the next frame in only one place. `inlined-hop`
means that the call passes through an inlined function. Frames without a call to the next frame have no line.
""".splitlines()
TODAY_SECTION = f"""\
jaxlib 0.4.13 contains every layer of the client, and requests only memory from the library. Current jaxlib passes the
whole transfer to the plug-in, which allocates, copies and reports completion. The plug-in's first frame is
`{TODAYS_ENTRY}`.
""".splitlines()
OTHER_SECTION = """\
- **Machine**: one `v3` or `v2` host (`--device`) with 1 to 8 cores (`--devices`, default 8), two per chip. The memory
  of each core is that of the kind, or `--hbm`. Above the limit JAX receives `RESOURCE_EXHAUSTED`.
- **Transfers**: in both directions and between cores, for every NumPy type. Deletion, events and streams also work.
  Work on a stream has finished when the call returns.
- **Programs** on one core, and `pmap` without communication. jaxlib's own CPU client runs them, with the host's
  arithmetic. The compiler rejects collectives, partitioned programs, custom calls and callbacks with `UNIMPLEMENTED`.
- **Functions**: jaxlib 0.4.13 calls 70 of the 223. The others were for TensorFlow. They return `UNIMPLEMENTED` if they
  can, otherwise nothing. Structs, functions and argument decoders are generated from
  `native/abi/tpu_c_api_jaxlib_0.4.13.json`.
""".splitlines()
LOG_INTRODUCTION = """\
`docs/make_tpu_executor_allocate.py` writes this page from a recording of JAX 0.4.13 on one core of the mock TPU. It
lists all {calls} calls of {functions} functions of the API and of the mock's own allocator, up to the end of the
process. It omits addresses and empty fields of device descriptions. The line is the Python line that led to the call.
jaxlib's own threads have no Python line.
"""


def python_table(trace: Trace) -> Iterator[str]:
    """The Python frames, outermost first, and the points where the stack leaves Python."""
    yield "| frame | line |"
    yield "|---|---|"
    was_native = False
    for frame in visible_frames(trace):
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
        check_source_line(row, xla)
        here = f"[`{row.name}`]({row.url})" if row.url else f"`{row.name}`"
        gist = quote_name(row.step.gist)
        yield f"| {gist} | {here} | {call_line(row, xla)} | {row.step.does} |"


def quote_name(name: str) -> str:
    """The gist's name of a frame as code, followed by its remark as text."""
    code, space, remark = name.partition(" ")
    return f"`{code}`{space}{remark}" if name else "-"


def check_source_line(row: Row, xla: Path) -> None:
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
    yield "Both stacks, outermost frame first, without interpreter and glue frames."
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
    frames = visible_frames(trace)
    last_python = max(i for i, frame in enumerate(frames) if frame.function.language is Language.PYTHON)
    wanted = frames if language is Language.PYTHON else frames[last_python + 1 :]
    return [f"`{_name(frame)}`" for frame in wanted if frame.function.language is language]


def _name(frame: FrameRow) -> str:
    if frame.function.language is Language.NATIVE:
        return short_name(frame.function)
    file = PurePath(frame.function.module).name
    return f"{file} {frame.function.name}"


def visible_frames(trace: Trace) -> list[FrameRow]:
    """The frames of programs and libraries, outermost first."""
    return [frame for frame in trace.frames if frame.function.role is FrameRole.CODE]


def _latest_call(index: Index, function: str) -> Trace:
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
        yield f"| {number} | {thread} | {at} | {nested}`{call.function}{argument_text(call)}` |"


def argument_text(call: CallRow) -> str:
    """`(size=4, returned.size=4)`: the values of a call that are the same in every run."""
    shown = (
        f"{name}={_format_value(value)}" for name, value in call.arguments.items() if not _is_left_out(name, value)
    )
    return f"({', '.join(shown)})"


def _is_left_out(name: str, value: object) -> bool:
    if isinstance(value, list) and value and isinstance(value[0], str):
        return value[0].startswith("0x")
    if value in (None, "") or (isinstance(value, str) and value.startswith("0x")):
        return True
    return name.startswith("description.") and not value


def _format_value(value: object) -> str:
    return WORDS[value] if isinstance(value, bool) else str(value).replace("|", "\\|")


if __name__ == "__main__":
    main(*sys.argv[1:4])

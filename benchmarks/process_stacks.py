"""Right, wrong and missing frames in the stacks of processes and cores, of framedex, py-spy and pystack.

Each process of `programs/stack_states/` enters a state and prints its Python frames. gdb gives the addresses of its
native frames, and the symbol tables of the binaries give the functions there, and gdb their lines if a binary has debug
information. Python and native frames are judged apart.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from benchmarks.figures import Figure
from benchmarks.processes import FRAMEDEX, print_header, print_row
from benchmarks.stack_truth import (
    Judgement,
    NativeFrame,
    PythonFrame,
    ToolStack,
    judge_stacks,
    normalize_name,
    read_native_truth,
)

PROGRAMS = Path(__file__).parent / "programs" / "stack_states"
TIMEOUT_S = 180


@dataclass(frozen=True, slots=True)
class State:
    """A function of `states.py`. Its process ends with a core file if it `dumps_core`."""

    name: str
    needs: str = ""
    dumps_core: bool = False


STATES = (
    *(State(name) for name in ("loop", "generator", "coroutine", "recursion", "classes", "called_by_c")),
    *(State(name) for name in ("signal_handler", "locks", "gil_holder", "forked")),
    State("switched", needs="greenlet"),
    *(State(name, needs="jax") for name in ("compilation", "execution", "callback", "handler")),
    *(State(name, dumps_core=True) for name in ("segmentation_fault", "bus_error", "illegal_instruction")),
    *(State(name, dumps_core=True) for name in ("stack_overflow", "quit_of_fork", "quit_while_waiting")),
    *(State(name, needs="jax", dumps_core=True) for name in ("abort_in_callback", "division_in_handler")),
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python with the libraries of `handlers.cc` for its jaxlib; `jaxlib` is empty without jax."""

    path: str
    version: str
    jaxlib: str
    packages: frozenset[str]

    @property
    def name(self) -> str:
        """The versions, such as `3.13, jaxlib 0.12.0`."""
        return f"{self.version}, jaxlib {self.jaxlib}" if self.jaxlib else self.version


@dataclass(frozen=True, slots=True)
class Subject:
    """A process in its state, or its core file, and the Python frames that it printed, by thread id."""

    pid: int
    program: str
    core: Path | None
    python: Mapping[int, Sequence[PythonFrame]]

    @property
    def gdb_arguments(self) -> list[str]:
        """The arguments with which gdb reads it."""
        return ["-p", str(self.pid)] if self.core is None else [self.program, str(self.core)]


Reader = Callable[[Subject], dict[int, ToolStack]]


@dataclass(slots=True)
class Tool:
    """A tool and its total over all subjects."""

    name: str
    read: Reader
    python: Judgement = field(default_factory=Judgement)
    native: Judgement = field(default_factory=Judgement)


@click.command()
@click.argument("pythons", metavar="PYTHON...", nargs=-1, required=True)
@click.option("--only", "names", multiple=True, metavar="STATE", help="Measure this state; repeatable.")
@click.option("--show", is_flag=True, help="Print each wrong and each missing frame.")
def process_stacks(pythons: Sequence[str], names: Sequence[str], show: bool) -> list[Figure]:
    """Count right, wrong and missing frames of framedex, py-spy and pystack.

    Each PYTHON is an interpreter, with jax or not. Each of 23 states is measured in one of them. The benchmark installs
    py-spy and pystack into a temporary virtual environment. It needs gdb, g++, c++filt, and root or
    kernel.yama.ptrace_scope=0. /proc/sys/kernel/core_pattern must be `core`. A function is right if it has the right
    name, and file and line where they are known.
    """
    with tempfile.TemporaryDirectory() as named:
        folder = Path(named)
        tools = _install_tools(folder)
        interpreters = [_describe_interpreter(each) for each in pythons]
        library = _build_library(interpreters, folder)
        print_header(
            "state", "Python", "tool", "Python frames right", "wrong", "missing", "native right", "wrong", "missing"
        )
        for number, state in enumerate(STATES):
            suitable = [each for each in interpreters if state.needs in each.packages]
            if suitable and (not names or state.name in names):
                interpreter = suitable[number % len(suitable)]
                with _start_state(state, interpreter, library) as subject:
                    _judge_tools(tools, state, interpreter, subject, show=show)
    return _print_totals(tools)


def _judge_tools(
    tools: Sequence[Tool], state: State, interpreter: Interpreter, subject: Subject, *, show: bool
) -> None:
    """Read a subject with each tool, compare the stacks with the truth, and print a row for each tool."""
    with tempfile.TemporaryDirectory() as folder:
        before = read_native_truth(subject.gdb_arguments, Path(folder))
        stacks = [tool.read(subject) for tool in tools]
        after = before if subject.core is not None else read_native_truth(subject.gdb_arguments, Path(folder))
    native = {tid: stack.common_callers(after[tid]) for tid, stack in before.items() if tid in after}
    for tool, found in zip(tools, stacks, strict=True):
        python, natives = judge_stacks(found, subject.python, native)
        cells = [f"{each.right} | {each.wrong} | {each.missing}" for each in (python, natives)]
        print_row(state.name, interpreter.name, tool.name, *cells)
        for example in (*python.examples, *natives.examples) if show else ():
            print(f"    {example}")
        tool.python.add(python)
        tool.native.add(natives)


def _print_totals(tools: Sequence[Tool]) -> list[Figure]:
    figures = []
    for tool in tools:
        print_row(
            "all",
            "",
            tool.name,
            *(f"{each.right} | {each.wrong} | {each.missing}" for each in (tool.python, tool.native)),
        )
        for kind, judgement in (("Python", tool.python), ("native", tool.native)):
            figures += [
                Figure(f"right {kind} frames, {tool.name}", judgement.right),
                Figure(f"wrong {kind} frames, {tool.name}", judgement.wrong),
                Figure(f"missing {kind} frames, {tool.name}", judgement.missing),
            ]
    return figures


# --- processes and cores ----------------------------------------------------------------------------------------------


def _describe_interpreter(path: str) -> Interpreter:
    program = (
        "import importlib.metadata as m, json, sys\n"
        "packages = {each.metadata['Name'].lower(): each.version for each in m.distributions()}\n"
        "print(json.dumps(['%d.%d' % sys.version_info[:2], packages]))"
    )
    version, packages = json.loads(subprocess.run([path, "-c", program], check=True, capture_output=True).stdout)
    return Interpreter(path, version, packages.get("jaxlib", ""), frozenset({"", *packages}))


@contextmanager
def _start_state(state: State, interpreter: Interpreter, library: Path) -> Iterator[Subject]:
    """A process in a state, or its core file; the process is killed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        shell = 'ulimit -c unlimited && exec "$@"' if state.dumps_core else 'ulimit -c 0 && exec "$@"'
        command: list[str | Path] = [
            "bash",
            "-c",
            shell,
            "bash",
            interpreter.path,
            PROGRAMS / "states.py",
            state.name,
            library,
        ]
        environment = os.environ | {"JAX_PLATFORMS": "cpu"}
        with subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, start_new_session=True
        ) as process:
            try:
                assert process.stdout is not None
                truth = json.loads(process.stdout.readline())
                if state.dumps_core:
                    process.wait(TIMEOUT_S)
                core = next(Path(folder).glob("core*"), None)
                if state.dumps_core and core is None:
                    raise SystemExit(f"{state.name} left no core file. /proc/sys/kernel/core_pattern must be `core`.")
                python = {
                    int(tid): [PythonFrame(*frame) for frame in frames] for tid, frames in truth["frames"].items()
                }
                yield Subject(truth["pid"], str(Path(interpreter.path).resolve()), core, python)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def _build_library(interpreters: Sequence[Interpreter], folder: Path) -> Path:
    """The library of `handlers.cc`, built with the oldest FFI of the interpreters' jaxlibs."""
    oldest = min((each for each in interpreters if each.jaxlib), key=lambda each: _version_key(each.jaxlib))
    include = subprocess.run(
        [oldest.path, "-c", "import jax; print(jax.ffi.include_dir())"], check=True, capture_output=True, text=True
    ).stdout.strip()
    library = folder / "libhandlers.so"
    command = ["g++", "-std=c++17", "-g", "-O1", "-fno-optimize-sibling-calls", "-fPIC", "-shared"]
    subprocess.run([*command, "-isystem", include, PROGRAMS / "handlers.cc", "-o", library], check=True)
    return library


def _version_key(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


# --- tools ------------------------------------------------------------------------------------------------------------


def _install_tools(folder: Path) -> list[Tool]:
    environment = folder / "tools"
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    pip: list[str | Path] = [
        environment / "bin" / "pip",
        "--disable-pip-version-check",
        "install",
        "--quiet",
        "--only-binary",
        ":all:",
    ]
    subprocess.run([*pip, "py-spy", "pystack"], check=True)
    return [
        Tool("framedex", _read_with_framedex),
        Tool("py-spy", lambda subject: _read_with_py_spy(environment / "bin" / "py-spy", subject)),
        Tool("pystack", lambda subject: _read_with_pystack(environment / "bin" / "pystack", subject)),
    ]


def _run_tool(command: Sequence[str | Path]) -> str:
    """The output of a tool; empty if it fails, so that all frames are missing."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    if done.returncode:
        print(f"    {Path(command[0]).name} failed: {done.stderr.strip()[-200:]}")
    return done.stdout


def _read_with_framedex(subject: Subject) -> dict[int, ToolStack]:
    arguments = ["live", "--native", str(subject.pid)] if subject.core is None else ["core", str(subject.core)]
    document = json.loads(_run_tool([*FRAMEDEX, *arguments, "--json"]) or '{"threads": []}')
    stacks = {}
    for thread in document["threads"]:
        stack = thread["stack"] if subject.core is None else thread
        frames = [*stack["frames"], *stack["frames_apart"]] if stack else []
        python = [_python_frame(each["function"], each["file"], each["line"]) for each in frames if "file" in each]
        named = [each for each in frames if "file" not in each and each["function"]]
        native = [
            _native_frame(
                each["function"], *((each["place"]["path"], each["place"]["line"]) if each["place"] else ("", 0))
            )
            for each in named
        ]
        stacks[thread["tid"]] = ToolStack(python, native)
    return stacks


def _read_with_py_spy(py_spy: Path, subject: Subject) -> dict[int, ToolStack]:
    named = ["--core", str(subject.core)] if subject.core is not None else ["--native", "--pid", str(subject.pid)]
    threads = json.loads(_run_tool([py_spy, "dump", "--json", "--full-filenames", *named]) or "[]")
    return {thread["os_thread_id"]: _read_py_spy_thread(thread["frames"]) for thread in threads}


def _read_py_spy_thread(frames: Sequence[Mapping[str, Any]]) -> ToolStack:
    named = [each for each in frames if not each["name"].startswith("0x")]
    python = [_python_frame(each["name"], each["filename"], each["line"]) for each in named if each["module"] is None]
    native = [_native_frame(each["name"], each["filename"], each["line"]) for each in named if each["module"]]
    return ToolStack(python, native)


_PYSTACK_THREAD = re.compile(r"^Traceback for thread (\d+) ", re.MULTILINE)
_PYSTACK_FRAME = re.compile(r'^    \((Python|C)\) File "(.*)", line (\d+), in (.*)$', re.MULTILINE)


def _read_with_pystack(pystack: Path, subject: Subject) -> dict[int, ToolStack]:
    arguments = ["remote", str(subject.pid)] if subject.core is None else ["core", str(subject.core), subject.program]
    text = _run_tool([pystack, *arguments, "--native-all", "--no-color"])
    _, *parts = _PYSTACK_THREAD.split(text)
    return {int(tid): _read_pystack_thread(part) for tid, part in zip(parts[::2], parts[1::2], strict=True)}


def _read_pystack_thread(text: str) -> ToolStack:
    python, native = [], []
    for kind, file, line, name in reversed(_PYSTACK_FRAME.findall(text)):
        if kind == "Python":
            python.append(_python_frame(name, file, int(line)))
        elif not name.startswith("???"):
            native.append(_native_frame(re.sub(r"( \(inlined\))? \([^()]*\)$", "", name), file, int(line)))
    return ToolStack(python, native)


def _python_frame(name: str, file: str, line: int) -> PythonFrame:
    return PythonFrame(name.rpartition(".")[2], file, line)


def _native_frame(name: str, file: str, line: int) -> NativeFrame:
    return NativeFrame(frozenset({normalize_name(name)}), file, line)

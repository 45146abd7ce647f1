"""`framedex hang` names the cause of real hangs with its line, and never reports a slow program as a hang."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import jax
import pytest

from framedex.live.child_processes import _may_read_pipe as may_read_pipe
from framedex.live.child_processes import find_descendants
from framedex.live.model import Activity, GilRole, LiveThread, ProcessSnapshot
from framedex.live.snapshot import take_snapshot
from framedex.live.targets import Target
from framedex.live.waits import python_frames
from tests.indexer.live.programs import LiveProgram, started, started_process
from tests.once import made_once
from tests.running import PROGRAMS, TIMEOUT


def _count_mutex_waits(snapshot: ProcessSnapshot) -> int:
    return sum(thread.task is not None and thread.task.mutex_owner != 0 for thread in snapshot.threads)


def _has_child(holds: Callable[[LiveThread], bool]) -> Callable[[ProcessSnapshot], bool]:
    """Whether a condition holds for a thread of a child process."""

    def has_child(snapshot: ProcessSnapshot) -> bool:
        children = (take_snapshot(Target(pid, True, None)) for pid in find_descendants(snapshot.pid))
        return any(holds(thread) for child in children for thread in child.threads)

    return has_child


def _is_asleep_in(function: str) -> Callable[[LiveThread], bool]:
    """Whether a thread is asleep below a function of Python."""
    return lambda thread: (
        thread.task is not None
        and thread.task.activity is Activity.FUTEX
        and any(frame.function == function for frame in python_frames(thread))
    )


def _is_in_call(name: str) -> Callable[[LiveThread], bool]:
    """Whether a thread is in a system call."""
    return lambda thread: thread.task is not None and thread.task.call == name


def _calls_in_progress(snapshot: ProcessSnapshot) -> list[str]:
    return [call.function for call in snapshot.threads[0].open_calls]


CPU = {"JAX_PLATFORMS": "cpu"}


@dataclass(frozen=True)
class Case:
    """A program, the comments of the lines where its threads are, and parts of the answer in their order.

    `holds`: a further condition for a snapshot before the question.
    """

    program: str
    lines: tuple[str, ...]
    answer: tuple[str, ...]
    behaviour: str = ""
    handlers: tuple[str, ...] = ()
    holds: Callable[[ProcessSnapshot], bool] = lambda _: True

    def __str__(self) -> str:
        return "_".join((Path(self.program).stem, *self.handlers))


HANGS = (
    Case(
        "callback_needs_lock",
        ("callback blocks", "blocks"),
        (
            "Hang: Callback thread",
            "(report) waits for Lock",
            "that the main thread holds, in jax.pure_callback for",
            "and that thread depends on it in turn",
            "{callback blocks} in report",
            "with log:",
            "The main thread holds Lock",
            "and waits for JAX",
            "{blocks} in <module>",
        ),
    ),
    Case(
        "callback_blocks",
        ("callback blocks", "blocks"),
        (
            "Hang: Callback thread",
            "(host) waits in Event.wait",
            "{callback blocks} in host",
            "main thread waits for JAX",
            "{blocks} in <module>",
        ),
    ),
    Case(
        "lock_order",
        ("train blocks", "save blocks"),
        ("Hang: 2 threads wait for each other", "{train blocks} in train", "{save blocks} in save"),
    ),
    Case(
        "lock_twice",
        ("blocks",),
        ("Hang: The main thread waits for Lock", "that it holds itself", "{blocks} in lookup"),
    ),
    Case(
        "rlock_held",
        ("blocks", "main blocks"),
        (
            "Hang: Thread",
            "(worker) waits in Event.wait",
            "{blocks} in worker",
            "waits for RLock",
            "(worker) holds",
            "{main blocks} in <module>",
        ),
    ),
    Case(
        "queue_without_producer",
        ("blocks",),
        ("Hang: The main thread waits in Queue.get, and no other thread runs Python", "{blocks} in <module>"),
    ),
    Case(
        "queue_full",
        ("loader blocks", "blocks"),
        (
            "Hang: Thread",
            "(load) waits in Queue.put",
            "{loader blocks} in load",
            "The main thread waits in Thread.join",
            "{blocks} in <module>",
        ),
    ),
    Case(
        "barrier",
        ("blocks",),
        ("Hang: The main thread waits in Barrier.wait, and no other thread runs Python", "{blocks} in <module>"),
    ),
    Case("semaphore", ("blocks",), ("Hang: The main thread waits in Semaphore.acquire", "{blocks} in <module>")),
    *(
        Case(
            program,
            ("worker blocks", "blocks"),
            ("Hang: Thread", f"(save) waits in {call}", "{worker blocks} in save", waits, "{blocks} in <module>"),
        )
        for program, call, waits in (
            ("condition", "Condition.wait", "The main thread waits in Thread.join"),
            ("join_each_other", "Thread.join", "The main thread waits in Thread.join"),
            ("pool_shutdown", "Event.wait", "The main thread waits in ThreadPoolExecutor.shutdown"),
        )
    ),
    Case(
        "loader_starves",
        ("loader blocks", "blocks"),
        (
            "Hang: Thread",
            "(load) waits in Queue.get",
            "{loader blocks} in load",
            "The main thread waits in Queue.get",
            "{blocks} in <module>",
        ),
    ),
    Case(
        "effects_barrier",
        ("callback blocks", "blocks"),
        (
            "Hang: Callback thread",
            "(log) waits in Queue.put, in jax.experimental.io_callback for",
            "{callback blocks} in log",
            "main thread waits for JAX",
            "{blocks} in <module>",
        ),
    ),
    Case(
        "future",
        ("worker blocks", "blocks"),
        (
            "Hang: Thread",
            "(outer) waits in Future.result",
            "{worker blocks} in outer",
            "The main thread waits in Future.result",
            "{blocks} in <module>",
        ),
    ),
    Case(
        "jax_in_callback",
        ("callback blocks", "blocks"),
        (
            "Hang: Callback thread",
            "waits for JAX, in jax.pure_callback for",
            "JAX is called in a callback",
            "{callback blocks} in host",
            "{blocks} in <module>",
        ),
    ),
    Case(
        "process_pool",
        ("blocks",),
        (
            "Hang: Child process",
            "The main thread waits for Lock",
            "{child blocks} in work",
            "The main thread waits in Pool.map",
            "{blocks} in <module>",
        ),
        holds=_has_child(_is_asleep_in("work")),
    ),
    Case(
        "child_of_logger",
        ("blocks",),
        (
            "Hang: Child process",
            "waits in Logger.error",
            "{child blocks} in <module>",
            "The main thread waits for the end of process",
            "{blocks} in <module>",
        ),
        holds=_has_child(_is_asleep_in("Logger.error")),
    ),
    Case(
        "output_of_child",
        ("blocks",),
        (
            "Hang: The main thread waits for the end of process",
            "which waits until this process reads from a full pipe",
            "{blocks} in <module>",
        ),
        holds=_has_child(_is_in_call("write")),
    ),
    Case(
        "own_pipe",
        ("blocks",),
        ("Hang: The main thread waits for a pipe (write), and no other process reads it", "{blocks} in <module>"),
    ),
    Case(
        "future_in_callback",
        ("callback blocks", "worker blocks", "blocks"),
        (
            "Hang: Callback thread",
            "(host) waits in Future.result",
            "{callback blocks} in host",
            "(evaluate) waits for JAX",
            "{worker blocks} in evaluate",
            "The main thread waits in Future.result",
            "{blocks} in <module>",
        ),
    ),
    Case(
        "coroutine_in_callback",
        ("callback blocks", "blocks"),
        (
            "Hang: Callback thread",
            "waits in Future.result",
            "{callback blocks} in train.<locals>.host",
            "The main thread waits for JAX",
            "{blocks} in train",
        ),
    ),
    Case(
        "import_lock",
        ("worker blocks", "blocks"),
        (
            "Hang: Thread",
            "(load) waits for a module that another thread imports",
            "{worker blocks} in load",
            "The main thread waits in Thread.join",
            "{blocks} in Finder.find_spec",
        ),
    ),
    Case(
        "logging_lock",
        ("worker blocks", "blocks"),
        (
            "Hang: Thread",
            "(report) waits for RLock",
            "that the main thread holds",
            "{worker blocks} in report",
            "The main thread holds RLock",
            "{blocks} in Reporter.emit",
        ),
    ),
    Case(
        "finalizer",
        ("blocks",),
        ("Hang: The main thread waits for Lock", "that it holds itself", "{blocks} in Handle.__del__"),
    ),
    Case(
        "barrier_of_workers",
        ("worker blocks", "blocks"),
        (
            "Hang: Thread",
            "(work) waits in Barrier.wait, and all 2 others wait, too",
            "{worker blocks} in work",
            "The main thread waits in Thread.join",
            "{blocks} in <module>",
        ),
    ),
    *(
        Case(
            program,
            ("blocks",),
            (
                "Hang: The main thread waits for JAX: no call is in progress",
                "{blocks} in <module>",
                " was dispatched ",
                "{loses its event} in <module>",
            ),
            behaviour="lost_event_behaviour.py",
        )
        for program in ("lost_event", "donated_buffer")
    ),
    Case(
        "call_never_returns",
        ("blocks",),
        ("Hang: The main thread waits in Event.wait, in Behaviour::Run for", "call_never_returns_behaviour.py"),
        behaviour="call_never_returns_behaviour.py",
        holds=lambda snapshot: bool(snapshot.threads[0].open_calls) and snapshot.threads[0].waits_for is not None,
    ),
    Case(
        "handler",
        ("calls the handler",),
        (
            "Hang: The main thread waits for a mutex that it holds itself",
            "in LockTwice for",
            "{calls the handler} in call",
        ),
        handlers=("LockTwice",),
        holds=lambda snapshot: _count_mutex_waits(snapshot) == 1,
    ),
    Case(
        "handler",
        ("calls the handler",),
        (
            "Hang: 2 threads wait for each other",
            "waits for a mutex that",
            "in Lock",
            "{calls the handler} in call",
            "in Lock",
            "2 calls so far",
        ),
        handlers=("LockForward", "LockBackward"),
        holds=lambda snapshot: _count_mutex_waits(snapshot) == 2,
    ),
    Case(
        "handler",
        ("calls the handler",),
        (
            "Hang: The main thread computes, holding the GIL, in HoldGil for",
            "1 thread waits for the GIL",
            "{calls the handler} in call",
        ),
        handlers=("HoldGil", "counting"),
        holds=lambda snapshot: snapshot.threads[0].gil is GilRole.HOLDS and bool(snapshot.threads[0].open_calls),
    ),
)

SLOW = (
    Case("steps", ("step",), ("No hang: ", "calls in the last")),
    Case("pure_python", ("computes",), ("Busy: The main thread computes, holding the GIL", "{computes} in <module>")),
    Case("numpy_work", ("computes",), ("Busy: The main thread computes", "{computes} in <module>")),
    Case("sleeping", ("sleeps",), ("Waiting: The main thread sleeps, for", "s more", "{sleeps} in <module>")),
    Case(
        "slow_callback",
        ("callback sleeps", "waits"),
        (
            "Waiting: Callback thread",
            "(host) sleeps, for",
            "in jax.pure_callback for",
            "{callback sleeps} in host",
            "{waits} in <module>",
        ),
    ),
    Case(
        "slow_loader",
        ("loader sleeps", "waits"),
        (
            "Waiting: Thread",
            "(load) sleeps, for",
            "{loader sleeps} in load",
            "waits in Queue.get",
            "{waits} in <module>",
        ),
    ),
    Case(
        "slow_program", ("waits",), ("Busy: The main thread waits for JAX, and", "other thread", "{waits} in <module>")
    ),
    Case("polling", ("polls",), ("Waiting: The main thread waits with a timeout, for", "{polls} in <module>")),
    Case("pipe", ("blocks",), ("Waiting: The main thread waits for a pipe (read)", "{blocks} in <module>")),
    Case("thread_trains", ("step",), ("No hang: ", "calls in the last")),
    Case(
        "compiling",
        ("compiles",),
        ("Busy: The main thread", "in PJRT_Client_Compile for", "{compiles} in <module>"),
        holds=lambda snapshot: _calls_in_progress(snapshot) == ["PJRT_Client_Compile"],
    ),
    Case("socket_waits", ("blocks",), ("Waiting: The main thread waits for a socket", "{blocks} in <module>")),
    Case("select_waits", ("polls",), ("Waiting: The main thread waits for input (epoll_wait)", "{polls} in <module>")),
    Case("event_timeout", ("polls",), ("Waiting: The main thread waits with a timeout", "{polls} in <module>")),
    Case("retries", ("sleeps",), ("Waiting: The main thread sleeps", "{sleeps} in <module>")),
    Case(
        "pool_computes",
        ("worker computes", "waits"),
        ("Busy: Thread", "(tokenise) computes", "{worker computes} in tokenise", "waits in Future.result", "{waits}"),
    ),
    Case(
        "callback_computes",
        ("callback computes", "waits"),
        ("Busy: Callback thread", "in jax.pure_callback for", "{callback computes} in host", "{waits} in <module>"),
    ),
    Case(
        "lock_of_sleeper",
        ("worker sleeps", "waits"),
        ("Waiting: Thread", "(save) holds Lock", "sleeps", "{worker sleeps} in save", "waits for Lock", "{waits}"),
    ),
    # The thread that needs the GIL wakes every 5 ms, so either thread may be the root.
    Case("regular_expression", ("worker computes", "needs the GIL"), ("Busy: ",)),
    Case(
        "process_pool_computes",
        ("waits",),
        ("Busy: Child process", "computes", "{child computes} in work", "waits in Pool.map", "{waits} in <module>"),
        holds=_has_child(lambda thread: any(frame.function == "work" for frame in python_frames(thread))),
    ),
    Case(
        "child_computes",
        ("waits",),
        ("Busy: Child process", "The main thread computes", "The main thread waits for the end of process", "{waits}"),
    ),
    Case(
        "executor_computes",
        ("waits",),
        ("Busy: Child process", "computes", "{child computes} in work", "waits in Future.result", "{waits}"),
        holds=_has_child(lambda thread: any(frame.function == "work" for frame in python_frames(thread))),
    ),
    Case(
        "process_executor",
        ("waits",),
        ("Waiting: Child process", "The main thread sleeps, for", "waits in Future.result", "{waits} in <module>"),
        holds=_has_child(lambda thread: thread.task is not None and thread.task.activity is Activity.SLEEP),
    ),
    Case("process_lock", ("waits",), ("Waiting: The main thread waits for another process", "{waits} in <module>")),
    Case("fifo", ("blocks",), ("Waiting: The main thread waits for /", "/weights (open)", "{blocks} in <module>")),
    Case("signal_waits", ("blocks",), ("Waiting: The main thread waits for a signal (pause)", "{blocks}")),
    Case("loop_of_events", ("polls",), ("Waiting: The main thread waits for input (epoll_wait)", "{polls}")),
    Case(
        "checkpoint_writer",
        ("worker writes", "waits"),
        ("Thread", "(write)", "{worker writes} in write", "waits in Thread.join", "{waits} in <module>"),
    ),
    Case("child", ("blocks",), ("Waiting: The main thread waits for the end of process", "{blocks} in <module>")),
)


@pytest.fixture(scope="session")
def handlers() -> Path:
    """The library of handlers that hang."""
    return made_once("hanging_handlers", _build)


@pytest.mark.exhaustive(
    keep=[
        "callback_needs_lock",
        "process_pool",
        "output_of_child",
        "lock_order",
        "queue_full",
        "lost_event",
        "handler_LockTwice",
        "handler_HoldGil_counting",
    ]
)
@pytest.mark.parametrize("case", HANGS, ids=str)
def test_a_hang_is_named_with_its_cause_first(case: Case, tmp_path: Path, handlers: Path) -> None:
    options = ("--behaviour", str(PROGRAMS / "hangs" / case.behaviour)) if case.behaviour else ()
    arguments = (str(handlers), *case.handlers) if case.handlers else ()
    environment = CPU if case.handlers else {}
    program = f"hangs/{case.program}.py"
    with started(program, *arguments, folder=tmp_path, options=options, **environment) as running:
        running.wait_at(*case.lines, holds=case.holds)

        answer = running.ask("hang", "--patience", "0")

        _assert_in_order(answer, [part.format_map(_Places(running)) for part in case.answer])


@pytest.mark.exhaustive(
    keep=["steps", "pure_python", "slow_callback", "slow_program", "child", "process_pool_computes", "process_lock"]
)
@pytest.mark.parametrize("case", SLOW, ids=str)
def test_a_slow_program_is_no_hang(case: Case, tmp_path: Path) -> None:
    folder = "hangs" if (PROGRAMS / "hangs" / f"{case.program}.py").exists() else "slow"
    with started(f"{folder}/{case.program}.py", folder=tmp_path) as running:
        running.wait_at(*case.lines, holds=case.holds)

        answer = running.ask("hang", "--patience", "0")

        _assert_in_order(answer, [part.format_map(_Places(running)) for part in case.answer])
        assert "Hang" not in answer


def test_a_descriptor_that_closes_meanwhile_hides_no_reader_of_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    pipe = str(Path(f"/proc/self/fd/{reader}").readlink())
    monkeypatch.setattr(Path, "readlink", _fail_first(Path.readlink))
    monkeypatch.setattr(Path, "read_text", _fail_first(Path.read_text))
    extra = os.dup(reader)  # the first one whose flags are read

    assert may_read_pipe(os.getpid(), pipe)

    for each in (reader, writer, extra):
        os.close(each)


def test_a_thread_that_ends_meanwhile_hides_no_child_and_children_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    program = """\
import subprocess, sys, threading

def start():
    children = [subprocess.Popen(["sleep", "10000"], stdin=subprocess.PIPE) for _ in range(34)]
    print(flush=True)
    sys.stdin.read()
    for child in children:
        child.kill()

threading.Thread(target=start).start()
"""
    with started_process(sys.executable, "-c", program) as (process, _):
        assert process.stdin is not None
        monkeypatch.setattr(Path, "read_text", _fail_first(Path.read_text))  # of the main thread

        assert len(find_descendants(process.pid)) == 32

        process.stdin.close()
        process.wait(TIMEOUT)


def _fail_first(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose first call finds no file."""
    calls = count()

    def call(*arguments: Any, **options: Any) -> Any:
        if next(calls) == 0:
            raise FileNotFoundError
        return function(*arguments, **options)

    return call


class _Places(dict[str, str]):
    """The location of each commented line, by its comment."""

    def __init__(self, program: LiveProgram) -> None:
        self._program = program

    def __missing__(self, comment: str) -> str:
        return f"{self._program.file}:{self._program.line(comment)}"


def _assert_in_order(text: str, parts: Iterable[str]) -> None:
    rest = text
    for part in parts:
        assert part in rest, f"{part!r} is not in the rest of:\n{text}"
        rest = rest.partition(part)[2]


def _build(folder: Path) -> Path:
    library = folder / "libhanging.so"
    command = ["g++", "-std=c++17", "-O1", "-fPIC", "-shared", "-pthread", "-isystem", jax.ffi.include_dir()]
    subprocess.run([*command, str(PROGRAMS / "hangs" / "handlers.cc"), "-o", str(library)], check=True)
    return library

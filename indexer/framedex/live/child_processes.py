"""The part of child processes and pipes in the wait of a process.

A thread may wait for the end of a child, for an answer of a child, or until another process reads a full pipe. So a
process hangs if its child hangs, and it does not hang while its child works for it. It is busy while it waits and a
child computes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from framedex.live.diagnosis import Diagnosis, Step, Verdict
from framedex.live.model import ANOTHER_PROCESS, Activity, ProcessSnapshot, Task
from framedex.live.observation import observe
from framedex.live.targets import Target
from framedex.live.tasks import read_thread_ids
from framedex.live.waits import Wait, WaitKind

_MAX_CHILDREN = 32
_BETWEEN_S = 0.1  # time between the two snapshots of children
_NS_PER_S = 1_000_000_000
_FROM_RELATIVES = ("a pipe", ANOTHER_PROCESS)  # subjects of waits for a parent, child or sibling

ObservedProcess = tuple[Diagnosis, ProcessSnapshot]
"""A process with its diagnosis and its latest snapshot."""


def observe_with_children(targets: Sequence[Target], between_s: float, patience_s: float) -> list[ObservedProcess]:
    """The diagnoses of `observe`, corrected by child processes."""
    found = observe(targets, between_s, patience_s)
    return [(explain_with_children(*each, patience_s), each[1]) for each in found]


def explain_with_children(diagnosis: Diagnosis, snapshot: ProcessSnapshot, patience_s: float) -> Diagnosis:
    """The diagnosis of a process, corrected by the state of its child processes and of the pipe that it waits for."""
    root = diagnosis.root
    if root is None or diagnosis.verdict not in (Verdict.HANG, Verdict.WAITING):
        return diagnosis
    last_ns = diagnosis.last_record_ns
    if last_ns is not None and snapshot.time_ns - last_ns < patience_s * _NS_PER_S:
        return diagnosis
    if _is_unread_pipe(root, {snapshot.pid}) and _do_others_wait(root, snapshot):
        cause = _add_to_cause(diagnosis, ", and no other process reads it")
        return replace(diagnosis, verdict=Verdict.HANG, cause=cause)
    may_wait_for_child = _may_wait_for_child(diagnosis, snapshot)
    if diagnosis.verdict is Verdict.HANG and not may_wait_for_child:
        return diagnosis
    awaited = [Target(each, True, None) for each in _find_awaited_processes(root, snapshot.pid)]
    children = [each for each in observe(awaited, _BETWEEN_S, patience_s=0) if each[1].threads]
    if children and _subject(root) == f"process {children[0][1].pid}":
        blocked, pid = children[0][0].root, children[0][1].pid
        if blocked and _is_unread_pipe(blocked, {snapshot.pid, pid}) and _do_others_wait(root, snapshot):
            cause = _add_to_cause(diagnosis, ", which waits until this process reads from a full pipe")
            return replace(diagnosis, verdict=Verdict.HANG, cause=cause)
    working = [each for each in children if not _is_hung(each) and not _is_idle(each)]
    computing = next((each for each in working if each[0].verdict is Verdict.BUSY), None)
    if computing is not None:
        return _blame(diagnosis, computing, Verdict.BUSY)
    if not may_wait_for_child:
        return diagnosis
    hung = [each for each in children if _is_hung(each)]
    if not working:
        return _blame(diagnosis, hung[0], Verdict.HANG) if hung else diagnosis
    if diagnosis.verdict is Verdict.WAITING:
        return diagnosis
    verdict = working[0][0].verdict
    return _blame(diagnosis, working[0], Verdict.WAITING if verdict is Verdict.HANG else verdict)


def _is_hung(child: ObservedProcess) -> bool:
    """Whether a child hangs, and nothing outside wakes one of its threads."""
    diagnosis, snapshot = child
    return diagnosis.verdict is Verdict.HANG and not any(
        task.activity is Activity.SLEEP
        or (task.activity is Activity.INPUT and not task.subject.startswith(_FROM_RELATIVES))
        for task in _tasks(snapshot)
    )


def _is_idle(child: ObservedProcess) -> bool:
    """Whether a child waits for its relatives, as a worker without work does."""
    root = child[0].root
    return child[0].verdict is Verdict.WAITING and _subject(root).startswith(_FROM_RELATIVES)


def _do_others_wait(root: Wait, snapshot: ProcessSnapshot) -> bool:
    """Whether all other Python threads wait for a thread of the process, without a timeout."""
    others = (each for each in snapshot.threads if each.tid != root.thread.tid and each.python is not None)
    return all(
        each.task is not None and each.task.activity is Activity.FUTEX and each.task.until_ns is None for each in others
    )


def _tasks(snapshot: ProcessSnapshot) -> Iterator[Task]:
    return (thread.task for thread in snapshot.threads if thread.task is not None)


def _blame(diagnosis: Diagnosis, child: ObservedProcess, verdict: Verdict) -> Diagnosis:
    """The diagnosis with a child process as the cause."""
    found, snapshot = child
    cause = Step(f"Child process {snapshot.pid}: {found.cause.text}", found.cause.line)
    return replace(diagnosis, verdict=verdict, cause=cause, steps=(*found.steps, diagnosis.cause, *diagnosis.steps))


def _add_to_cause(diagnosis: Diagnosis, text: str) -> Step:
    return replace(diagnosis.cause, text=f"{diagnosis.cause.text.removesuffix('.')}{text}.")


def _may_wait_for_child(diagnosis: Diagnosis, snapshot: ProcessSnapshot) -> bool:
    """Whether a child process may end the wait of the root, or wake a thread that would."""
    root = diagnosis.root
    if root is None or root.kind is WaitKind.INPUT:
        return _subject(root).startswith(("process ", "a child process", *_FROM_RELATIVES))
    others = (each for each in snapshot.threads if each.tid != root.thread.tid and each.python is not None)
    return root.kind is WaitKind.PYTHON and any(
        each.task is not None and each.task.activity is Activity.INPUT for each in others
    )


def _subject(wait: Wait | None) -> str:
    return wait.thread.task.subject if wait is not None and wait.thread.task is not None else ""


def _find_awaited_processes(root: Wait, pid: int) -> list[int]:
    """The child that the root waits for, with its descendants; all descendants if the root names no child."""
    named = next((each for each in _read_children(pid) if _subject(root) == f"process {each}"), None)
    return find_descendants(pid) if named is None else [named, *find_descendants(named)][:_MAX_CHILDREN]


def find_descendants(pid: int) -> list[int]:
    """The child processes of a process, and their own, at most `_MAX_CHILDREN`."""
    found: list[int] = []
    left = [pid]
    while left and len(found) < _MAX_CHILDREN:
        children = list(_read_children(left.pop()))
        found += children
        left += children
    return found[:_MAX_CHILDREN]


def _read_children(pid: int) -> Iterator[int]:
    for tid in read_thread_ids(pid):
        with suppress(OSError):  # the thread has ended
            yield from map(int, Path(f"/proc/{pid}/task/{tid}/children").read_text().split())


def _is_unread_pipe(wait: Wait, users: set[int]) -> bool:
    """Whether a thread writes to a full pipe that only these processes have, and that one of them could read."""
    task = wait.thread.task
    if task is None or not task.call.startswith("write") or not task.pipe:
        return False
    return _find_pipe_users(task.pipe) <= users and any(_may_read_pipe(each, task.pipe) for each in users)


def _find_pipe_users(pipe: str) -> set[int]:
    """The ids of the processes that have a pipe, such as `pipe:[17]`, as far as they are readable."""
    pids = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal()]
    return {pid for pid in pids if any(_find_descriptors(pid, pipe))}


def _may_read_pipe(pid: int, pipe: str) -> bool:
    """Whether a process has the end of a pipe that is read."""
    for number in _find_descriptors(pid, pipe):
        with suppress(OSError):  # the descriptor was closed
            flags = re.search(r"^flags:\s*([0-7]+)$", Path(f"/proc/{pid}/fdinfo/{number}").read_text(), re.MULTILINE)
            if flags is not None and int(flags[1], 8) & os.O_ACCMODE == os.O_RDONLY:
                return True
    return False


def _find_descriptors(pid: int, file: str) -> Iterator[str]:
    """The descriptors of a process for a file, such as `pipe:[17]`."""
    with suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):  # it was closed
                if str(descriptor.readlink()) == file:
                    yield descriptor.name

"""Diagnose a hang from two snapshots of a process: the chain of waits from its main thread to the cause."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from framedex.base import words
from framedex.live.model import GilRole, LiveFrame, ProcessSnapshot, ProcessState
from framedex.live.waits import Wait, WaitKind, call_frames, find_innermost_line, find_supporting_threads, find_waits

_NS_PER_S = 1_000_000_000


class Verdict(StrEnum):
    """The verdict on a process: it hangs, or another state."""

    HANG = "hang"
    BUSY = "busy"  # it computes; framedex cannot tell whether the computation ends
    WAITING = "waiting"  # a timed wait, for input, or too short to be a hang
    PROGRESS = "progress"
    STOPPED = "stopped"
    ENDED = "ended"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Step:
    """A sentence about one thread, and the line that the thread executes."""

    text: str
    line: LiveFrame | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The verdict with its cause, then the other threads from the cause to the main thread.

    `calls` is the number of calls that began in the `seconds` between the two snapshots; None without a capture.
    `last_record_ns` is the time of the last call or return on CLOCK_MONOTONIC, None if there is none. Both are about
    the main thread, and threads that may end its wait.
    """

    verdict: Verdict
    cause: Step
    steps: tuple[Step, ...]
    calls: int | None
    seconds: float
    last_record_ns: int | None = None


def diagnose(before: ProcessSnapshot, after: ProcessSnapshot, patience_s: float) -> Diagnosis:
    """Compare two snapshots of a process.

    Threads that all wait are a hang after `patience_s` seconds without a call, because a device or another process may
    still wake them. So is a call that keeps other threads from the GIL. Locks in a cycle are a hang at once.
    """
    seconds = (after.time_ns - before.time_ns) / _NS_PER_S
    judge = _HangJudge(before, after, patience_s)
    verdict, cause, steps = judge.judge(seconds)
    calls = None if after.calls is None else judge.new_calls
    return Diagnosis(verdict, cause, tuple(steps), calls, seconds, judge.last_record_ns)


Judgement = tuple[Verdict, Step, Sequence[Step]]


class _HangJudge:
    def __init__(self, before: ProcessSnapshot, after: ProcessSnapshot, patience_s: float) -> None:
        self._snapshot, self._patience_ns = after, patience_s * _NS_PER_S
        self._waits: Mapping[int, Wait] = find_waits(before, after)
        supporting = find_supporting_threads(self._waits, after.threads[0].tid) if after.threads else set()
        self._supporting = [each for each in after.threads if each.tid in supporting]
        calls_before = {each.tid: each.calls or 0 for each in before.threads}
        self.new_calls = sum((each.calls or 0) - calls_before.get(each.tid, 0) for each in self._supporting)
        records = [each.last_record_ns for each in self._supporting if each.last_record_ns is not None]
        self.last_record_ns = max(records, default=None)

    def judge(self, seconds: float) -> Judgement:
        snapshot = self._snapshot
        if snapshot.state is ProcessState.ENDED:
            return (
                Verdict.ENDED,
                Step(f"The process {snapshot.end or 'has ended'}."),
                list(self._unreturned_call_steps()),
            )
        if snapshot.state in (ProcessState.STOPPED, ProcessState.TRACED):
            by = "a debugger" if snapshot.state is ProcessState.TRACED else "a signal"
            stopped = f"The process is stopped by {by}. To continue it: kill -CONT {snapshot.pid}"
            return Verdict.STOPPED, Step(stopped), list(self._current_line_steps())
        if not snapshot.threads:
            return Verdict.UNKNOWN, Step("Nothing is recorded yet."), ()
        if cycle := self._find_cycle():
            return self._judge_cycle(cycle)
        chain = self._wait_chain(snapshot.threads[0].tid)
        if self.new_calls:
            progress = f"{words.count(self.new_calls, 'call')} in the last {seconds:.1f} s."
            return Verdict.PROGRESS, Step(progress), [self._step(wait) for wait in reversed(chain)]
        *dependents, root = chain
        verdict, text = self._judge_root(root)
        steps = [*self._dispatch_steps(root), *(self._step(wait) for wait in reversed(dependents))]
        return verdict, Step(text, root.line), steps

    def _dispatch_steps(self, wait: Wait) -> Iterator[Step]:
        """Yield the line that dispatched the work on which a thread waits in JAX.

        This line registered a callback for the same event. If no line did, the plug-in gives each caller a new event:
        then the line is the one with the oldest event that has not fired.
        """
        if wait.kind is not WaitKind.NATIVE or (event := wait.event) is None:
            return
        calls = sorted(
            (call for each in self._waits.values() for call in each.thread.pending), key=lambda call: call.since_ns
        )
        lines = [
            (call, line) for call in calls if (line := find_innermost_line(call_frames(call))) not in (None, wait.line)
        ]
        same = [(call, line) for call, line in lines if call.object == event]
        for first, line in (same or lines)[:1]:
            age = words.format_duration(max(self._snapshot.time_ns - first.since_ns, 0))
            which = "event that it waits for" if same else "oldest event that has not fired"
            yield Step(f"The {which} was dispatched {age} ago", line)

    def _unreturned_call_steps(self) -> Iterator[Step]:
        for wait in self._waits.values():
            if wait.thread.open_calls:
                signal = f": {wait.thread.signal} on its thread" if wait.thread.signal else ""
                yield Step(f"{wait.thread.open_calls[-1].function} never returned{signal}", wait.line)

    def _current_line_steps(self) -> Iterator[Step]:
        for wait in self._waits.values():
            if wait.line is not None:
                yield Step(f"{_format_thread_capitalized(wait)} is here{self._format_open_call(wait)}", wait.line)

    def _find_cycle(self) -> Sequence[Wait]:
        """The threads that wait for each other's locks, each for the next one; empty if there is no such cycle."""
        for wait in self._waits.values():
            chain: list[Wait] = []
            following: Wait | None = wait
            while following is not None and following not in chain:
                chain.append(following)
                is_held = following.kind in (WaitKind.LOCK, WaitKind.MUTEX, WaitKind.GIL)
                following = self._waits.get(following.holder or 0) if is_held else None
            if following is not None:
                return chain[chain.index(following) :]
        return ()

    def _wait_chain(self, start: int) -> list[Wait]:
        """The waits from a thread to the root: each wait depends on the next one."""
        chain = [self._waits[start]]
        while (following := self._next_wait(chain)) is not None:
            chain.append(following)
        return chain

    def _next_wait(self, chain: Sequence[Wait]) -> Wait | None:
        """The wait on which the last wait of the chain depends; None if the last one is the root."""
        wait = chain[-1]
        if wait.kind in (WaitKind.LOCK, WaitKind.MUTEX, WaitKind.GIL) and wait.holder is not None:
            holder = self._waits.get(wait.holder)
            return holder if holder not in chain else None
        others = [each for each in self._waits.values() if each not in chain]
        if wait.kind is WaitKind.NATIVE or (wait.kind is WaitKind.UNKNOWN and not wait.thread.open_calls):
            called_back = [each for each in others if each.is_in_callback]
            in_calls = [each for each in others if each.thread.open_calls]
            return next(iter(sorted(called_back, key=_wait_rank) or sorted(in_calls, key=_wait_rank)), None)
        if wait.is_for_python:
            users = [each for each in others if each.line is not None and each.line.is_user_code]
            return min(users, key=_wait_rank, default=None)
        return None

    def _judge_cycle(self, cycle: Sequence[Wait]) -> Judgement:
        if len(cycle) == 1:
            return Verdict.HANG, self._step(cycle[0], "."), ()
        text = f"{words.count(len(cycle), 'thread')} wait for each other: each holds what the next one waits for."
        return Verdict.HANG, Step(text), [self._step(wait) for wait in cycle]

    def _judge_root(self, root: Wait) -> tuple[Verdict, str]:
        """The verdict on the thread on which all others depend, and a sentence about it."""
        text = self._step(root).text
        if waiters := sum(wait.kind is WaitKind.GIL and wait is not root for wait in self._waits.values()):
            text += f", and {words.count(waiters, 'thread')} {'waits' if waiters == 1 else 'wait'} for the GIL"
        match root.kind:
            case WaitKind.RUNNING:
                is_stuck = bool(waiters) and self._open_call_age_ns(root) >= self._patience_ns
                return Verdict.HANG if is_stuck else Verdict.BUSY, f"{text}."
            case WaitKind.GIL:
                return Verdict.BUSY, f"{text}, which another thread has just held."
            case WaitKind.TIMED | WaitKind.INPUT:
                return Verdict.WAITING, f"{text}."
            case WaitKind.UNKNOWN | WaitKind.STOPPED:
                return Verdict.UNKNOWN, f"{text}."
        return self._judge_blocked(root, text)

    def _judge_blocked(self, root: Wait, text: str) -> tuple[Verdict, str]:
        """The verdict on a thread that waits until another one wakes it."""
        if running := sum(wait.kind is WaitKind.RUNNING for wait in self._waits.values()):
            return (
                Verdict.BUSY,
                f"{text}, and {words.count(running, 'other thread')} of the process {_format_compute(running)}.",
            )
        last = self.last_record_ns
        silent_ns = None if last is None else max(self._snapshot.time_ns - last, 0)
        silent = "" if silent_ns is None else f" The last call was {words.format_duration(silent_ns)} ago."
        is_hang = silent_ns is None or silent_ns >= self._patience_ns
        return Verdict.HANG if is_hang else Verdict.WAITING, f"{text}{self._explain_block(root)}.{silent}"

    def _explain_block(self, root: Wait) -> str:
        if root.holder in self._waits:
            return ", and that thread depends on it in turn"
        if root.is_for_python:
            others = sum(wait is not root and wait.line is not None for wait in self._waits.values())
            if not others:
                return ", and no other thread runs Python"
            return ", and the other Python thread waits, too" if others == 1 else f", and all {others} others wait, too"
        if root.is_in_callback and root.is_for_jax:
            return ": JAX is called in a callback, and may need the result of that callback"
        if root.thread.open_calls:
            return ", and no thread of the process computes"
        why = ". An event has not fired, or a device still computes" if root.is_for_jax else ""
        return f": no call is in progress and no thread computes{why}"

    def _step(self, wait: Wait, end: str = "") -> Step:
        return Step(f"{_format_thread_capitalized(wait)} {self._format_state(wait)}{end}", wait.line)

    def _format_state(self, wait: Wait) -> str:
        call = self._format_open_call(wait)
        held = self._format_held_locks(wait)
        match wait.kind:
            case WaitKind.RUNNING:
                gil = ", holding the GIL" if wait.thread.gil is GilRole.HOLDS else ""
                return f"{held}computes{gil}{call}"
            case WaitKind.TIMED:
                return f"{held}{self._format_timed_wait(wait)}{call}"
            case WaitKind.INPUT:
                return f"{held}waits for {_format_input_wait(wait)}{call}"
            case WaitKind.PYTHON:
                return f"{held}waits {_format_python_wait(wait)}{call}"
            case WaitKind.LOCK | WaitKind.MUTEX | WaitKind.GIL:
                return f"{held}waits for {_format_lock(wait)}{self._format_holder(wait)}{call}"
            case WaitKind.NATIVE:
                what = "for JAX" if wait.is_for_jax else "in native code"
                return f"{held}waits {what}{call}"
            case WaitKind.STOPPED:
                return "is stopped"
        return f"is{call.removeprefix(',')}" if call else "has an unknown state"

    def _format_held_locks(self, wait: Wait) -> str:
        """The locks that a thread holds and others wait for."""
        wanted = {each.thread.waits_for for each in self._waits.values() if each is not wait}
        held = wait.thread.python.held if wait.thread.python is not None else ()
        names = dict.fromkeys(lock.name for lock in held if lock in wanted)
        return f"holds {' and '.join(names)} and " if names else ""

    def _format_holder(self, wait: Wait) -> str:
        if wait.holder is None:
            return " of an unknown thread" if wait.kind is WaitKind.LOCK else ""
        if wait.holder == wait.thread.tid:
            return " that it holds itself"
        holder = self._waits.get(wait.holder)
        return f" that {_format_thread(holder) if holder else f'thread {wait.holder}'} holds"

    def _format_open_call(self, wait: Wait) -> str:
        return f", in {self._format_innermost_call(wait)}" if wait.thread.open_calls else ""

    def _format_innermost_call(self, wait: Wait) -> str:
        call = wait.thread.open_calls[-1]
        return f"{call.function} for {words.format_duration(max(self._snapshot.time_ns - call.since_ns, 0))}"

    def _open_call_age_ns(self, wait: Wait) -> int:
        """The time since the innermost call in progress began, in ns; -1 without a call in progress."""
        calls = wait.thread.open_calls
        return self._snapshot.time_ns - calls[-1].since_ns if calls else -1

    def _format_timed_wait(self, wait: Wait) -> str:
        task = wait.thread.task
        verb = "sleeps" if task is not None and not task.futex else "waits with a timeout"
        if task is None or task.until_ns is None or task.until_ns <= self._snapshot.time_ns:
            return verb
        return f"{verb}, for {words.format_duration(task.until_ns - self._snapshot.time_ns)} more"


_RANKS = (
    WaitKind.RUNNING,
    WaitKind.GIL,
    WaitKind.TIMED,
    WaitKind.INPUT,
    WaitKind.NATIVE,
    WaitKind.MUTEX,
    WaitKind.LOCK,
)


def _wait_rank(wait: Wait) -> int:
    """Sort key for threads that could end another thread's wait: threads that may continue come first."""
    return _RANKS.index(wait.kind) if wait.kind in _RANKS else len(_RANKS)


def _format_thread(wait: Wait) -> str:
    if wait.thread.is_main:
        return "the main thread"
    kind = "callback thread" if wait.is_in_callback else "thread"
    frames = wait.thread.python.frames if wait.thread.python is not None else ()
    started = next((frame for frame in reversed(frames) if frame.is_user_code), None)
    return f"{kind} {wait.thread.tid}{f' ({started.function})' if started else ''}"


def _format_thread_capitalized(wait: Wait) -> str:
    text = _format_thread(wait)
    return text[0].upper() + text[1:]


def _format_compute(count: int) -> str:
    return "computes" if count == 1 else "compute"


def _format_lock(wait: Wait) -> str:
    if wait.kind is WaitKind.GIL:
        return "the GIL"
    lock = wait.thread.waits_for
    return lock.name if lock is not None and wait.kind is WaitKind.LOCK else "a mutex"


def _format_python_wait(wait: Wait) -> str:
    if wait.kind is WaitKind.LOCK:
        return f"for {_format_lock(wait)}"
    return f"in {wait.called_function}" if wait.called_function else "in Python's standard library"


def _format_input_wait(wait: Wait) -> str:
    task = wait.thread.task
    if task is None or not (task.call or task.subject):
        return "input"
    if task.subject.startswith(("process", "a child")):
        return f"the end of {task.subject}"
    return f"{task.subject} ({task.call})" if task.subject else f"input ({task.call})"

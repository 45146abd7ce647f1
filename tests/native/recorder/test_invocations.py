"""The runtime's invocations of callbacks are recorded, and callbacks that were not invoked are known from outside."""

from __future__ import annotations

from pathlib import Path

from framedex.captures import read_capture
from framedex.captures.open_calls import ThreadCalls, read_invocations, read_open_calls
from tests.native.conversing import conversation
from tests.native.recorded import recorded
from tests.reading import calls_of

ON_READY = "PJRT_Event_OnReady"
CANCELLED = 1
MAIN_THREAD, SETTING_THREAD = 0, 1  # by their first calls


def main_thread(capture: Path) -> ThreadCalls:
    """The calls in progress of the thread that made the first call."""
    return read_open_calls(capture)[MAIN_THREAD]


def test_a_callback_is_pending_until_the_runtime_invokes_it(tmp_path: Path) -> None:
    with conversation("event_callbacks.py", folder=tmp_path) as program:
        _, event = program.listen()
        (pending,) = main_thread(program.capture).pending
        assert (pending.function, pending.object) == (ON_READY, int(event))
        assert "event_callbacks.py" in [Path(frame.file).name for frame in pending.frames]
        assert read_invocations(program.capture) == []
        program.answer()
        _, thread = program.listen()
        assert main_thread(program.capture).pending == ()
        (invocation,) = read_invocations(program.capture)
        assert invocation.thread == SETTING_THREAD
        assert read_open_calls(program.capture)[SETTING_THREAD].thread_id == int(thread)
        assert (invocation.registered_thread, invocation.registered_sequence) == (MAIN_THREAD, pending.sequence)
        assert invocation.error == CANCELLED
        began = read_capture(program.capture).metadata.started_clock_ns or 0
        (setting,) = calls_of(program.capture, "PJRT_Event_Set")
        start = began + setting.start
        assert pending.since_ns < start - 1_000 < invocation.time_ns < start + setting.duration + 1_000


def test_an_event_that_never_fires_is_pending_after_a_kill(tmp_path: Path) -> None:
    with conversation("event_callbacks.py", folder=tmp_path) as program:
        program.listen()
        running = main_thread(program.capture).pending
        program.kill()
        assert main_thread(program.capture).pending == running
        assert len(running) == 1
        assert read_invocations(program.capture) == []


def test_a_result_that_a_host_callback_holds_up_is_pending(tmp_path: Path) -> None:
    with conversation("on_request.py", folder=tmp_path) as program:
        program.answer("wait")
        assert program.listen() == ["waiting"]
        pending = main_thread(program.capture).pending
        assert pending
        assert {"wait"} <= {frame.name for frame in pending[-1].frames}
        program.answer()
        assert program.listen() == ["done"]
        assert main_thread(program.capture).pending == ()


def test_each_callback_of_a_program_that_ended_was_invoked_once() -> None:
    capture = recorded("threads.py").capture
    invocations = read_invocations(capture)
    registrations = {(each.registered_thread, each.registered_sequence) for each in invocations}
    assert len(registrations) == len(invocations) == len(calls_of(capture, ON_READY))
    assert {each.error for each in invocations} == {0}
    assert all(thread.pending == () for thread in read_open_calls(capture))

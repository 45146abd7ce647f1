"""Events: readiness, errors, callbacks, and events of the caller."""

import queue
import threading

from framedex.plugins.conformance import programs
from framedex.plugins.conformance.client import Client, expect, expect_equal, expect_error, pack_floats
from framedex.plugins.conformance.model import check
from framedex.plugins.conformance.plugin import BrokenRuleError, PluginError

_CALLBACK_LIMIT_S = 20.0


def _ready_event(client: Client) -> int:
    buffer = client.floats(1.0)
    client.wait_ready(buffer)
    event: int = client.call("PJRT_Buffer_ReadyEvent", buffer=buffer).event
    return event


def _pending(client: Client) -> tuple[int, int]:
    """The completion event and the result of a program that runs for a while."""
    loaded = client.compile(programs.build_loop_program(60))
    execution = client.start(loaded, [[client.put(pack_floats(1.0) * 65536, dims=[256, 256])]])
    return execution.events[0], execution.results[0][0]


def _next_error(called: queue.Queue[PluginError | None]) -> PluginError | None:
    """The error of the next call of a callback."""
    try:
        return called.get(timeout=_CALLBACK_LIMIT_S)
    except queue.Empty:
        raise BrokenRuleError("The callback was not called.") from None


@check("PJRT_Event_Await", "PJRT_Event_Destroy")
def await_ready(client: Client) -> None:
    """PJRT_Event_Await returns at once for a ready event, and can be called twice."""
    event = _ready_event(client)
    client.call("PJRT_Event_Await", event=event)
    client.call("PJRT_Event_Await", event=event)
    client.call("PJRT_Event_Destroy", event=event)


@check("PJRT_Event_IsReady")
def is_ready_after_await(client: Client) -> None:
    """An event is ready after PJRT_Event_Await."""
    event = _ready_event(client)
    client.call("PJRT_Event_Await", event=event)
    expect(client.call("PJRT_Event_IsReady", event=event).is_ready, "is_ready is false.")


@check("PJRT_Event_Error")
def error_of_ready(client: Client) -> None:
    """PJRT_Event_Error returns no error for a successful event."""
    event = _ready_event(client)
    client.call("PJRT_Event_Await", event=event)
    client.call("PJRT_Event_Error", event=event)


@check("PJRT_Event_OnReady")
def callback_of_ready(client: Client) -> None:
    """PJRT_Event_OnReady runs the callback once for an event that is already ready."""
    event = _ready_event(client)
    client.call("PJRT_Event_Await", event=event)
    called: queue.Queue[PluginError | None] = queue.Queue()
    client.on_ready(event, called.put)
    expect_equal(_next_error(called), None, "The error of the callback")
    expect(called.empty(), "The callback was called twice.")


@check("PJRT_Event_OnReady", "PJRT_LoadedExecutable_Execute")
def callback_of_pending(client: Client) -> None:
    """PJRT_Event_OnReady runs the callback when a pending event becomes ready."""
    event, _ = _pending(client)
    done = threading.Event()
    client.on_ready(event, lambda error: done.set())
    expect(done.wait(_CALLBACK_LIMIT_S), "The callback was not called.")
    expect(client.call("PJRT_Event_IsReady", event=event).is_ready, "The event is not ready after its callback.")


@check("PJRT_Event_OnReady")
def several_callbacks(client: Client) -> None:
    """Each of several callbacks of an event is called once."""
    event, _ = _pending(client)
    queues: list[queue.Queue[PluginError | None]] = [queue.Queue() for _ in range(5)]
    for called in queues:
        client.on_ready(event, called.put)
    for called in queues:
        _next_error(called)
        expect(called.empty(), "A callback was called twice.")


@check("PJRT_Event_OnReady", "PJRT_Event_Destroy")
def destroy_before_callback(client: Client) -> None:
    """An event can be destroyed before it is ready, and its callback still runs."""
    event, _ = _pending(client)
    done = threading.Event()
    client.on_ready(event, lambda error: done.set())
    client.call("PJRT_Event_Destroy", event=event)
    expect(done.wait(_CALLBACK_LIMIT_S), "The callback was not called.")


@check("PJRT_Event_Await", "PJRT_LoadedExecutable_Execute")
def await_pending(client: Client) -> None:
    """PJRT_Event_Await waits for a pending event."""
    event, result = _pending(client)
    client.call("PJRT_Event_Await", event=event)
    expect(client.call("PJRT_Event_IsReady", event=event).is_ready, "is_ready is false.")
    client.wait_ready(result)


@check("PJRT_Event_Await")
def await_in_threads(client: Client) -> None:
    """Several threads can wait for the same event."""
    event, _ = _pending(client)
    failures: list[Exception] = []

    def wait() -> None:
        try:
            client.call("PJRT_Event_Await", event=event)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=wait) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(not failures, f"A thread failed: {failures[:1]}.")


@check("PJRT_Event_Create", "PJRT_Event_Destroy")
def create(client: Client) -> None:
    """An event of the caller is not ready at first."""
    event = client.call("PJRT_Event_Create").event
    expect(not client.call("PJRT_Event_IsReady", event=event).is_ready, "A new event is ready.")
    client.call("PJRT_Event_Set", event=event, error_code=0, error_message=None, error_message_size=0)
    client.call("PJRT_Event_Destroy", event=event)


@check("PJRT_Event_Create", "PJRT_Event_Set")
def set_ready(client: Client) -> None:
    """PJRT_Event_Set without an error makes an event ready."""
    event = client.call("PJRT_Event_Create").event
    client.call("PJRT_Event_Set", event=event, error_code=0, error_message=None, error_message_size=0)
    expect(client.call("PJRT_Event_IsReady", event=event).is_ready, "is_ready is false.")
    client.wait(event)


@check("PJRT_Event_Create", "PJRT_Event_Set", "PJRT_Event_Error")
def set_error(client: Client) -> None:
    """PJRT_Event_Set with an error gives the event its code and message."""
    event = client.call("PJRT_Event_Create").event
    client.call("PJRT_Event_Set", event=event, error_code=5, error_message=b"on purpose", error_message_size=10)
    expect_error(lambda: client.call("PJRT_Event_Await", event=event), "NOT_FOUND")
    try:
        client.call("PJRT_Event_Error", event=event)
    except PluginError as error:
        expect_equal((error.code, "on purpose" in error.message), ("NOT_FOUND", True), "The error")
        return
    expect(False, "PJRT_Event_Error returned OK for an event with an error.")


@check("PJRT_Event_Create", "PJRT_Event_Set", "PJRT_Event_OnReady")
def callback_with_error(client: Client) -> None:
    """A callback gets the error of its event."""
    event = client.call("PJRT_Event_Create").event
    called: queue.Queue[PluginError | None] = queue.Queue()
    client.on_ready(event, called.put)
    expect(called.empty(), "The callback was called before the event was set.")
    client.call("PJRT_Event_Set", event=event, error_code=5, error_message=b"on purpose", error_message_size=10)
    error = _next_error(called)
    expect(error is not None and error.code == "NOT_FOUND", f"The callback's error is {error}.")


@check("PJRT_Event_Create", "PJRT_Event_Set", "PJRT_Event_Await")
def set_while_awaited(client: Client) -> None:
    """PJRT_Event_Set wakes a thread in PJRT_Event_Await."""
    event = client.call("PJRT_Event_Create").event
    waiter = threading.Thread(target=lambda: client.call("PJRT_Event_Await", event=event))
    waiter.start()
    client.call("PJRT_Event_Set", event=event, error_code=0, error_message=None, error_message_size=0)
    waiter.join(_CALLBACK_LIMIT_S)
    expect(not waiter.is_alive(), "The thread still waits.")


@check("PJRT_Event_Destroy")
def destroy_pending(client: Client) -> None:
    """A pending event can be destroyed without a wait."""
    event, result = _pending(client)
    client.call("PJRT_Event_Destroy", event=event)
    client.wait_ready(result)

"""Calls from several threads at once."""

import threading
from collections.abc import Callable

from framedex.plugins.conformance import programs
from framedex.plugins.conformance.client import Client, expect, expect_equal
from framedex.plugins.conformance.model import Stage, check
from framedex.plugins.conformance.plugin import PluginError

_THREADS = 4


def _in_threads(work: Callable[[int], object]) -> None:
    """Run `work` in several threads, and raise the first failure."""
    failures: list[Exception] = []
    start = threading.Barrier(_THREADS)

    def run(number: int) -> None:
        try:
            start.wait()
            work(number)
        except Exception as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@check("PJRT_Client_BufferFromHostBuffer", "PJRT_Buffer_ToHostBuffer")
def transfers(client: Client) -> None:
    """Several threads transfer buffers."""

    def work(number: int) -> None:
        for step in range(50):
            buffer = client.floats(number, step)
            expect_equal(client.fetch_floats(buffer), [number, step], "The content")
            client.call("PJRT_Buffer_Destroy", buffer=buffer)

    _in_threads(work)


@check("PJRT_Client_Compile", stage=Stage.PROGRAM)
def compilations(client: Client) -> None:
    """Several threads compile."""

    def work(number: int) -> None:
        for step in range(3):
            loaded = client.compile(programs.build_identity_program("f32", [number + 1, step + 1]))
            expect_equal(client.output_count(loaded), 1, "num_outputs")

    _in_threads(work)


@check("PJRT_LoadedExecutable_Execute", stage=Stage.PROGRAM)
def executions(client: Client) -> None:
    """Several threads run the same program."""
    loaded = client.add

    def work(number: int) -> None:
        for step in range(20):
            [[result]] = client.run(loaded, [[client.floats(*[number] * 4), client.floats(*[step] * 4)]])
            expect_equal(client.fetch_floats(result), [number + step] * 4, "The result")

    _in_threads(work)


@check("PJRT_LoadedExecutable_Execute", stage=Stage.PROGRAM)
def executions_of_shared_arguments(client: Client) -> None:
    """Several threads run programs with the same arguments."""
    arguments = [client.floats(1, 2, 3, 4), client.floats(10, 20, 30, 40)]
    loaded = client.add

    def work(number: int) -> None:
        for _ in range(20):
            [[result]] = client.run(loaded, [arguments])
            expect_equal(client.fetch_floats(result), [11, 22, 33, 44], "The result")

    _in_threads(work)


@check("PJRT_Buffer_Destroy")
def destruction_in_other_thread(client: Client) -> None:
    """A buffer can be destroyed on a different thread from the one that created it."""
    buffers = [client.floats(number) for number in range(_THREADS)]
    _in_threads(lambda number: client.call("PJRT_Buffer_Destroy", buffer=buffers[number]))


@check("PJRT_Client_Devices", "PJRT_DeviceDescription_Attributes", "PJRT_Memory_Kind")
def properties(client: Client) -> None:
    """Several threads query properties."""

    def work(number: int) -> None:
        for _ in range(200):
            client.call("PJRT_Client_Devices", client=client.handle)
            client.call("PJRT_DeviceDescription_Attributes", device_description=client.description(client.device))
            client.memory_kind(client.default_memory(client.device))

    _in_threads(work)


@check("PJRT_Buffer_ReadyEvent", "PJRT_Event_Await", stage=Stage.PROGRAM)
def readers_of_one_result(client: Client) -> None:
    """Several threads read the result of a running program."""
    [[result]] = client.start(client.add, [[client.floats(1, 2, 3, 4), client.floats(1, 1, 1, 1)]]).results

    def work(number: int) -> None:
        client.wait_ready(result)
        expect_equal(client.fetch_floats(result), [2, 3, 4, 5], "The result")

    _in_threads(work)


@check("PJRT_LoadedExecutable_Execute", stage=Stage.PROGRAM)
def donation_race(client: Client) -> None:
    """Of two threads that donate the same buffer, one succeeds at most; the others get an error."""
    loaded = client.compile(programs.DONATE)
    donated, other = client.floats(1, 2, 3, 4), client.floats(10, 20, 30, 40)
    done: list[list[float]] = []

    def work(number: int) -> None:
        try:
            [[result]] = client.run(loaded, [[donated, other]])
            done.append(client.fetch_floats(result))
        except PluginError:
            return

    _in_threads(work)
    expect(len(done) <= 1, f"{len(done)} executions donated the same buffer.")
    expect(all(each == [11, 22, 33, 44] for each in done), f"The result is {done}.")

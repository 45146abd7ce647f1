"""The frames of framedex's original gist, beside those of a recording: `python docs/seed_frames.py INDEX`.

The gist (2021) shows the C++ stack from `jnp.device_put(1)` down to the allocation on the TPU. JAX 0.4.13 takes nearly
the same path with `jax.device_put` (`call A`), and exactly the gist's path if its client is called (`call B`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.index import Index
from framedex.model import CallFilter, FrameRow, FunctionRow, Location, Trace

ALLOCATE = "TpuExecutor_Allocate"
# The commit of XLA that jaxlib 0.4.13 was built from.
XLA_COMMIT = "12de6ec958419b57be248d0acd2d9f757e71748c"
XLA_URL = f"https://github.com/openxla/xla/blob/{XLA_COMMIT}"


@dataclass(frozen=True)
class Step:
    """One frame: its gist name (empty if unnamed), our name by call, its definition in XLA, and its purpose.

    Our names omit `xla::`, scopes and template arguments; a place is `file:line` in XLA at XLA_COMMIT.
    """

    gist: str
    names: dict[str, str]
    places: dict[str, str]
    does: str


def _same(name: str, place: str, does: str, gist: str | None = None) -> Step:
    calls = ("A", "B")
    return Step(name if gist is None else gist, dict.fromkeys(calls, name), dict.fromkeys(calls, place), does)


_CLIENT = "xla/pjrt/pjrt_stream_executor_client.cc"
_STREAM_EXECUTOR = "xla/stream_executor/stream_executor_pimpl.cc"
STEPS = (
    _same(
        "PyTreeDef::Unflatten",
        "xla/python/pytree.cc:328",
        "`tree_map` builds its result from an iterable of new leaves, with the structure of its first argument.",
    ),
    _same(
        "PyTreeDef::UnflattenImpl",
        "xla/python/pytree.cc:280",
        "Takes the leaves from the iterable. Python code creates each leaf, so the stack returns to Python here.",
    ),
    Step(
        "PyClient::BufferFromPyval",
        {"A": "PyArray::BatchedDevicePut", "B": "PyClient::BufferFromPyval"},
        {"A": "xla/python/py_array.cc:664", "B": "xla/python/py_client.cc:224"},
        "Python enters the client here, with the device and the value. JAX itself uses the batched function.",
    ),
    _same(
        "DevicePut",
        "xla/python/py_values.cc:289",
        "Looks up the handler of the value's Python type.",
    ),
    Step(
        "HandleNumpyArray",
        {"A": "HandleNumpyScalar", "B": "HandleNumpyArray"},
        {"A": "xla/python/py_values.cc:149", "B": "xla/python/py_values.cc:199"},
        "The handler finds the bytes, their type and strides. The value is a NumPy scalar in A and an array in B.",
    ),
    _same(
        "PjRtClient::MakeArrayFromHostBuffer",
        "xla/python/pjrt_ifrt/pjrt_client.cc:55",
        "The IFRT layer, which the gist's JAX did not have yet, creates an array over one PJRT buffer.",
        gist="",
    ),
    _same(
        "PjRtStreamExecutorClient::BufferFromHostBuffer",
        f"{_CLIENT}:903",
        "The overload without a layout calls the one with it.",
    ),
    _same(
        "PjRtStreamExecutorClient::BufferFromHostBuffer",
        f"{_CLIENT}:681",
        "Chooses the device layout, allocates memory on the device, and lets another thread copy.",
        gist="",
    ),
    _same(
        "AllocateDestinationBuffer",
        f"{_CLIENT}:365",
        "Allocates the memory, and records the events after which it is readable.",
    ),
    _same(
        "TransferManager::AllocateScopedShapedBuffer",
        "xla/service/transfer_manager.cc:318",
        "Queries the size of each array of the shape on the device, and allocates each.",
    ),
    _same(
        "StreamExecutorMemoryAllocator::Allocate",
        f"{_STREAM_EXECUTOR}:889",
        "Finds the executor of the device. There is no pool: each buffer is a separate allocation.",
    ),
    _same(
        "StreamExecutor::Allocate",
        f"{_STREAM_EXECUTOR}:496",
        "Checks the memory limit of the device, and counts the allocation.",
    ),
    _same(
        "TpuExecutor::Allocate",
        "xla/stream_executor/tpu/tpu_executor.cc:170",
        "StreamExecutor's interface to a TPU core calls the function `TpuExecutor_Allocate` of `libtpu.so`.",
    ),
    _same(
        ALLOCATE,
        "",
        "The library is framedex's mock here. It records the call and allocates from its own device memory.",
        gist="CurrentStackTrace (in the gist itself)",
    ),
)


@dataclass(frozen=True)
class Row:
    """A step and its recorded frame; None if it is missing."""

    step: Step
    name: str
    frame: FrameRow | None
    place: str

    @property
    def url(self) -> str:
        """The definition on GitHub; empty outside XLA."""
        path, _, line = self.place.partition(":")
        return f"{XLA_URL}/{path}#L{line}" if path else ""


def allocations(index: Index) -> dict[str, Trace]:
    """The stacks of the calls A and B of `demo/seed_trace.py`. Raises FramedexError if they were not recorded."""
    found = index.calls.find(CallFilter(function=ALLOCATE))
    traces = [trace for call in found if (trace := index.calls.trace(call.id))]
    if len(traces) < 2:
        raise FramedexError("demo/seed_trace.py was not recorded.", "Record it with jaxlib 0.4.13: make seed-trace")
    return dict(zip("AB", traces[-2:], strict=True))


def rows(trace: Trace, call: str) -> list[Row]:
    """The steps of a call with its frames, in the order of the gist: outermost first."""
    remaining = list(trace.frames)
    result = []
    for step in STEPS:
        name = step.names[call]
        place = next((i for i, frame in enumerate(remaining) if short_name(frame.function) == name), None)
        frame = None if place is None else remaining[place]
        if place is not None:
            del remaining[: place + 1]
        result.append(Row(step, name, frame, step.places[call]))
    return result


def short_name(function: FunctionRow) -> str:
    """`xla::(anonymous namespace)::HandleNumpyScalar<int, int>` -> `HandleNumpyScalar`."""
    name = function.name.partition("<")[0]
    for scope in ("xla::ifrt::", "xla::", "stream_executor::tpu::", "stream_executor::", "(anonymous namespace)::"):
        name = name.removeprefix(scope)
    return name


def shown(location: Location) -> str:
    """`file:line [evidence]`."""
    return f"{location.path}:{location.line} [{location.how}]"


def table(index: Index) -> Iterator[str]:
    """The output of `make seed-trace`: for each call the gist's frames, ours, their locations and links."""
    for call, trace in allocations(index).items():
        yield ""
        yield f"Call {call}: {CALLS[call]}"
        for row in rows(trace, call):
            yield f"  {row.step.gist or '-':47} {row.name if row.frame else 'MISSING'}"
            for line in _details(row):
                yield f"{'':52}{line}"


def _details(row: Row) -> Iterator[str]:
    if row.frame is None:
        return
    defined, at = row.frame.function.location, row.frame.location
    if defined is not None:
        yield shown(defined)
    if at is not None and (at.path, at.line) != (defined and (defined.path, defined.line)):
        yield f"at {shown(at)}"
    if row.url:
        yield row.url


CALLS = {
    "A": "jax.device_put(1)",
    "B": "tree_map(lambda x: client.buffer_from_pyval(np.asarray(x, np.int32), device), 1)",
}


if __name__ == "__main__":
    with Index.open(Path(sys.argv[1])) as opened:
        print("\n".join(table(opened)))

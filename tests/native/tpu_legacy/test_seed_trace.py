"""The frames of the seed's own trace, from Python down to TpuExecutor_Allocate, for both calls of the demo."""

from __future__ import annotations

import os
import re
import runpy
from dataclasses import dataclass
from pathlib import Path

import pytest

from framedex.captures import read_capture
from framedex.index import Index, Store
from framedex.ingest import CaptureFrameNamer
from framedex.model import CallFilter, FrameRole, Language, MergeOutcome, Trace
from framedex_native import _native
from tests.native.tpu_legacy.conftest import RunLegacy
from tests.oracle.whole_captures import add_capture
from tests.pythons import ROOT
from tests.reading import Call, calls_of

pytestmark = pytest.mark.exhaustive

ROUNDS = 20
CALL_A = [
    "<module>",
    "both",
    "put_with_jax",
    "device_put",
    "tree_map",
    "xla::PyTreeDef::Unflatten",
    "xla::PyTreeDef::UnflattenImpl<pybind11::iterable>",
    "pybind11::iterator::advance",
    "tree_map.<locals>.<genexpr>",
    "device_put.<locals>.<lambda>",
    "Primitive.bind",
    "Primitive.bind_with_trace",
    "EvalTrace.process_primitive",
    "_device_put_impl",
    "_put_x",
    "shard_arg",
    "_shard_array",
    "batched_device_put",
    "xla::PyArray::BatchedDevicePut",
    "xla::DevicePut",
    "xla::(anonymous namespace)::HandleNumpyScalar<int, int>",
    "xla::ifrt::PjRtClient::MakeArrayFromHostBuffer",
    "xla::PjRtStreamExecutorClient::BufferFromHostBuffer",
    "xla::PjRtStreamExecutorClient::BufferFromHostBuffer",
    "xla::(anonymous namespace)::AllocateDestinationBuffer",
    "xla::TransferManager::AllocateScopedShapedBuffer",
    "stream_executor::StreamExecutorMemoryAllocator::Allocate",
    "stream_executor::StreamExecutor::Allocate",
    "stream_executor::tpu::TpuExecutor::Allocate",
    "TpuExecutor_Allocate",
]
CALL_B = [
    "<module>",
    "both",
    "put_with_client",
    "tree_map",
    "xla::PyTreeDef::Unflatten",
    "xla::PyTreeDef::UnflattenImpl<pybind11::iterable>",
    "pybind11::iterator::advance",
    "tree_map.<locals>.<genexpr>",
    "put_with_client.<locals>.<lambda>",
    "xla::PyClient::BufferFromPyval",
    "xla::DevicePut",
    "xla::(anonymous namespace)::HandleNumpyArray",
    *CALL_A[21:],
]
# Of jax/_src, as the wheel has them.
LINES_OF_A = {
    "device_put": "api.py:2480",
    "tree_map": "tree_util.py:210",
    "tree_map.<locals>.<genexpr>": "tree_util.py:210",
    "device_put.<locals>.<lambda>": "api.py:2481",
    "Primitive.bind": "core.py:380",
    "Primitive.bind_with_trace": "core.py:383",
    "EvalTrace.process_primitive": "core.py:815",
    "_device_put_impl": "dispatch.py:679",
    "_put_x": "dispatch.py:586",
    "shard_arg": "pxla.py:116",
    "_shard_array": "pxla.py:161",
    "batched_device_put": "pxla.py:186",
}


@dataclass(frozen=True)
class Recorded:
    """The demo's two calls, made `ROUNDS` times in one process: the named stacks of their allocations in order."""

    traces: list[Trace]
    calls: list[Call]
    counts: _native.Counts


@pytest.fixture(scope="module")
def recorded(run_legacy: RunLegacy, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    """The demo recorded once."""
    folder = tmp_path_factory.mktemp("seed")
    program = folder / "seed_trace.py"
    text, replaced = re.subn(r"\nprint\(.*\)\n$", AGAIN, (ROOT / "demo" / "seed_trace.py").read_text())
    assert replaced == 1
    program.write_text(text)
    done = run_legacy(str(program), folder=folder)
    assert (done.status, done.stdout) == (0, "1\n"), done.stderr
    with Store(folder / "index.db") as store:
        add_capture(store, read_capture(done.capture), CaptureFrameNamer())
    with Index.open(folder / "index.db") as index:
        allocations = index.calls.find(CallFilter(function="TpuExecutor_Allocate"))
        traces = [trace for call in allocations if (trace := index.calls.trace(call.id))]
    return Recorded(traces, calls_of(done.capture), _native.count_records(os.fsencode(done.capture)))


AGAIN = f"""

def both():
    return put_with_jax(), put_with_client()


for _ in range({ROUNDS}):
    first, second = both()
print(first)
"""


def code_frames(trace: Trace) -> list[str]:
    """The names of the frames, outermost first, without interpreter and glue frames."""
    return [frame.function.name for frame in trace.frames if frame.function.role is FrameRole.CODE]


def test_every_frame_of_both_calls_is_present_in_order_every_time(recorded: Recorded) -> None:
    assert [code_frames(trace) for trace in recorded.traces] == [CALL_A, CALL_B] * ROUNDS


def test_every_frame_of_the_gist_has_its_counterpart(recorded: Recorded) -> None:
    seed = runpy.run_path(str(ROOT / "docs" / "seed_frames.py"))
    for call, trace in zip("AB", recorded.traces[-2:], strict=True):
        assert [row.name for row in seed["rows"](trace, call) if row.frame is None] == []


def test_every_python_frame_has_its_current_line(recorded: Recorded) -> None:
    lines = {
        frame.function.name: f"{Path(frame.location.path).name}:{frame.location.line}"
        for frame in recorded.traces[0].frames
        if frame.function.language is Language.PYTHON and frame.location
    }
    assert {name: lines[name] for name in LINES_OF_A} == LINES_OF_A


def test_every_stack_is_merged(recorded: Recorded) -> None:
    assert {call.outcome for call in recorded.calls} == {MergeOutcome.MERGED}


def test_every_stack_equals_that_of_the_libgcc_unwinder(recorded: Recorded) -> None:
    assert recorded.counts["verified"] == len(recorded.calls)
    assert recorded.counts["different"] == 0

"""Index queries about calls, lines and functions of a recorded run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from framedex.base.errors import FramedexError
from framedex.base.plaintext import restore
from framedex.index import Index, Store
from framedex.index.write.records import CaptureRecord, FrameRecord
from framedex.ingest import CaptureFrameNamer
from framedex.model import (
    CallFilter,
    FrameRole,
    Language,
    LocationEvidence,
    MergeOutcome,
    Metadata,
    NativeFrame,
    StopReason,
    StopReasons,
)
from framedex.texts.traces import format_trace
from tests.indexer.recorded import Project
from tests.oracle.whole_captures import add_whole
from tests.trace_lines import parse_trace

BOUNDARY = "PJRT_Client_BufferFromHostBuffer"


def test_calls_are_sorted_by_start_time_with_their_arguments(project: Project) -> None:
    calls = project.ingest().calls.find(CallFilter())

    assert [call.start for call in calls] == [1_000, 2_000, 3_000, 2_000_000_000]
    assert calls[0].arguments == {"type": "F32", "dims": [2, 3], "bytes": 24}
    assert [call.thread for call in calls] == ["MainThread (100)"] * 3 + ["101"]
    assert calls[3].duration == -1


def test_a_filter_keeps_matching_calls(project: Project) -> None:
    filters: list[tuple[CallFilter, list[int]]] = [
        (CallFilter(function=BOUNDARY), [1_000, 2_000, 3_000]),
        (CallFilter(function="error_destroy"), [2_000_000_000]),
        (CallFilter(thread="main"), [1_000, 2_000, 3_000]),
        (CallFilter(thread="101"), [2_000_000_000]),
        (CallFilter(after=2_000, before=3_000), [2_000, 3_000]),
        (CallFilter(errors_only=True), [3_000]),
        (CallFilter(through="runtime::ALLOCATE"), [1_000, 2_000, 3_000]),
        (CallFilter(through="demo.py:11"), [3_000, 2_000_000_000]),
        (CallFilter(through="no such thing"), []),
        (CallFilter(capture=7), []),
    ]
    index = project.ingest()

    for wanted, starts in filters:
        assert [call.start for call in index.calls.find(wanted)] == starts
        assert index.calls.count(wanted) == len(starts)


def test_a_limit_keeps_the_latest_calls_of_the_latest_capture(project: Project) -> None:
    earlier = replace(project.capture.metadata, started_unix_ns=1)
    project.ingest().close()
    index = project.ingest(capture=project.again("earlier", metadata=earlier))

    assert [(call.capture, call.start) for call in index.calls.find(CallFilter(), limit=2)] == [
        (1, 3_000),
        (1, 2_000_000_000),
    ]
    assert [call.capture for call in index.calls.find(CallFilter(), limit=5)] == [2, 1, 1, 1, 1]


def test_the_latest_call_of_a_function_is_found_by_substring(project: Project) -> None:
    index = project.ingest()

    found = index.calls.latest("fromhostbuffer")

    assert found is not None
    assert (found.function, found.start) == (BOUNDARY, 3_000)
    assert index.calls.latest("Nothing") is None


def test_an_ambiguous_substring_is_refused_with_the_matching_names(project: Project) -> None:
    with pytest.raises(FramedexError) as raised:
        project.ingest().calls.latest("PJRT")

    assert BOUNDARY in raised.value.message
    assert "PJRT_Error_Destroy" in raised.value.message


def test_a_trace_crosses_from_python_into_inlined_native_code(project: Project) -> None:
    trace = project.ingest(project.library.parent).calls.trace(1)

    assert trace is not None
    shown = [(frame.function.language, frame.function.name, frame.inlined) for frame in trace.frames]
    assert [name for _, name, _ in shown[:4]] == ["<module>", "main", "transfer", "put"]
    assert shown[4:7] == [
        (Language.NATIVE, "glue::convert", False),
        (Language.NATIVE, BOUNDARY, False),
        (Language.NATIVE, "runtime::allocate", False),
    ]
    assert shown[7][2], "the function inlined into allocate is a frame of its own"
    assert trace.frames[1].location is not None
    assert (trace.frames[1].location.line, trace.frames[1].location.how) == (
        project.line("transfer(1)"),
        LocationEvidence.EXACT,
    )


def test_an_unmerged_stack_is_two_stacks_with_a_reason(project: Project) -> None:
    trace = project.ingest().calls.trace(4)

    assert trace is not None
    assert trace.outcome is MergeOutcome.NO_HOST
    assert [frame.function.language for frame in trace.frames] == [Language.NATIVE] * 2
    assert [frame.function.name for frame in trace.python] == ["<module>", "main", "transfer", "put"]


def test_the_trace_of_a_stack_is_that_of_its_latest_call(project: Project) -> None:
    index = project.ingest()
    first = index.calls.get(1)

    assert first is not None
    trace = index.calls.trace_of_stack(first.stack)
    assert trace is not None
    assert trace.call.start == 2_000


def test_a_line_has_its_calls_their_callees_and_their_callers(project: Project) -> None:
    index = project.ingest()
    summary = index.line(str(project.program), project.line("transfer(2)")).summary()

    assert summary is not None
    assert (summary.calls, summary.total_duration) == (2, 900)
    assert summary.boundaries == ((BOUNDARY, 1, 900), ("PJRT_Error_Destroy", 1, 0))
    assert [(function.name, calls) for function, calls in summary.callers] == [("<module>", 2)]
    assert {"type": "F32", "dims": [2, 3], "bytes": 24} in summary.arguments
    assert summary.hows == (LocationEvidence.EXACT,)
    assert index.line(str(project.program), 3).summary() is None
    assert index.line("/no/such/file.py", 3).summary() is None


def test_recorded_lines_count_the_calls_through_them(project: Project) -> None:
    lines = project.ingest().file(str(project.program)).recorded_lines()

    assert lines == {
        project.line("# start"): 4,
        project.line("transfer(1)"): 2,
        project.line("transfer(2)"): 2,
        project.line("return put"): 4,
        project.line("return value"): 4,
    }


def test_the_longest_stack_through_a_line_comes_first(project: Project) -> None:
    hits = project.ingest().line(str(project.program), project.line("return put")).stacks()

    assert [(hit.function, hit.calls) for hit in hits] == [(BOUNDARY, 2), (BOUNDARY, 1), ("PJRT_Error_Destroy", 1)]
    assert all(hit.frame.function.name == "transfer" and hit.position == 2 for hit in hits)
    assert len(project.ingest(capture=project.again("second")).file(str(project.program)).stacks(limit=2)) == 2


def test_a_step_inward_crosses_from_python_into_native_code(project: Project) -> None:
    index = project.ingest(project.library.parent)
    put = str(project.program), project.line("return value")

    inward = index.line(*put).steps_inward()
    assert [(step.target.function.name, step.calls) for step in inward] == [("glue::convert", 3)]


def test_callers_and_callees_have_counts_and_caller_lines(project: Project) -> None:
    index = project.ingest()
    (transfer,) = index.functions.find("transfer")

    (edge,) = index.functions.callers(transfer.id)
    assert (edge.caller.name, edge.calls) == ("main", 4)
    assert sorted(site.line for site in edge.sites) == [project.line("transfer(1)"), project.line("transfer(2)")]
    assert [edge.callee.name for edge in index.functions.callees(transfer.id)] == ["put"]


def test_a_line_without_frames_belongs_to_its_enclosing_function(project: Project) -> None:
    index = project.ingest()

    found = index.line(str(project.program), project.line("def main")).functions()

    assert [function.name for function in found][:1] == ["main"]
    assert found[0].end_line == project.line("transfer(2)")


def test_recursion_counts_a_call_once(project: Project) -> None:
    """A stack that passes `transfer` and `put` twice counts its calls once in every total."""
    first = project.capture.stacks[0]
    again = (*first.frames[:5], *first.frames[3:])
    index = project.ingest(capture=project.again("recursive", stacks=(type(first)(again), *project.capture.stacks[1:])))

    assert index.file(str(project.program)).recorded_lines()[project.line("return put")] == 4
    (transfer,) = index.functions.find("transfer")
    assert {edge.caller.name: edge.calls for edge in index.functions.callers(transfer.id)} == {"main": 4, "put": 2}
    hits = index.line(str(project.program), project.line("return put")).stacks()
    assert sum(hit.calls for hit in hits) == 4


def test_the_same_run_twice_doubles_counts_and_shares_stacks(project: Project) -> None:
    project.ingest().close()
    index = project.ingest(capture=project.again("second"))

    assert index.file(str(project.program)).recorded_lines()[project.line("return put")] == 8
    assert len({call.stack for call in index.calls.find(CallFilter())}) == 3
    assert [capture.calls for capture in index.captures()] == [4, 4]


@pytest.mark.exhaustive(keep=["True-order0"])
@pytest.mark.parametrize("order", [("later", "earlier"), ("earlier", "later")])
@pytest.mark.parametrize("again", [False, True])
def test_the_latest_call_is_the_one_that_started_last_in_any_capture_order(
    project: Project, order: tuple[str, str], again: bool
) -> None:
    """Of two captures read in either order, one perhaps again after growing, the later one is the latest."""
    run = replace(project.capture.metadata, pid=1, host="here")
    captures = {
        "later": project.again("later", metadata=replace(run, started_unix_ns=2_000_000_000)),
        "earlier": project.again("earlier", metadata=replace(run, started_unix_ns=1_000_000_000)),
    }
    for name in (*order, order[0]) if again else order:
        index = project.ingest(capture=captures[name])
    line = project.line("return put")

    summary = index.line(str(project.program), line).summary()
    hits = index.line(str(project.program), line).stacks()

    assert summary is not None and Path(summary.latest_capture.path).name == "later"
    for hit in hits:
        trace = index.calls.trace_of_stack(hit.stack)
        assert trace is not None and Path(trace.capture.path).name == "later"
        assert trace.call.id == hit.latest_call
        found = index.calls.latest(hit.function)
        assert found is not None and found.capture == trace.capture.id


def test_an_open_index_sees_rows_written_by_another_process(project: Project) -> None:
    index = project.ingest()

    project.ingest(capture=project.again("second")).close()

    assert not index.was_replaced()
    assert len(index.captures()) == 2


def test_interpreter_and_glue_frames_are_skipped_by_default(project: Project) -> None:
    """On a stack put -> glue::convert -> boundary with an interpreter frame between, put's callee is the boundary."""
    with Store(project.index) as store:
        frames, _ = CaptureFrameNamer().name_frames(project.capture)
        hidden = [tuple(_as_interpreter(record) for record in group) for group in frames]
        add_whole(store, CaptureRecord(project.capture, 1.0, "demo", hidden))
    index = Index.open(project.index)
    (put,) = index.functions.find("put")
    (convert,) = index.functions.find("glue::convert")

    (edge,) = index.functions.callees(put.id)
    assert (edge.callee.name, edge.calls) == (BOUNDARY, 3)
    assert [site.line for site in edge.sites] == [project.line("return value")]
    assert [edge.callee.name for edge in index.functions.direct_callees(put.id)] == ["glue::convert"]
    assert [edge.caller.name for edge in index.functions.callers(convert.id)] == ["put"]
    here = str(project.program), project.line("return value")
    assert [step.target.function.name for step in index.line(*here).steps_inward()] == ["glue::convert"]
    (step,) = index.line(*here).readable_steps_inward()
    assert step.target.function.name == BOUNDARY
    assert step.target.location is not None
    back = index.line(step.target.location.path, step.target.location.line).readable_steps_outward()
    assert [step.target.function.name for step in back] == ["put"]


def _as_interpreter(record: FrameRecord) -> FrameRecord:
    if record.function.name != "glue::convert":
        return record
    return replace(record, function=replace(record.function, role=FrameRole.INTERPRETER))


def test_line_arguments_prefer_those_with_a_shape(project: Project) -> None:
    """For a line with many calls with uninformative arguments, the samples include the one with a shape."""
    calls = project.capture.calls
    arguments = [f'{{"kind": {number}}}' for number in range(len(calls))]
    arguments[0] = '{"dims": [7]}'
    index = project.ingest(capture=project.again("shapes", calls=replace(calls, arguments=tuple(arguments))))

    summary = index.line(str(project.program), project.line("return put")).summary()

    assert summary is not None
    assert summary.arguments[0] == {"dims": [7]}


def test_reasons_for_incomplete_captures_and_stacks_are_stored(project: Project) -> None:
    stops = StopReasons((StopReason.LIMIT, StopReason.NO_FILE), threads=2, missing_calls=7, lacks_threads=True)
    deep = tuple(replace(stack, is_truncated=True) for stack in project.capture.stacks)
    index = project.ingest(capture=project.again("stopped", stops=stops, stacks=deep))

    (capture,) = index.captures()
    assert (capture.stops, capture.problems) == (stops, project.ingest().captures()[0].problems)
    traces = [index.calls.trace(call.id) for call in index.calls.find(CallFilter(capture=capture.id))]
    found = [(trace.outcome, trace.is_truncated) for trace in traces if trace is not None]
    assert found == [(MergeOutcome.MERGED, True)] * 3 + [(MergeOutcome.NO_HOST, True)]


def test_undecodable_names_and_addresses_outside_modules_are_stored(project: Project) -> None:
    """A capture with undecodable names and a 64-bit address is indexed and can be queried."""
    odd = "odd\udcff"
    capture = project.again(
        odd,
        codes=tuple(
            replace(code, filename=f"/{odd}/x.py", qualname=code.qualname + odd) for code in project.capture.codes
        ),
        modules=tuple(replace(module, path=f"/{odd}/lib.so") for module in project.capture.modules),
        functions=tuple(replace(function, name=function.name + odd) for function in project.capture.functions),
        threads=tuple(replace(thread, name=odd) for thread in project.capture.threads),
        frames=(*project.capture.frames[:-1], NativeFrame(-1, 0xFFFFFFFFFF600001)),
        metadata=Metadata(argv=("python", odd)),
    )
    index = project.ingest(capture=capture)

    trace = index.calls.trace(1)
    assert trace is not None
    assert trace.frames[-1].offset == 0xFFFFFFFFFF600001
    assert trace.frames[0].location is not None
    assert restore(trace.frames[0].location.path) == f"/{odd}/x.py"
    assert len(parse_trace(format_trace(trace))) == 4
    assert index.file(f"/{odd}/x.py").recorded_lines()
    assert index.calls.find(CallFilter(thread=odd))

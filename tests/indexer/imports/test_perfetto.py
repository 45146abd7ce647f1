"""Perfetto traces, built with its own messages: stacks, threads, clocks, and lost packets."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages
from perfetto.trace_builder.proto_builder import TraceProtoBuilder

from framedex.base.nativepart import protobuf
from framedex.binaries import Binary
from framedex.index import Index
from framedex.model import CallFilter, CallRow
from tests.indexer.imports.profiles import framedex
from tests.indexer.recorded import middle_of

CLEARED, NEEDED = 1, 2
BEGIN, END = messages.TrackEvent.TYPE_SLICE_BEGIN, messages.TrackEvent.TYPE_SLICE_END


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tests import into an index in their own folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def packet(trace: TraceProtoBuilder, flags: int = NEEDED, sequence: int = 1, **told: int) -> messages.TracePacket:
    """Add a packet."""
    added = trace.add_packet()
    added.trusted_packet_sequence_id = sequence
    added.sequence_flags = flags
    for name, value in told.items():
        setattr(added, name, value)
    return added


def define_stacks(
    data: messages.InternedData, stacks: Iterable[Iterable[str]], module: str = "/usr/lib/liba.so"
) -> None:
    """Define stacks of functions, outermost first, with numbers from 1."""
    functions: dict[str, int] = {}
    data.mapping_paths.add(iid=1, str=module.encode())
    data.build_ids.add(iid=1, str=bytes(20))
    data.mappings.add(iid=1, build_id=1, path_string_ids=[1])
    for number, stack in enumerate(stacks, 1):
        ids = [functions.setdefault(name, len(functions) + 1) for name in stack]
        data.callstacks.add(iid=number, frame_ids=ids)
    for name, number in functions.items():
        data.function_names.add(iid=number, str=name.encode())
        data.frames.add(iid=number, function_name_id=number, mapping_id=1, rel_pc=16 * number)


def imported(trace: TraceProtoBuilder, *options: str) -> list[CallRow]:
    """Import a trace; return the result."""
    path = Path("trace.perfetto")
    path.write_bytes(trace.serialize())
    result = framedex("import", path, *options)
    assert result.exit_code == 0, result.output
    with Index.open(Path(".framedex/index.db")) as index:
        return index.calls.find(CallFilter(), 100)


def stacks_of(calls: Iterable[CallRow]) -> list[list[str]]:
    """The functions of each call's stack, outermost first, by the starts of calls."""
    found = []
    with Index.open(Path(".framedex/index.db")) as index:
        for call in sorted(calls, key=lambda call: call.start):
            trace = index.calls.trace(call.id)
            assert trace is not None
            found.append([frame.function.name for frame in trace.frames])
    return found


def slices() -> TraceProtoBuilder:
    """A thread with a slice that has a stack, and a nested slice."""
    trace = TraceProtoBuilder()
    thread = packet(trace, CLEARED).track_descriptor
    thread.uuid, thread.thread.tid, thread.thread.thread_name = 7, 42, "worker"
    for at, kind, name in ((1_000, BEGIN, "step"), (3_000, BEGIN, "copy"), (4_000, END, ""), (9_000, END, "")):
        added = packet(trace, timestamp=at)
        added.track_event.type, added.track_event.track_uuid = kind, 7
        if name:
            added.track_event.name = name
        if name == "step":
            define_stacks(added.interned_data, [["main", "train"]])
            added.track_event.callstack_iid = 1
    return trace


def test_slices_have_own_time_thread_and_stack() -> None:
    """A slice of 8 us with a nested one of 1 us has 7 us of its own, and the other is its callee."""
    calls = imported(slices())
    assert {(call.start, call.duration, call.thread) for call in calls} == {
        (0, 7_000, "worker (42)"),
        (2_000, 1_000, "worker (42)"),
    }
    assert stacks_of(calls) == [["main", "train", "step"], ["main", "train", "step", "copy"]]


def test_lost_data_is_omitted_and_reported() -> None:
    """Packets before the state that they need, or after a loss, are never guessed."""
    trace = TraceProtoBuilder()
    thread = packet(trace, 0, 9).track_descriptor
    thread.uuid, thread.thread.tid = 7, 42
    for flags, dropped in ((NEEDED, 0), (CLEARED, 0), (NEEDED, 0), (NEEDED, 1)):
        added = packet(trace, flags, timestamp=5_000)
        added.previous_packet_dropped = dropped
        if flags == CLEARED:
            define_stacks(added.interned_data, [["main"]])
            added.perf_sample.callstack_iid = 2  # never defined
        else:
            added.perf_sample.callstack_iid = 1
        added.perf_sample.tid = 42
    assert stacks_of(imported(trace)) == [["main"]]
    said = framedex("captures").output
    assert "Left out: 2 packets that refer to lost data." in said
    assert "Left out: 1 sample without a stack, or with a lost stack." in said


def test_interned_ids_are_valid_until_the_sequence_is_cleared() -> None:
    trace = TraceProtoBuilder()
    for at, name in enumerate(("first", "second")):
        for sequence in (1, 2):
            added = packet(trace, CLEARED, sequence, timestamp=1_000 * (2 * at + sequence))
            define_stacks(added.interned_data, [[f"{name} {sequence}"]])
            added.perf_sample.callstack_iid = 1
    assert stacks_of(imported(trace)) == [["first 1"], ["first 2"], ["second 1"], ["second 2"]]


def test_chrome_samples_are_consecutive(here: Path) -> None:
    """Times of a sequence with its own microsecond clock are converted to the trace's, in ns."""
    trace = TraceProtoBuilder()
    first = packet(trace, CLEARED)
    for clock, at in ((messages.BUILTIN_CLOCK_REALTIME, 1_700_000_000_000_000_000), (6, 50_000_000)):
        first.clock_snapshot.clocks.add(clock_id=clock, timestamp=at)
    first.clock_snapshot.clocks.add(clock_id=64, timestamp=40_000, is_incremental=True, unit_multiplier_ns=1_000)
    first.trace_packet_defaults.timestamp_clock_id = 64
    first.trace_packet_defaults.track_event_defaults.track_uuid = 3
    define_stacks(first.interned_data, [["main", "a"], ["main", "b"]])
    samples = packet(trace, timestamp=10).streaming_profile_packet
    samples.callstack_iid.extend([1, 2, 1])
    samples.timestamp_delta_us.extend([0, 5, 7])
    late = packet(trace, 0).track_descriptor  # names may come after all events that use them
    late.uuid, late.thread.tid, late.thread.thread_name = 3, 8, "CrRendererMain"
    calls = imported(trace)
    assert sorted(call.start for call in calls) == [0, 5_000, 12_000]
    assert {call.thread for call in calls} == {"CrRendererMain (8)"}
    with Index.open(here / ".framedex" / "index.db") as index:
        assert index.captures()[0].started == 1_700_000_000


def test_unnamed_frames_are_named_by_symbols_or_by_their_binary(library: Path) -> None:
    """Bare addresses are named by the trace's own data, or else by the binary with that build-id."""
    binary = Binary.open(library)
    address = middle_of(library, "_ZN7runtime8allocateEm")
    trace = TraceProtoBuilder()
    added = packet(trace, CLEARED, timestamp=1)
    data = added.interned_data
    data.mapping_paths.add(iid=1, str=str(library).encode())
    data.build_ids.add(iid=1, str=bytes.fromhex(binary.build_id or ""))
    data.build_ids.add(iid=2, str=b"\1" * 20)
    for number in (1, 2):
        data.mappings.add(iid=number, build_id=number, path_string_ids=[1])
    for number, (mapping, at) in enumerate(((1, address), (2, address), (2, 64)), 1):
        data.frames.add(iid=number, mapping_id=mapping, rel_pc=at)
    data.callstacks.add(iid=1, frame_ids=[1, 2, 3])
    added.perf_sample.callstack_iid = 1
    symbols = packet(trace, 0).module_symbols
    symbols.build_id = (b"\1" * 20).hex()
    told = symbols.address_symbols.add(address=64)
    told.lines.add(function_name="inlined", source_file_name="/src/a.cc", line_number=3)
    told.lines.add(function_name="around", source_file_name="/src/a.cc", line_number=9)
    (names,) = stacks_of(imported(trace))
    assert names[-3:] == [f"{library.name}+{address:#x}", "around", "inlined"]
    assert "runtime::allocate" in names[:-3]


def test_a_trace_is_imported_by_slices_or_by_samples(here: Path) -> None:
    trace = slices()
    added = packet(trace, timestamp=2_000)
    added.perf_sample.callstack_iid, added.perf_sample.tid = 1, 42
    assert len(imported(trace)) == 2
    assert "import samples instead with `--value samples`" in framedex("captures").output
    (sample,) = imported(trace, "--value", "samples")
    assert (sample.function, sample.duration) == ("samples (count)", 0)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\x0a\x02\x50\x01" + b"\x0a\x7f\x50", "it is truncated"),
        (b"\x0a\x0d\x50\x01\x92\x03\x08" + bytes(8), "its compressed packets are damaged"),
        (b"\x0a\x02\x50\x01", "no sample in it has a stack"),
    ],
)
def test_damaged_files_are_refused(here: Path, content: bytes, expected: str) -> None:
    (here / "bad.perfetto").write_bytes(content)
    result = framedex("import", "bad.perfetto")
    assert result.exit_code == 1
    assert expected in result.output
    assert not list((here / ".framedex").glob("captures/*"))


def test_compressed_packets_are_read_unless_too_large(here: Path) -> None:
    trace = TraceProtoBuilder()
    packet(trace).compressed_packets = zlib.compress(slices().serialize())
    assert len(imported(trace)) == 2
    trace = TraceProtoBuilder()
    packet(trace).compressed_packets = zlib.compress(slices().serialize() + bytes(100 << 20))
    (here / "bomb.perfetto").write_bytes(trace.serialize())
    assert "decompress to more than the limit" in framedex("import", "bomb.perfetto").output


@pytest.mark.parametrize(
    ("field", "expected"), [(37, "1 heap dump without samples"), (135, "1 stack sample of the unsupported kind")]
)
def test_unsupported_contents_are_named_if_there_is_nothing_else(here: Path, field: int, expected: str) -> None:
    packet = protobuf.integer_field(8, 5) + protobuf.message_field(field, b"")
    (here / "trace.pb").write_bytes(protobuf.message_field(1, packet))
    result = framedex("import", "trace.pb")
    assert result.exit_code == 1
    assert expected in result.stderr, result.stderr

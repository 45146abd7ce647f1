"""Perfetto traces, read with Perfetto's own messages."""

from __future__ import annotations

import json
import sqlite3
import zlib
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from perfetto.protos.perfetto.trace import perfetto_trace_pb2

from framedex.index import Index
from tests.indexer.export.exporting import export, hostile_index
from tests.indexer.export.truth import calls_of
from tests.indexer.recorded import Project
from tests.run.costs.trained import PROGRAM, index_of_training, line_of

_BEGINS, _ENDS, _INSTANT, _COUNTER = 1, 2, 3, 4


@dataclass
class Slice:
    """A slice as in a viewer, from the packets of a trace."""

    name: str
    thread: str
    start: int
    parent: Slice | None
    stack: list[tuple[str, str, int]]
    told: dict[str, Any]
    end: int | None = None
    flows: list[int] = field(default_factory=list)


def unpacked(written: bytes) -> Any:
    """The message of a trace, with its packets decompressed."""
    together = perfetto_trace_pb2.Trace.FromString(written)
    assert all(packet.HasField("compressed_packets") for packet in together.packet)
    return perfetto_trace_pb2.Trace.FromString(
        b"".join(zlib.decompress(packet.compressed_packets) for packet in together.packet)
    )


class Trace:
    """The state of a viewer after reading packets in time order."""

    def __init__(self, written: bytes) -> None:
        message = unpacked(written)
        self.slices: list[Slice] = []
        self.instants: list[Slice] = []
        self.counters: dict[str, list[int]] = {}
        self.tracks: dict[int, str] = {}
        self._interned: dict[str, dict[int, Any]] = {}
        self._open: dict[int, list[Slice]] = {}
        for packet in message.packet:
            for descriptor, values in packet.interned_data.ListFields():
                self._interned.setdefault(descriptor.name, {}).update((each.iid, each) for each in values)
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                self.tracks[track.uuid] = track.thread.thread_name or track.process.process_name or track.name
        events = (packet for packet in message.packet if packet.HasField("track_event"))
        for packet in sorted(events, key=lambda packet: packet.timestamp):  # stable, as a viewer sorts them
            self._take(packet.timestamp, packet.track_event)

    def _take(self, time: int, event: Any) -> None:
        opened = self._open.setdefault(event.track_uuid, [])
        if event.type == _COUNTER:
            self.counters.setdefault(self.tracks[event.track_uuid], []).append(event.counter_value)
        elif event.type == _ENDS:
            opened.pop().end = time
        else:
            parent = opened[-1] if opened else None
            stack = [self._frame(each) for each in self._interned["callstacks"][event.callstack_iid].frame_ids]
            name = self._interned["event_names"][event.name_iid].name
            told = {self._annotation(each): self._value(each) for each in event.debug_annotations}
            found = Slice(name, self.tracks[event.track_uuid], time, parent, stack, told)
            found.flows = [*event.flow_ids, *event.terminating_flow_ids]
            if event.type == _INSTANT:
                self.instants.append(found)
            else:
                opened.append(found)
                self.slices.append(found)

    def _frame(self, number: int) -> tuple[str, str, int]:
        frame = self._interned["frames"][number]
        assert frame.mapping_id in self._interned["mappings"]
        path = self._interned["source_paths"][frame.source_path_iid].str.decode() if frame.source_path_iid else ""
        return self._interned["function_names"][frame.function_name_id].str.decode(), path, frame.line_number

    def _annotation(self, annotation: Any) -> str:
        name: str = self._interned["debug_annotation_names"][annotation.name_iid].name
        return name

    def _value(self, annotation: Any) -> Any:
        if annotation.dict_entries:
            return {self._annotation(each): self._value(each) for each in annotation.dict_entries}
        if annotation.array_values:
            return [self._value(each) for each in annotation.array_values]
        if annotation.string_value_iid:
            return self._interned["debug_annotation_string_values"][annotation.string_value_iid].str.decode()
        kind = annotation.WhichOneof("value")
        return None if kind is None else getattr(annotation, kind)


@pytest.fixture(params=["hostile", "training"])
def index(request: pytest.FixtureRequest) -> Path:
    """An index of a program with hostile names, or of a real one."""
    if request.param == "training":
        return index_of_training()
    return hostile_index(request.getfixturevalue("project"))


def test_each_call_is_a_slice_with_its_stack(index: Path, tmp_path: Path) -> None:
    trace = Trace(export(index, "perfetto", tmp_path / "trace"))
    calls = {call.id: call for call in calls_of(index)}
    found = {each.told["call"]: each for each in trace.slices}
    assert found.keys() == calls.keys() and len(found) == len(trace.slices)
    began = min(each.start for each in trace.slices) - min(call.start for call in calls.values())
    for number, call in calls.items():
        each = found[number]
        assert (each.thread, each.start - began, each.told["function"]) == (call.thread, call.start, call.function)
        assert each.end == (each.start + call.duration if call.duration >= 0 else None)
        assert each.stack == [(name, path or "", line or 0) for name, path, line, _ in call.stack]
        assert _plain(json.loads(call.arguments)) == each.told.get("arguments", {})
        assert {child.told["call"] for child in trace.slices if child.parent is each} == set(call.children)


def test_undecodable_arguments_are_exported_as_displayed(project: Project, tmp_path: Path) -> None:
    """Given arguments that are not valid UTF-8, then a protocol buffer reader accepts the trace."""
    calls = replace(project.capture.calls, arguments=('{"name": "\\udcff"}',) * len(project.capture.calls.arguments))
    project.ingest(capture=replace(project.capture, calls=calls)).close()
    trace = Trace(export(project.index, "perfetto", tmp_path / "trace"))
    assert {each.told["arguments"]["name"] for each in trace.slices} == {"\\udcff"}


def _plain(value: Any) -> Any:
    """A JSON value as in annotations: without empty lists and objects, and null as text."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value] or None
    return "null" if value is None else value


def test_slices_are_named_after_the_program_line(tmp_path: Path) -> None:
    trace = Trace(export(index_of_training(), "perfetto", tmp_path / "trace"))
    line = line_of("params = step(")
    steps = [each for each in trace.slices if each.name == f"training.py:{line} PJRT_LoadedExecutable_Execute"]
    assert len(steps) == 30
    assert {each.told["line"] for each in steps} == {f"{PROGRAM}:{line}"}
    assert all(f"main ({PROGRAM}:{line})" in each.told["stack"].split("\n") for each in steps)


def test_texts_are_interned_and_packets_are_compressed(tmp_path: Path) -> None:
    """Uncompressed, a call took 940 bytes on average, mostly for stack texts with common lines."""
    written = export(index_of_training(), "perfetto", tmp_path / "train.pftrace")
    assert len(written) < 200 * len(calls_of(index_of_training()))
    texts = [
        text.str for packet in unpacked(written).packet for text in packet.interned_data.debug_annotation_string_values
    ]
    assert len(texts) == len(set(texts)) > 100
    events = [packet.track_event for packet in unpacked(written).packet if packet.HasField("track_event")]
    assert not any(told.HasField("string_value") for event in events for told in event.debug_annotations)


def test_device_memory_is_exported_as_counters(tmp_path: Path) -> None:
    trace = Trace(export(index_of_training(), "perfetto", tmp_path / "trace"))
    with Index.open(index_of_training()) as index:
        (device,) = index.memory()
    assert trace.counters == {f"memory in use, device {device.device}": [used for _, used in device.over_time]}


def test_flows_connect_a_line_with_its_work_on_another_thread(project: Project, tmp_path: Path) -> None:
    """Given a call on the second thread dispatched by the first, then there is a flow from its line."""
    project.ingest().close()
    with closing(sqlite3.connect(project.index)) as connection, connection:
        connection.execute(
            "INSERT INTO call_links SELECT c.id, t.id, n.id, 'handed-over' FROM calls c, threads t, nodes n"
            " JOIN frames f ON f.id = n.frame JOIN functions fn ON fn.id = f.function"
            " WHERE c.id = 4 AND t.tid = 100 AND fn.name = 'put' LIMIT 1"
        )
    trace = Trace(export(project.index, "perfetto", tmp_path / "trace"))
    (instant,) = trace.instants
    (made,) = [each for each in trace.slices if each.flows]
    assert instant.flows == made.flows
    assert (instant.thread, made.told["call"], instant.told["call"]) == ("MainThread (100)", 4, 4)
    assert instant.start == made.start and instant.told["known by"] == "handed-over"
    assert instant.name == f"demo.py:{project.line('return value')} put"
    assert [name for name, *_ in instant.stack] == ["<module>", "main", "transfer", "put"]

"""Rules for inferring links, on hand-written captures: what a thread's calls prove about another's."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from framedex.model import (
    Calls,
    Capture,
    CodeObject,
    Function,
    ImportedFrame,
    LinkEvidence,
    Metadata,
    Module,
    NativeFrame,
    PythonFrame,
    Stack,
    Thread,
)
from tests.native.call_stream.encoded import encoded
from tests.native.call_stream.linked import linked

MAIN, OTHER, POOL = 0, 1, 2
STATS, COMPILE, PRINT = "PJRT_Device_MemoryStats", "PJRT_Client_Compile", "PJRT_Executable_Fingerprint"
NAMED, DESTROY = "PJRT_LoadedExecutable_GetExecutable", "PJRT_Executable_Destroy"

# A stack by its frames, outermost first: words for Python frames, numbers for native ones.
Frames = tuple[str | int, ...]
IN_F: Frames = ("module", "f", 1)
IN_G: Frames = ("module", "g", 1)
NATIVE: Frames = (7, 8)


@dataclass
class Script:
    """Calls to make a capture of: thread, start, duration, function, stack, arguments."""

    rows: list[tuple[int, int, int, str, Frames, dict[str, object]]] = field(default_factory=list)

    def call(
        self, thread: int, start: int, function: str, stack: Frames, duration: int = 10, **arguments: object
    ) -> Script:
        self.rows.append((thread, start, duration, function, stack, arguments))
        return self

    def capture(self) -> Capture:
        rows = sorted(self.rows, key=lambda row: row[1])
        names = list(dict.fromkeys(row[3] for row in rows))
        words = list(dict.fromkeys(frame for row in rows for frame in row[4]))
        stacks = list(dict.fromkeys(row[4] for row in rows))
        return Capture(
            path=Path("/made/by/hand"),
            metadata=Metadata(),
            modules=(Module("/lib/x.so", 0, 1, None, ""),),
            codes=tuple(CodeObject("/x.py", str(word), 1, b"") for word in words),
            frames=tuple(
                PythonFrame(place, 0, 1) if isinstance(word, str) else NativeFrame(0, word)
                for place, word in enumerate(words)
            ),
            stacks=tuple(Stack(tuple(words.index(frame) for frame in reversed(stack))) for stack in stacks),
            functions=tuple(Function("pjrt", name) for name in names),
            threads=(Thread(100, ""), Thread(101, ""), Thread(102, "")),
            calls=Calls(
                thread=np.array([row[0] for row in rows], np.uint32),
                function=np.array([names.index(row[3]) for row in rows], np.uint32),
                stack=np.array([stacks.index(row[4]) for row in rows], np.uint32),
                start=np.array([row[1] for row in rows], np.int64),
                duration=np.array([row[2] for row in rows], np.int64),
                error=np.zeros(len(rows), np.int32),
                arguments=tuple(json.dumps(row[5]) for row in rows),
            ),
            problems=(),
        )

    def links(self) -> list[tuple[int, int, Frames, LinkEvidence]]:
        """(call, thread, frames outermost first, evidence)."""
        return links_of(self.capture())


def links_of(capture: Capture) -> list[tuple[int, int, Frames, LinkEvidence]]:
    def named(frame: int) -> str | int:
        found = capture.frames[frame]
        assert not isinstance(found, ImportedFrame)
        return capture.codes[found.code].qualname if isinstance(found, PythonFrame) else found.offset

    found = linked(capture, encoded(capture))
    return [(link.call, link.thread, tuple(map(named, reversed(link.frames))), link.how) for link in found]


def waiting(*threads: int) -> Script:
    """Each thread makes a call before and one after the pool's time, from 100 to 200, all from one line."""
    script = Script()
    for thread in threads:
        script.call(thread, 10, STATS, (*IN_F, 2)).call(thread, 300, STATS, (*IN_F, 3))
    return script


def test_the_only_thread_that_paused_at_one_line_is_linked_with_its_common_frames() -> None:
    script = waiting(MAIN).call(POOL, 100, COMPILE, NATIVE)
    assert script.links() == [(1, MAIN, IN_F, LinkEvidence.BETWEEN)]


def test_several_paused_threads_are_candidates() -> None:
    found = waiting(MAIN, OTHER).call(POOL, 100, COMPILE, NATIVE).links()
    assert found == [(2, thread, IN_F, LinkEvidence.CANDIDATES) for thread in (MAIN, OTHER)]


def test_the_first_user_of_the_result_is_preferred() -> None:
    script = waiting(MAIN).call(POOL, 100, COMPILE, NATIVE, executable="0x10")
    script.call(POOL, 150, NAMED, NATIVE, loaded_executable="0x10", executable="0x20")
    script.call(OTHER, 20, STATS, (*IN_G, 2)).call(OTHER, 250, PRINT, (*IN_G, 4), executable="0x20")
    assert script.links() == [(call, OTHER, IN_G, LinkEvidence.HANDED_OVER) for call in (2, 3)]


def test_a_thread_with_calls_in_between_did_not_wait() -> None:
    script = waiting(MAIN).call(POOL, 100, COMPILE, NATIVE, duration=50).call(MAIN, 120, STATS, (*IN_F, 2))
    assert script.links() == []


def test_a_paused_thread_is_not_linked_if_another_used_the_result() -> None:
    script = waiting(MAIN).call(POOL, 100, COMPILE, NATIVE, executable="0x10")
    script.call(OTHER, 250, "PJRT_LoadedExecutable_Execute", IN_G, executable="0x10")
    assert script.links() == []


def test_an_earlier_object_at_the_address_is_not_the_result() -> None:
    script = waiting(MAIN).call(POOL, 100, COMPILE, NATIVE, duration=60, executable="0x10")
    script.call(OTHER, 120, "PJRT_LoadedExecutable_Execute", IN_G, executable="0x10")
    assert script.links() == [(1, MAIN, IN_F, LinkEvidence.BETWEEN)]


def test_nobody_waits_for_a_destruction() -> None:
    assert waiting(MAIN).call(POOL, 100, DESTROY, NATIVE, executable="0x10").links() == []


def test_a_thread_that_moved_to_another_line_counts_only_if_no_other_has_python() -> None:
    script = Script().call(MAIN, 10, STATS, IN_F).call(MAIN, 300, STATS, IN_G).call(POOL, 100, COMPILE, NATIVE)
    assert script.links() == [(1, MAIN, ("module",), LinkEvidence.BETWEEN)]
    assert script.call(OTHER, 20, STATS, IN_F).links() == []


def test_a_nested_call_has_the_link_of_its_outer_call() -> None:
    script = waiting(MAIN).call(POOL, 100, COMPILE, NATIVE, duration=80).call(POOL, 120, STATS, (*NATIVE, 9))
    assert [(call, how) for call, _, _, how in script.links()] == [(1, LinkEvidence.BETWEEN), (2, LinkEvidence.BETWEEN)]


def test_a_sampled_recording_has_no_pause_links() -> None:
    capture = waiting(MAIN).call(POOL, 100, COMPILE, NATIVE).capture()
    assert links_of(replace(capture, metadata=Metadata(selected_by=("FRAMEDEX_SAMPLE",)))) == []


def test_an_unfinished_call_has_no_link() -> None:
    assert waiting(MAIN).call(POOL, 100, COMPILE, NATIVE, duration=-1).links() == []


def test_without_python_in_the_capture_there_are_no_links() -> None:
    assert Script().call(POOL, 100, COMPILE, NATIVE).links() == []


def test_damaged_arguments_have_no_objects() -> None:
    capture = waiting(MAIN).call(POOL, 100, COMPILE, NATIVE).capture()
    calls = replace(capture.calls, arguments=("{", "[1]", '{"executable": 5}'))
    assert [how for *_, how in links_of(replace(capture, calls=calls))] == [LinkEvidence.BETWEEN]

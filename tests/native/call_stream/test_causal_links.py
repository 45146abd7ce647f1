"""C++ infers the requesting stack call by call, with the same result as Python over a whole capture."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from framedex.captures import CaptureStream, read_capture
from framedex.model import (
    Capture,
    CodeObject,
    LinkEvidence,
    MergeOutcome,
    Metadata,
    Module,
    NativeFrame,
    PythonFrame,
    Stack,
)
from tests.native.call_stream.by_hand import Row, calls_of
from tests.native.call_stream.encoded import encoded
from tests.native.call_stream.linked import linked, linking, streamed_links, taken
from tests.native.call_stream.test_lifetimes import any_values
from tests.native.recorded import recorded
from tests.oracle.causal_links import find_causal_links

# Functions that connect work: they create programs and arrays, use them and destroy them.
FUNCTIONS = (
    "PJRT_Buffer_CopyToDevice",
    "PJRT_Buffer_Destroy",
    "PJRT_Client_Compile",
    "PJRT_Device_MemoryStats",
    "PJRT_Executable_Destroy",
    "PJRT_Executable_Fingerprint",
    "PJRT_LoadedExecutable_Execute",
    "PJRT_LoadedExecutable_GetExecutable",
)
FRAMES: tuple[NativeFrame | PythonFrame, ...] = (
    *(NativeFrame(0, offset) for offset in range(4)),
    *(PythonFrame(0, 2, 1) for _ in range(4)),
)
STACKS = (
    Stack((1, 5, 4)),
    Stack((2, 5, 4)),
    Stack((1, 6, 4)),
    Stack((1, 2, 7)),
    Stack((1, 2), (5, 4), MergeOutcome.NO_HOST),
    Stack((1, 5, 4), is_truncated=True),
    Stack((1, 2)),
    Stack((3, 2)),
)
NATIVE_STACKS = (6, 7)


@pytest.mark.exhaustive
@pytest.mark.parametrize("program", ["compiling.py", "threads.py"])
def test_links_of_a_real_program_equal_those_of_python(program: str) -> None:
    folder = recorded(program).capture
    capture = read_capture(folder)

    found = find_causal_links(capture)
    for at_once in (1000, 7):
        assert streamed_links(CaptureStream(folder), at_once) == found
    assert linked(capture, encoded(capture)) == found


@pytest.mark.exhaustive(keep=["0"])
@pytest.mark.parametrize("first_seed", range(0, 300, 20))
def test_links_of_random_threads_equal_those_of_python(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + 20):
        capture = any_threads(random.Random(seed))
        assert linked(capture, encoded(capture), batch=7) == find_causal_links(capture), seed


def test_random_threads_have_links_of_every_kind() -> None:
    """Otherwise the comparison would prove little."""
    found = {link.how for seed in range(20) for link in find_causal_links(any_threads(random.Random(seed)))}
    assert found == {LinkEvidence.HANDED_OVER, LinkEvidence.BETWEEN, LinkEvidence.CANDIDATES}


def test_a_call_that_returns_later_is_linked_on_return() -> None:
    """Following a capture while it is written gives the same final result."""
    rows: list[Row] = [
        (0, "PJRT_Device_MemoryStats", 0, 10, 0, {}),
        (1, "PJRT_Client_Compile", 20, 60, 0, {"executable": "0xe"}),
        (0, "PJRT_LoadedExecutable_Execute", 90, 10, 0, {"executable": "0xe"}),
    ]
    stacks = [0, NATIVE_STACKS[0], 0]
    capture = with_stacks(calls_of(rows), stacks)
    unreturned = with_stacks(calls_of([rows[0], (*rows[1][:3], -1, -1, rows[1][5]), rows[2]]), stacks)
    before, after = encoded(unreturned), encoded(capture)

    links = linking(capture, after)
    links.add(before.calls, 0, 2)
    links.returned(after.calls, 1)
    links.add(after.calls, 2, 3)
    links.finish()

    found = find_causal_links(capture)
    assert tuple(taken(links)) == found
    assert [link.how for link in found] == [LinkEvidence.HANDED_OVER]


def any_threads(random: random.Random) -> Capture:
    """Calls of threads with and without Python, concurrent and nested, that create, use and destroy few objects."""
    count, spread = random.choice((10, 40, 300)), random.choice((20, 1000, 100_000))
    python, pool = random.choice((1, 2, 3, 10)), random.choice((1, 3))
    quiet = random.choice((1, 5))  # Python threads make this factor fewer calls
    rows: list[Row] = []
    stacks: list[int] = []
    ends: dict[int, list[int]] = {}  # by thread: of the calls that enclose the next one
    for start in sorted(random.randrange(spread) for _ in range(count)):
        is_python = random.randrange(1 + quiet) == 0
        thread = random.randrange(python) if is_python else python + random.randrange(pool)
        name = random.choice(FUNCTIONS)
        duration = random.choice((0, 0, 1, 10, spread // 20, spread // 5, -1))
        enclosing = ends.setdefault(thread, [])
        enclosing[:] = [end for end in enclosing if end > start]
        if duration >= 0:
            enclosing.append(min([start + duration, *enclosing[-1:]]))
            duration = enclosing[-1] - start
        rows.append((thread, name, start, duration, 0, dict(any_values(name, random.choice((2, 10)), random))))
        stacks.append(random.randrange(len(STACKS)) if is_python else random.choice(NATIVE_STACKS))
    capture = with_stacks(calls_of(rows), stacks)
    lacks_calls = random.random() < 0.1
    return replace(capture, metadata=Metadata(selected_by=("FRAMEDEX_INCLUDE",) if lacks_calls else ()))


def with_stacks(capture: Capture, stacks: list[int]) -> Capture:
    """The capture with one of STACKS for each call."""
    return replace(
        capture,
        modules=(Module("/lib/x.so", 0, 1, None, ""),),
        codes=(CodeObject("/x.py", "f", 1, b""),),
        frames=FRAMES,
        stacks=STACKS,
        calls=replace(capture.calls, stack=np.array(stacks, np.uint32)),
    )

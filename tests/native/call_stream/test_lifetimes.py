"""C++ tracks objects call by call, with the same result as Python over a whole capture."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from framedex.captures import CaptureStream, read_capture
from framedex.model import Capture
from framedex.programs.objects import ObjectRole
from framedex.programs.objects.table import BoundaryFunction, ObjectField, load_boundary_functions
from tests.native.call_stream.by_hand import Row, calls_of
from tests.native.call_stream.encoded import Following, encoded, followed, streamed
from tests.native.recorded import recorded
from tests.oracle.lifetimes import Lifetimes, follow_objects

# The most difficult functions: creations, second names, deletions, lists, ids, callbacks, unseen errors.
FUNCTIONS = (
    "PJRT_Buffer_CopyToDevice",
    "PJRT_Buffer_Delete",
    "PJRT_Buffer_Destroy",
    "PJRT_Buffer_Device",
    "PJRT_Buffer_IsDeleted",
    "PJRT_Buffer_ReadyEvent",
    "PJRT_Client_BufferFromHostBuffer",
    "PJRT_Client_Create",
    "PJRT_Client_Destroy",
    "PJRT_Client_Devices",
    "PJRT_Client_LookupDevice",
    "PJRT_Client_TopologyDescription",
    "PJRT_Error_Destroy",
    "PJRT_Error_Message",
    "PJRT_Event_Destroy",
    "PJRT_Event_OnReady",
    "PJRT_LoadedExecutable_Execute",
    "PJRT_Memory_Id",
    "PJRT_Plugin_Initialize",
    "PJRT_TopologyDescription_Destroy",
)


@pytest.mark.exhaustive(keep=["misuse.py"])
@pytest.mark.parametrize(
    "program", ["arrays.py", "threads.py", "misuse.py", "failing_programs.py", "client_functions.py"]
)
def test_objects_of_a_real_program_equal_those_of_python(program: str) -> None:
    folder = recorded(program).capture
    capture = read_capture(folder)

    found = follow_objects(capture)

    assert found.objects
    # The stream does not contain the ownership of objects.
    objects = tuple(replace(known, is_foreign=False) for known in found.objects)
    for at_once in (1000, 7):
        assert streamed(CaptureStream(folder), at_once) == Lifetimes(objects, found.violations)
    assert followed(encoded(capture)) == found


@pytest.mark.exhaustive(keep=["0"])
@pytest.mark.parametrize("first_seed", range(0, 200, 20))
def test_contradictory_calls_are_followed_as_in_python(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + 20):
        capture = any_calls(random.Random(seed))
        assert followed(encoded(capture)) == follow_objects(capture), seed


@pytest.mark.exhaustive(keep=["7"])
@pytest.mark.parametrize("batch", [1, 7, 100])
def test_rows_taken_early_equal_those_of_the_whole(batch: int) -> None:
    """With rows taken after every few calls, a row that changes later is returned again."""
    capture = any_calls(random.Random(batch))

    assert followed(encoded(capture), batch) == follow_objects(capture)


def test_a_call_that_returns_later_creates_its_objects_on_return() -> None:
    """Following a capture while it is written gives the same final result."""
    rows: list[Row] = [
        (0, "PJRT_Client_Create", 0, 10, 0, {"client": "0x1"}),
        (1, "PJRT_Client_BufferFromHostBuffer", 20, 60, 0, {"client": "0x1", "buffer": "0xb", "bytes": 64}),
        (0, "PJRT_Plugin_Initialize", 30, 10, 0, {}),
        (0, "PJRT_Buffer_Device", 90, 10, 0, {"buffer": "0xb", "device": "0xd"}),
    ]

    found = _returning_late(rows, late={1}, before=3)

    assert found == follow_objects(calls_of(rows))
    assert [each.size for each in found.objects if each.type == "buffer"] == [64]


def test_a_copy_has_the_size_of_its_source_and_run_results_have_none() -> None:
    """If a run's result has an unknown size, its copy has an unknown size too."""
    made = {"client": "0x1", "buffer": "0xb", "bytes": 64}
    run = {"executable": "0xe", "argument_lists": [["0xb"]], "output_lists": [["0xf"]]}
    rows: list[Row] = [
        (0, "PJRT_Client_Create", 0, 10, 0, {"client": "0x1"}),
        (0, "PJRT_Client_BufferFromHostBuffer", 20, 10, 0, made),
        (0, "PJRT_Buffer_CopyToDevice", 40, 10, 0, {"buffer": "0xb", "dst_device": "0xd", "dst_buffer": "0xc"}),
        (0, "PJRT_LoadedExecutable_Execute", 60, 10, 0, run),
        (0, "PJRT_Buffer_CopyToDevice", 80, 10, 0, {"buffer": "0xf", "dst_device": "0xd", "dst_buffer": "0x10"}),
    ]
    capture = calls_of(rows)

    found = followed(encoded(capture))

    assert found == follow_objects(capture)
    assert [each.size for each in found.objects if each.type == "buffer"] == [64, 64, None, None]


def test_a_destruction_that_fails_later_has_no_effect() -> None:
    rows: list[Row] = [
        (0, "PJRT_Client_Create", 0, 10, 0, {"client": "0x1"}),
        (1, "PJRT_Client_Destroy", 20, 60, 13, {"client": "0x1"}),
        (0, "PJRT_Client_Devices", 90, 10, 0, {"client": "0x1", "devices": ["0xd"]}),
    ]

    found = _returning_late(rows, late={1}, before=2)

    assert found == follow_objects(calls_of(rows))
    assert found.violations == ()


def test_an_object_is_in_use_only_until_the_call_returns() -> None:
    rows: list[Row] = [
        (1, "PJRT_Event_Await", 20, 60, 0, {"event": "0xe"}),
        (0, "PJRT_Plugin_Initialize", 30, 10, 0, {}),
        (0, "PJRT_Event_Destroy", 90_000, 10, 0, {"event": "0xe"}),
    ]

    assert _returning_late(rows, late={0}, before=2) == follow_objects(calls_of(rows))


def _returning_late(rows: list[Row], late: set[int], before: int) -> Lifetimes:
    """The objects of these calls, some of which return only after those of `before` have been seen."""
    whole = encoded(calls_of(rows))
    unreturned = encoded(calls_of([(*row[:3], -1, -1, row[5]) if i in late else row for i, row in enumerate(rows)]))
    following = Following(whole.functions)
    following.add(unreturned.calls, 0, before)
    for row in late:
        following.returned(whole.calls, row)
    following.add(whole.calls, before, len(rows))
    return following.finish()


def any_calls(random: random.Random) -> Capture:
    """Calls of few addresses on some threads: nested, concurrent, unreturned, failed, with truncated lists."""
    count = random.choice((5, 50, 500))
    spread = random.choice((100, 20_000, 1_000_000))
    addresses = random.choice((2, 5, 20))
    threads = random.choice((1, 3))
    rows: list[Row] = []
    for start in sorted(random.randrange(spread) for _ in range(count)):
        name = random.choice(FUNCTIONS)
        duration = random.choice((-1, 0, 10, 50, 1000, 30_000))
        error = random.choice((-1, 0, 0, 0, 0, 0, 13))
        values = dict(any_values(name, addresses, random))
        rows.append((random.randrange(threads), name, start, duration, error, values))
    return calls_of(rows)


def any_values(name: str, addresses: int, random: random.Random) -> Iterator[tuple[str, object]]:
    function = load_boundary_functions().get(name, BoundaryFunction())
    for field in function.objects:
        if random.random() < 0.9:
            yield field.name, _any_object(field, addresses, random)
    if random.random() < 0.5:
        yield "bytes", random.choice((0, 64, 1 << 40, True, "64"))
    if random.random() < 0.7:
        yield "id", random.choice((0, 1, 2, 3, -5, 1 << 40, "1"))
    if function.reports_deletion is not None:
        yield function.reports_deletion, random.choice((True, False, 1))
    if random.random() < 0.05:
        yield "more_values_not_recorded", True


def _any_object(field: ObjectField, addresses: int, random: random.Random) -> object:
    # Clients are few, as in a real program, so that many objects have one.
    most = 2 if field.type == "client" and field.role is not ObjectRole.DESTROYS else addresses
    address = [hex(16 + random.randrange(most)) if random.random() < 0.95 else None for _ in range(4)]
    if not field.is_list or random.random() < 0.1:
        return random.choice((address[0], address[0], address[0], address[0], 7, "text", [address[0]]))
    return random.choice((address[: random.randrange(4)], [address[:2], address[2:]], [[]], [1, 2]))

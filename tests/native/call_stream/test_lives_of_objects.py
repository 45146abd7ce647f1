"""Which objects are tracked, and which calls are violations; synthetic only if no program can produce it on demand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from framedex.captures import read_capture
from framedex.model import Capture
from framedex.programs.objects import ViolationKind
from tests.native.call_stream.by_hand import calls_of
from tests.native.call_stream.encoded import encoded, followed
from tests.native.recorded import recorded
from tests.oracle.lifetimes import Lifetimes, RecordedObject

CallWithoutError = tuple[int, str, int, int, Mapping[str, object]]  # thread, function, start, duration, arguments

CREATE, DESTROY, USE = "PJRT_Event_Create", "PJRT_Event_Destroy", "PJRT_Event_IsReady"
CLIENT = (0, "PJRT_Client_Create", 0, 1, {"client": "0x1"})


def followed_natively(capture: Capture) -> Lifetimes:
    return followed(encoded(capture))


def capture_of(*rows: CallWithoutError, errors: dict[int, int] | None = None) -> Capture:
    """A capture of these calls, in order of their starts; `errors` by their positions."""
    return calls_of([(*row[:4], (errors or {}).get(place, 0), row[4]) for place, row in enumerate(rows)])


def of_type(lifetimes: Lifetimes, kind: str) -> list[RecordedObject]:
    return [found for found in lifetimes.objects if found.type == kind]


def kinds(lifetimes: Lifetimes) -> list[ViolationKind]:
    return [violation.kind for violation in lifetimes.violations]


def test_every_object_of_a_real_program_lives_from_creation_to_destruction() -> None:
    capture = read_capture(recorded("arrays.py").capture)

    lifetimes = followed_natively(capture)

    created = [found for found in lifetimes.objects if found.created_call is not None]
    assert len([found for found in created if found.type == "buffer"]) > 100
    assert all(found.destroyed_call is not None for found in created)
    assert len({found.address for found in created}) < len(created), "addresses are used again"
    assert lifetimes.violations == ()
    names = [(found.type, found.number) for found in lifetimes.objects]
    assert len(set(names)) == len(names)


def test_concurrent_frees_and_allocations_are_not_misuse() -> None:
    capture = read_capture(recorded("threads.py").capture)

    lifetimes = followed_natively(capture)

    assert len(of_type(lifetimes, "buffer")) == 8 * 200
    assert lifetimes.violations == ()


def test_a_reused_address_is_another_object() -> None:
    lifetimes = followed_natively(
        capture_of(
            (0, CREATE, 10, 5, {"event": "0xa"}),
            (0, DESTROY, 20, 5, {"event": "0xa"}),
            (0, CREATE, 30, 5, {"event": "0xa"}),
            (0, USE, 40, 5, {"event": "0xa"}),
        )
    )

    first, second = lifetimes.objects
    assert (first.number, first.destroyed_call, second.number, second.destroyed_call) == (1, 1, 2, None)
    assert (second.born, second.uses) == (35, 1)


def test_an_address_freed_during_a_creation_on_another_thread_is_the_new_object() -> None:
    """If a creation began before a destruction and completed after it, its object is alive."""
    lifetimes = followed_natively(
        capture_of(
            (0, CREATE, 10, 5, {"event": "0xa"}),
            (1, CREATE, 20, 100, {"event": "0xa"}),
            (0, DESTROY, 30, 5, {"event": "0xa"}),
            (1, USE, 200, 5, {"event": "0xa"}),
        )
    )

    assert kinds(lifetimes) == []
    assert [found.destroyed_call for found in lifetimes.objects] == [2, None]


def test_clocks_of_two_threads_may_differ_slightly() -> None:
    """If another thread's clock shows a use some nanoseconds before the creation completed, this is not a violation."""
    lifetimes = followed_natively(
        capture_of(CLIENT, (0, CREATE, 100_000, 500, {"event": "0xa"}), (1, DESTROY, 100_400, 100, {"event": "0xa"}))
    )

    assert kinds(lifetimes) == []
    assert [found.destroyed_call for found in of_type(lifetimes, "event")] == [2]


def test_a_pointer_returned_twice_must_be_destroyed_twice() -> None:
    rows = [(0, CREATE, 10, 5, {"event": "0xa"}), (0, CREATE, 20, 5, {"event": "0xa"})]
    destroys = [(0, DESTROY, 30 + 10 * place, 5, {"event": "0xa"}) for place in range(3)]

    assert kinds(followed_natively(capture_of(*rows, *destroys[:2]))) == []
    assert kinds(followed_natively(capture_of(*rows, *destroys))) == [ViolationKind.DOUBLE_DESTROY]


def test_error_addresses_are_weak_evidence_as_errors_are_created_unrecorded() -> None:
    """An error's address that returns after another failed call is a new error."""
    use = "PJRT_Error_Message"
    rows: list[CallWithoutError] = [
        (0, CREATE, 10, 5, {}),
        (0, use, 20, 5, {"error": "0xe"}),
        (0, "PJRT_Error_Destroy", 30, 5, {"error": "0xe"}),
        (0, CREATE, 40, 5, {}),
        (0, use, 50, 5, {"error": "0xe"}),
    ]

    assert kinds(followed_natively(capture_of(CLIENT, *rows, errors={1: 8, 4: 8}))) == []


def test_unrecorded_outputs_are_not_misuse() -> None:
    """If an execution's list of outputs was truncated, an unknown buffer may be one of them."""
    execute = (0, "PJRT_LoadedExecutable_Execute", 10, 5, {"executable": "0xf", "output_lists": "0x77"})
    destroy = (0, "PJRT_Buffer_Destroy", 30, 5, {"buffer": "0xb"})
    again = (0, "PJRT_Buffer_Destroy", 50, 5, {"buffer": "0xb"})
    second = (0, "PJRT_LoadedExecutable_Execute", 40, 5, {"executable": "0xf", "output_lists": "0x78"})

    assert kinds(followed_natively(capture_of(CLIENT, execute, destroy))) == []
    assert kinds(followed_natively(capture_of(CLIENT, execute, destroy, second, again))) == []
    assert kinds(followed_natively(capture_of(CLIENT, execute, destroy, again))) == [ViolationKind.DOUBLE_DESTROY]


def test_outputs_of_an_execution_are_separate_objects() -> None:
    outputs = {"output_lists": [["0xb1"], ["0xb2"]], "device_complete_events": ["0xe1"]}
    inputs = {"executable": "0xf", "argument_lists": [["0xb0"], ["0xb0"]]}
    execute = (0, "PJRT_LoadedExecutable_Execute", 10, 5, inputs | outputs)

    lifetimes = followed_natively(capture_of(execute))

    assert [found.created_call for found in of_type(lifetimes, "buffer")] == [None, 0, 0]
    assert [found.created_call for found in of_type(lifetimes, "event")] == [0]


def test_objects_older_than_the_recording_are_not_misuse() -> None:
    destroy = (0, DESTROY, 10, 5, {"event": "0xa"})

    assert kinds(followed_natively(capture_of(destroy))) == []
    assert kinds(followed_natively(capture_of(CLIENT, destroy))) == [ViolationKind.UNKNOWN_DESTROY]


def test_a_failed_destruction_destroys_nothing() -> None:
    rows: list[CallWithoutError] = [(0, CREATE, 10, 5, {"event": "0xa"}), (0, DESTROY, 20, 5, {"event": "0xa"})]

    lifetimes = followed_natively(capture_of(*rows, (0, USE, 30, 5, {"event": "0xa"}), errors={1: 12}))

    assert kinds(lifetimes) == []
    assert lifetimes.objects[0].destroyed_call is None


def test_objects_are_numbered_by_runtime_ids_if_all_have_one() -> None:
    devices = (0, "PJRT_Client_Devices", 10, 5, {"client": "0x1", "devices": ["0xd7", "0xd9"]})
    look_ups = [
        (0, "PJRT_Client_LookupDevice", 20 + place, 1, {"client": "0x1", "id": number, "device": f"0xd{number}"})
        for place, number in enumerate((9, 7))
    ]

    def numbers(capture: Capture) -> list[int]:
        return [found.number for found in of_type(followed_natively(capture), "device")]

    assert numbers(capture_of(CLIENT, devices, *look_ups)) == [7, 9]
    assert numbers(capture_of(CLIENT, devices, look_ups[0])) == [1, 2]


def test_arguments_of_a_damaged_capture_are_skipped() -> None:
    whole = capture_of((0, CREATE, 10, 5, {"event": "0xa"}), (0, USE, 20, 5, {"event": "0xa"}))
    damaged = replace(whole, calls=replace(whole.calls, arguments=('{"event": "0xzz"}', "no JSON")))

    assert followed_natively(damaged) == Lifetimes()

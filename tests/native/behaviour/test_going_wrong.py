"""Behaviours that fail, or return invalid values: the program gets an error and continues."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from tests.running import Run, mock_environment

PROGRAM = r"""
import json
import threading

import jax
import jax.numpy as jnp
import numpy as np

from framedex_native.behaviour import Failed, active, on, runs
from framedex_native.behaviour.table_calls import call_table
from framedex_native.behaviour.objects import devices_of

PUT, EXECUTE = "PJRT_Client_BufferFromHostBuffer", "PJRT_LoadedExecutable_Execute"
reports = {}


def error_of(call):
    try:
        call()
    except Exception as error:
        return str(error).splitlines()[0]


@jax.jit
def double(x):
    return x * 2


def put():
    return jax.device_put(np.ones(3))


def failing(code, text):
    return lambda call: call.fail(code, text)


x = jnp.arange(3.0)
double(x)
with active():

    @on(PUT)
    def goes_on(call):
        try:
            call.run()
        except Failed:
            reports["of what failed"] = error_of(lambda: call.result)

    on(PUT)(failing("ABORTED", "inside"))
    reports["left"] = error_of(put)

with active():

    @on(EXECUTE)
    def mends(call):
        try:
            call.run()
        except Failed:
            (buffer,) = call.arguments.argument_lists[0]
            (device,) = devices_of(call.arguments.executable)
            copy = call_table("PJRT_Buffer_CopyToDevice", buffer=buffer, dst_device=device).dst_buffer
            call.result = {"output_lists": [[copy]]}

    on(EXECUTE)(failing("ABORTED", "inside"))
    reports["mended"] = double(x).tolist()

with active():

    @runs("jit_double")
    def mends_program(program):
        try:
            program.run()
        except Failed:
            program.outputs = program.inputs[0] + 1

    on(EXECUTE)(failing("ABORTED", "inside"))
    reports["mended program"] = double(x).tolist()

results = (
    lambda call: {},
    lambda call: {"output_lists": [[], []]},
    lambda call: {"output_lists": [call.run().output_lists[0] * 2]},
    lambda call: {"output_lists": [[None]]},
    lambda call: call.run() and {"output_lists": [[None]]},
)
reports["no results"] = []
for result in results:
    with active():

        @on(EXECUTE)
        def gives(call):
            call.result = result(call)

        reports["no results"].append(error_of(lambda: double(x)))
with active():

    @on(PUT)
    def gives_none(call):
        call.run()
        call.result = {"buffer": None}

    reports["no results"].append(error_of(put))


class Mute(Exception):
    def __str__(self):
        raise ValueError("no text")


def raising(error):
    def raised(call):
        raise error

    return raised


reports["odd errors"] = []
for odd in (
    raising(Mute()),
    raising(ValueError("\ud800 \0 \udcff")),
    failing("ABORTED", "\udcff"),
    failing("ABORTED", 5),
    lambda call: raising(Failed("NONE", "of these"))(call),
):
    with active():
        on(PUT)(odd)
        reports["odd errors"].append(error_of(put))

with active():
    held = {}

    @on(EXECUTE)
    def holds(call):
        held.update(call.arguments)
        reports["launch"] = call.arguments.options.launch_id

    double(x)
double(x)
reports["held"] = [held["options"].launch_id, error_of(lambda: setattr(held["options"], "launch_id", 1))]


async def waits(call):
    yield


class Waits:
    async def __call__(self, call):
        pass


reports["only begin"] = [error_of(lambda: on(PUT)(each)) for each in (waits, Waits())]
opened, put_on, seen = threading.Event(), threading.Event(), []


def has_a_block():
    with active():
        opened.set()
        put_on.wait()


other = threading.Thread(target=has_a_block)
other.start()
opened.wait()
with active():
    on(PUT)(lambda call: seen.append(call.function))
    put_on.set()
    other.join()
    put()
reports["seen"] = list(seen)
with active():
    with active():
        pass
    on(PUT)(lambda call: seen.append("after the inner block"))
put()
reports["seen at the end"] = seen

reports["after"] = [double(x).tolist(), put().tolist()]
print(json.dumps(reports))
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("behaviours")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    environment = mock_environment(folder) | {"FRAMEDEX_RECORD": "0"}
    result: dict[str, Any] = Run.of([sys.executable, str(program)], folder, environment, 120).result
    return result


def test_a_caught_but_unanswered_error_is_the_error_of_the_call(reports: dict[str, Any]) -> None:
    assert reports["left"] == "ABORTED: inside"
    assert reports["of what failed"].endswith("failed and has no result: set call.result to replace the failure")


def test_a_failed_call_can_be_answered(reports: dict[str, Any]) -> None:
    assert reports["mended"] == [0, 1, 2]
    assert reports["mended program"] == [1, 2, 3]


def test_an_unsupported_result_is_an_error_and_the_program_continues(reports: dict[str, Any]) -> None:
    messages = [
        "lacks output_lists: set it, or run the call first",
        "output_lists: the program has 1 results on each device, got 0",
        "output_lists: the program has 1 results on each device, got 2",
        "output_lists: expected a PJRT_Buffer, got None",
        "output_lists: expected a PJRT_Buffer, got None",
        "buffer: expected a PJRT_Buffer, got None",
    ]
    for found, wanted in zip(reports["no results"], messages, strict=True):
        assert found.endswith(wanted)
    assert reports["after"] == [[0, 2, 4], [1, 1, 1]]


def test_errors_with_any_text_name_the_behaviour(reports: dict[str, Any]) -> None:
    mute, odd, no_text, number, code = reports["odd errors"]
    assert mute.startswith("INTERNAL: the behaviour raising.<locals>.raised (")
    assert mute.endswith("raised Mute: <it has no text>")
    assert odd.endswith(r"raised ValueError: \ud800 \0 \udcff")
    assert no_text == r"ABORTED: \udcff"
    assert number.endswith("raised TypeError: an error message must be a str, not int")
    assert "raised ValueError: 'NONE' is not an error code" in code


def test_argument_structs_outlive_the_call_read_only(reports: dict[str, Any]) -> None:
    launch, refusal = reports["held"]
    assert launch == reports["launch"]
    assert "launch_id" in refusal


def test_a_block_does_not_affect_other_threads(reports: dict[str, Any]) -> None:
    assert reports["seen"] == ["PJRT_Client_BufferFromHostBuffer"]


def test_a_behaviour_attached_after_an_inner_block_ends_with_the_outer_one(reports: dict[str, Any]) -> None:
    assert reports["seen at the end"] == reports["seen"]


def test_a_generator_function_is_not_a_behaviour(reports: dict[str, Any]) -> None:
    assert all("is a coroutine or a generator" in each for each in reports["only begin"])

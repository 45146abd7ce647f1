"""Python functions that replace functions of the runtime: JAX programs with them, on the mock TPU."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.guidebook.observations import observe
from framedex.index import open_index
from tests.once import made_once
from tests.running import Run, mock_environment

PROGRAM = """
import json
import sys
import threading

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from framedex_native.behaviour import Failed, active, chip, on, runs

told = {}


def tell(name, value):
    told[name] = value


def error_of(call):
    try:
        call()
    except Exception as error:
        return str(error).splitlines()[0]


@jax.jit
def double(x):
    return x * 2


@jax.jit
def pair(x, y):
    return x + y, x[::-1]


calls = []
with active():

    @on("PJRT_Client_BufferFromHostBuffer")
    def outer(call):
        calls.append(("outer", call.arguments.dims, call.arguments.type, call.arguments.bytes, str(call.line)))
        result = call.run()
        calls.append(result.buffer == call.result.buffer)

    @on("PJRT_Client_BufferFromHostBuffer", "DeviceMemory::Allocate")
    def inner(call):
        calls.append((call.function, [frame.name for frame in call.stack()][0]))

    x = jax.device_put(np.arange(4, dtype=np.float32))  # the line
tell("calls", calls)

with active():

    @on("DeviceMemory::Allocate")
    def full(call):
        call.fail("RESOURCE_EXHAUSTED", "the behaviour says no")

    tell("allocation", error_of(lambda: jax.device_put(np.ones(3))))

with active():

    @on("PJRT_Client_BufferFromHostBuffer")
    def late(call):
        call.run()
        call.fail("DATA_LOSS", "lost")

    tell("late", error_of(lambda: jax.device_put(np.ones(3))))

in_use = jax.devices()[0].memory_stats()["bytes_in_use"]
with active():

    @on("PJRT_LoadedExecutable_Execute")
    def late_program(call):
        call.run()
        call.fail("DATA_LOSS", "lost")

    @runs("jit_double")
    def answers(program):
        program.outputs = program.inputs[0]

    error = error_of(lambda: double(x))
tell("released", [error, jax.devices()[0].memory_stats()["bytes_in_use"] - in_use])

with active():

    @on("PJRT_LoadedExecutable_Execute")
    def leaves(call):
        sys.exit(3)

    tell("left", error_of(lambda: double(x)))

with active():

    @on("PJRT_Executable_NumOutputs")
    def elsewhere(call):
        tell("elsewhere", [str(call.line), call.stack()[0].name, threading.current_thread() is threading.main_thread()])

    jax.jit(lambda v: v - 1)(x)  # another line

with active():
    copies = []

    @on("PJRT_Buffer_CopyTo*", "DeviceMemory::Allocate")
    def within(call):
        copies.append([call.function, str(call.line)])
        call.run()

    jax.device_put(x, jax.devices()[1])  # a third line
tell("copies", copies)

with active():

    @on("PJRT_Client_BufferFromHostBuffer")
    def recovers(call):
        try:
            call.run()
        except Failed as failed:
            tell("caught", [failed.code, failed.text])
            raise

    @on("PJRT_Client_BufferFromHostBuffer")
    def fails(call):
        call.fail("ABORTED", "inside")

    tell("through", error_of(lambda: jax.device_put(np.ones(3))))

with active():

    @on("PJRT_Client_BufferFromHostBuffer")
    def raises(call):
        kept.append(call)
        return {}["nothing"]

    kept = []
    tell("raised", error_of(lambda: jax.device_put(np.ones(3))))


def use_after():
    return kept[0].arguments


tell("ended", error_of(use_after))
tell("after", float(jax.device_put(np.ones(3)).sum()))

with active():

    @on("PJRT_Device_MemoryStats")
    def statistics(call):
        call.result = {"bytes_in_use": 5, "bytes_limit": 7}

    stats = jax.devices()[0].memory_stats()
    tell("statistics", [stats["bytes_in_use"], stats["bytes_limit"]])

with active():
    chip(memory=1000)
    limit = jax.devices()[0].memory_stats()["bytes_limit"]
    tell("chip", [error_of(lambda: jax.device_put(np.ones(4096, np.uint8))), limit])

with active():

    @runs("jit_double")
    def tenfold(program):
        (value,) = program.inputs
        tell("input", [str(value.dtype), value.tolist(), value.flags.writeable])
        program.outputs = value * 10

    tell("tenfold", double(x).tolist())
    tell("others", (x + 1).tolist())

with active():

    @runs("jit_pair")
    def changed(program):
        program.run()
        first, second = program.outputs
        program.outputs = first, second + 0.5

    tell("changed", [each.tolist() for each in pair(x, x)])

with active():

    @runs("jit_total")
    def of_scalars(program):
        tell("scalar results", list(map(str, program.results)))
        program.outputs = program.inputs[0].sum() + program.inputs[1]

    def total(x, y):
        return x.sum() * y

    tell("scalar", float(jax.jit(total)(x, np.float32(0.5))))

with active():

    @runs("jit_double")
    def wrong(program):
        program.outputs = np.zeros(3)

    tell("wrong", error_of(lambda: double(x)))

with active():

    @runs("jit__lambda")
    def small(program):
        (value,) = program.inputs
        tell("small", [str(value.dtype), value.astype(np.float32).tolist()])
        program.outputs = value[::-1]

    for dtype in (jnp.bfloat16, jnp.int4):
        y = jnp.asarray(np.array([1, 2]), dtype)
        tell(f"of {np.dtype(dtype)}", np.asarray(jax.jit(lambda v: v)(y)).astype(np.float32).tolist())

with active():

    @runs("jit_add_one")
    def donated(program):
        program.outputs = program.inputs[0] * 0

    def add_one(v):
        return v + 1

    z = jnp.ones(8)
    tell("donated", [jax.jit(add_one, donate_argnums=0)(z).tolist(), z.is_deleted()])

mesh = jax.make_mesh((2,), ("d",))
sharded = jax.device_put(np.arange(4.0, dtype=np.float32), jax.NamedSharding(mesh, jax.P("d")))
with active():

    @runs("jit_double")
    def shards(program):
        tell("only", error_of(lambda: program.inputs))
        for number, shard in enumerate(program.shards):
            shard.outputs = shard.inputs[0] + 100 * number

    tell("shards", double(sharded).tolist())

tell("refused", [error_of(lambda: on("PJRT_Cleint_Create")), error_of(lambda: on("PJRT_Compile")(lambda: 1))])
attributes = {"f": 1.5}, {"b": True}, {"l": [0, 1 << 63]}, {"t": "\\ud800"}
chips = {"kind": 7}, {"kind": "\\udcff"}, {"memory": 1.5}, *({"attributes": each} for each in attributes)
tell("no chips", [error_of(lambda: chip(**each)) for each in chips])
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("behaviours")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    environment = mock_environment(folder) | {"FRAMEDEX_DEVICES": "2", "FRAMEDEX_RECORD": "0"}
    result: dict[str, Any] = Run.of([sys.executable, str(program)], folder, environment, 120).result
    return result


def test_behaviours_of_a_function_are_nested_and_see_typed_arguments(told: dict[str, Any]) -> None:
    line = PROGRAM.splitlines().index("    x = jax.device_put(np.arange(4, dtype=np.float32))  # the line") + 1
    assert told["calls"] == [
        ["outer", [4], "F32", 16, f"program.py:{line}"],
        ["PJRT_Client_BufferFromHostBuffer", "<module>"],
        ["DeviceMemory::Allocate", "<module>"],
        True,
    ]


def test_a_behaviour_makes_calls_fail_with_its_message(told: dict[str, Any]) -> None:
    assert told["allocation"] == "RESOURCE_EXHAUSTED: the behaviour says no"
    assert told["late"] == "DATA_LOSS: lost"
    assert told["caught"] == ["ABORTED", "inside"]
    assert told["through"] == "ABORTED: inside"


def test_an_exception_in_a_behaviour_is_the_error_of_the_call(told: dict[str, Any]) -> None:
    assert str(told["raised"]).startswith("INTERNAL: the behaviour raises (")
    assert str(told["raised"]).endswith("raised KeyError: 'nothing'")
    assert told["after"] == 3


def test_sys_exit_in_a_behaviour_is_an_error_of_the_call(told: dict[str, Any]) -> None:
    assert re.fullmatch(r"INTERNAL: the behaviour leaves \(.*\) raised SystemExit: 3", told["left"])


def test_outputs_are_released_if_the_run_fails_later(told: dict[str, Any]) -> None:
    assert told["released"] == ["DATA_LOSS: lost", 0]


def test_a_behaviour_on_a_framedex_thread_has_the_callers_line(told: dict[str, Any]) -> None:
    line = PROGRAM.splitlines().index("    jax.jit(lambda v: v - 1)(x)  # another line") + 1
    assert told["elsewhere"] == [f"program.py:{line}", "<module>", False]


def test_nested_calls_have_the_callers_line(told: dict[str, Any]) -> None:
    line = PROGRAM.splitlines().index("    jax.device_put(x, jax.devices()[1])  # a third line") + 1
    assert {where for _, where in told["copies"]} == {f"program.py:{line}"}
    assert any(function.startswith("PJRT_Buffer_CopyTo") for function, _ in told["copies"])
    assert told["copies"][-1][0] == "DeviceMemory::Allocate"


def test_a_finished_call_cannot_be_used(told: dict[str, Any]) -> None:
    assert "has ended: copy values before the behaviour returns" in str(told["ended"])


def test_results_can_replace_those_of_the_runtime(told: dict[str, Any]) -> None:
    assert told["statistics"] == [5, 7]
    failed, limit = told["chip"]
    assert failed.startswith("RESOURCE_EXHAUSTED: ") and "of 1000 bytes are in use" in failed
    assert limit == 1000


def test_a_program_gets_inputs_and_returns_outputs_as_arrays(told: dict[str, Any]) -> None:
    assert told["input"] == ["float32", [0, 1, 2, 3], False]
    assert told["tenfold"] == [0, 10, 20, 30]
    assert told["others"] == [1, 2, 3, 4]
    assert told["changed"] == [[0, 2, 4, 6], [3.5, 2.5, 1.5, 0.5]]


def test_a_program_with_scalar_results_has_results(told: dict[str, Any]) -> None:
    assert told["scalar results"] == ["F32[]"]
    assert told["scalar"] == 6.5


def test_outputs_of_another_type_are_refused_by_name(told: dict[str, Any]) -> None:
    assert "result 0 of jit_double must be float32[4], not float64[3]" in str(told["wrong"])


def test_types_missing_from_numpy_come_from_ml_dtypes(told: dict[str, Any]) -> None:
    assert told["of bfloat16"] == [2, 1]
    assert told["of int4"] == [2, 1]
    assert told["small"] == ["int4", [1, 2]]


def test_donated_arguments_are_deleted(told: dict[str, Any]) -> None:
    assert told["donated"] == [[0] * 8, True]


def test_a_program_on_several_devices_has_arrays_per_device(told: dict[str, Any]) -> None:
    assert told["only"] == "jit_double runs not on one device but on 2: use `shards`, one for each"
    assert told["shards"] == [0, 1, 102, 103]


def test_invalid_behaviours_are_refused(told: dict[str, Any]) -> None:
    name, function = told["refused"]
    assert "Did you mean PJRT_Client_Create" in name
    assert "must accept the call as its only argument" in function


def test_impossible_devices_are_refused_as_chips(told: dict[str, Any]) -> None:
    begins = [
        "a chip's kind",
        "a chip's kind",
        "a chip's memory",
        *(f"the attribute '{name}' cannot be" for name in "fblt"),
    ]
    assert [each[: len(begin)] for each, begin in zip(told["no chips"], begins, strict=True)] == begins


RECORDED = """
import time

from framedex_native.behaviour import on


@on("PJRT_Client_BufferFromHostBuffer")
def put(call):
    call.run()  # the behaviour's line
    time.sleep(1)


@on("PJRT_Client_Compile")
def broken(call):
    raise ValueError("broken")


@on("PJRT_Error_Message")
def void(call):
    raise ValueError("of no error")
"""


@pytest.fixture(scope="module")
def recorded() -> tuple[Path, Run]:
    def make(folder: Path) -> Run:
        (folder / "mine.py").write_text(RECORDED)
        program = "import jax, numpy as np\nx = jax.device_put(np.ones(3))\ntry: x + 1\nexcept Exception: print('[1]')"
        environment = mock_environment(folder) | {
            "FRAMEDEX_BEHAVIOUR": str(folder / "mine.py"),
            "FRAMEDEX_BEHAVIOUR_PATIENCE": "0.2",
        }
        return Run.of([sys.executable, "-c", program], folder, environment, 120)

    run = made_once("behaviours", make)
    return run.capture, run


def framedex(folder: Path, *words: str) -> Any:
    """The output of a command for the project in `folder`; parsed if it is JSON."""
    with contextlib.chdir(folder):
        done = CliRunner().invoke(cli, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout) if "--json" in words else done.stdout


@pytest.fixture(scope="module")
def project(recorded: tuple[Path, Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recorded")
    framedex(folder, "index", str(recorded[0]))
    return folder


def test_frames_of_a_recorded_stack_name_behaviour_lines(project: Path) -> None:
    shown = framedex(project, "trace", "DeviceMemory::Allocate")
    line = RECORDED.splitlines().index("    call.run()  # the behaviour's line") + 1
    assert re.search(rf"\bput\b.*mine\.py:{line}\b", shown), shown


def test_a_guidebook_mentions_behaviours_without_a_page_for_them(project: Path) -> None:
    with open_index(project) as index:
        observations = observe(index)
    assert [run.plugin for run in observations.runs] == ["the mock TPU under behaviours"]
    assert "Behaviour::Run" not in {each.function for each in observations.functions}
    assert [run.calls for run in observations.runs] == [sum(each.calls for each in observations.functions)]


def test_check_reports_raised_errors_but_not_requested_ones(project: Path) -> None:
    findings = framedex(project, "check", "--json", "--only", "behaviour")["findings"]
    told = {re.sub(r" \(.*?\)", "", finding["message"]) for finding in findings}
    assert told == {
        "broken failed on PJRT_Client_Compile: the behaviour broken raised ValueError: broken",
        "void failed on PJRT_Error_Message: the behaviour void raised ValueError: of no error",
        "put on PJRT_Client_BufferFromHostBuffer ran for too long: the Python stacks are on stderr",
    }
    (hung,) = (finding["message"] for finding in findings if "ran for too long" in finding["message"])
    assert re.match(r"put \(/.*/mine\.py:\d+\) on ", hung)


def test_problems_in_functions_without_an_error_go_to_stderr(recorded: tuple[Path, Run]) -> None:
    assert "ValueError: of no error" in recorded[1].stderr

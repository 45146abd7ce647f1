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

reports = {}


def report(name, value):
    reports[name] = value


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
report("calls", calls)

with active():

    @on("DeviceMemory::Allocate")
    def full(call):
        call.fail("RESOURCE_EXHAUSTED", "the behaviour says no")

    report("allocation", error_of(lambda: jax.device_put(np.ones(3))))

with active():

    @on("PJRT_Client_BufferFromHostBuffer")
    def late(call):
        call.run()
        call.fail("DATA_LOSS", "lost")

    report("late", error_of(lambda: jax.device_put(np.ones(3))))

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
report("released", [error, jax.devices()[0].memory_stats()["bytes_in_use"] - in_use])

with active():

    @on("PJRT_LoadedExecutable_Execute")
    def leaves(call):
        sys.exit(3)

    report("left", error_of(lambda: double(x)))

with active():

    @on("PJRT_Executable_NumOutputs")
    def elsewhere(call):
        is_main = threading.current_thread() is threading.main_thread()
        report("elsewhere", [str(call.line), call.stack()[0].name, is_main])

    jax.jit(lambda v: v - 1)(x)  # another line

with active():
    copies = []

    @on("PJRT_Buffer_CopyTo*", "DeviceMemory::Allocate")
    def within(call):
        copies.append([call.function, str(call.line)])
        call.run()

    jax.device_put(x, jax.devices()[1])  # a third line
report("copies", copies)

with active():

    @on("PJRT_Client_BufferFromHostBuffer")
    def recovers(call):
        try:
            call.run()
        except Failed as failed:
            report("caught", [failed.code, failed.text])
            raise

    @on("PJRT_Client_BufferFromHostBuffer")
    def fails(call):
        call.fail("ABORTED", "inside")

    report("through", error_of(lambda: jax.device_put(np.ones(3))))

with active():

    @on("PJRT_Client_BufferFromHostBuffer")
    def raises(call):
        kept.append(call)
        return {}["nothing"]

    kept = []
    report("raised", error_of(lambda: jax.device_put(np.ones(3))))


def use_after():
    return kept[0].arguments


report("ended", error_of(use_after))
report("after", float(jax.device_put(np.ones(3)).sum()))

with active():

    @on("PJRT_Device_MemoryStats")
    def statistics(call):
        call.result = {"bytes_in_use": 5, "bytes_limit": 7}

    stats = jax.devices()[0].memory_stats()
    report("statistics", [stats["bytes_in_use"], stats["bytes_limit"]])

with active():
    chip(memory=1000)
    limit = jax.devices()[0].memory_stats()["bytes_limit"]
    report("chip", [error_of(lambda: jax.device_put(np.ones(4096, np.uint8))), limit])

with active():

    @runs("jit_double")
    def tenfold(program):
        (value,) = program.inputs
        report("input", [str(value.dtype), value.tolist(), value.flags.writeable])
        program.outputs = value * 10

    report("tenfold", double(x).tolist())
    report("others", (x + 1).tolist())

with active():

    @runs("jit_pair")
    def changed(program):
        program.run()
        first, second = program.outputs
        program.outputs = first, second + 0.5

    report("changed", [each.tolist() for each in pair(x, x)])

with active():

    @runs("jit_total")
    def of_scalars(program):
        report("scalar results", list(map(str, program.results)))
        program.outputs = program.inputs[0].sum() + program.inputs[1]

    def total(x, y):
        return x.sum() * y

    report("scalar", float(jax.jit(total)(x, np.float32(0.5))))

with active():

    @runs("jit_double")
    def wrong(program):
        program.outputs = np.zeros(3)

    report("wrong", error_of(lambda: double(x)))

with active():

    @runs("jit__lambda")
    def small(program):
        (value,) = program.inputs
        report("small", [str(value.dtype), value.astype(np.float32).tolist()])
        program.outputs = value[::-1]

    for dtype in (jnp.bfloat16, jnp.int4):
        y = jnp.asarray(np.array([1, 2]), dtype)
        report(f"of {np.dtype(dtype)}", np.asarray(jax.jit(lambda v: v)(y)).astype(np.float32).tolist())

with active():

    @runs("jit_add_one")
    def donated(program):
        program.outputs = program.inputs[0] * 0

    def add_one(v):
        return v + 1

    z = jnp.ones(8)
    report("donated", [jax.jit(add_one, donate_argnums=0)(z).tolist(), z.is_deleted()])

mesh = jax.make_mesh((2,), ("d",))
sharded = jax.device_put(np.arange(4.0, dtype=np.float32), jax.NamedSharding(mesh, jax.P("d")))
with active():

    @runs("jit_double")
    def shards(program):
        report("only", error_of(lambda: program.inputs))
        for number, shard in enumerate(program.shards):
            shard.outputs = shard.inputs[0] + 100 * number

    report("shards", double(sharded).tolist())

report("refused", [error_of(lambda: on("PJRT_Cleint_Create")), error_of(lambda: on("PJRT_Compile")(lambda: 1))])
attributes = {"f": 1.5}, {"b": True}, {"l": [0, 1 << 63]}, {"t": "\\ud800"}
chips = {"kind": 7}, {"kind": "\\udcff"}, {"memory": 1.5}, *({"attributes": each} for each in attributes)
report("no chips", [error_of(lambda: chip(**each)) for each in chips])
print(json.dumps(reports))
"""


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("behaviours")
    program = folder / "program.py"
    program.write_text(PROGRAM)
    environment = mock_environment(folder) | {"FRAMEDEX_DEVICES": "2", "FRAMEDEX_RECORD": "0"}
    result: dict[str, Any] = Run.of([sys.executable, str(program)], folder, environment, 120).result
    return result


def test_behaviours_of_a_function_are_nested_and_see_typed_arguments(reports: dict[str, Any]) -> None:
    line = PROGRAM.splitlines().index("    x = jax.device_put(np.arange(4, dtype=np.float32))  # the line") + 1
    assert reports["calls"] == [
        ["outer", [4], "F32", 16, f"program.py:{line}"],
        ["PJRT_Client_BufferFromHostBuffer", "<module>"],
        ["DeviceMemory::Allocate", "<module>"],
        True,
    ]


def test_a_behaviour_makes_calls_fail_with_its_message(reports: dict[str, Any]) -> None:
    assert reports["allocation"] == "RESOURCE_EXHAUSTED: the behaviour says no"
    assert reports["late"] == "DATA_LOSS: lost"
    assert reports["caught"] == ["ABORTED", "inside"]
    assert reports["through"] == "ABORTED: inside"


def test_an_exception_in_a_behaviour_is_the_error_of_the_call(reports: dict[str, Any]) -> None:
    assert str(reports["raised"]).startswith("INTERNAL: the behaviour raises (")
    assert str(reports["raised"]).endswith("raised KeyError: 'nothing'")
    assert reports["after"] == 3


def test_sys_exit_in_a_behaviour_is_an_error_of_the_call(reports: dict[str, Any]) -> None:
    assert re.fullmatch(r"INTERNAL: the behaviour leaves \(.*\) raised SystemExit: 3", reports["left"])


def test_outputs_are_released_if_the_run_fails_later(reports: dict[str, Any]) -> None:
    assert reports["released"] == ["DATA_LOSS: lost", 0]


def test_a_behaviour_on_a_framedex_thread_has_the_callers_line(reports: dict[str, Any]) -> None:
    line = PROGRAM.splitlines().index("    jax.jit(lambda v: v - 1)(x)  # another line") + 1
    assert reports["elsewhere"] == [f"program.py:{line}", "<module>", False]


def test_nested_calls_have_the_callers_line(reports: dict[str, Any]) -> None:
    line = PROGRAM.splitlines().index("    jax.device_put(x, jax.devices()[1])  # a third line") + 1
    assert {where for _, where in reports["copies"]} == {f"program.py:{line}"}
    assert any(function.startswith("PJRT_Buffer_CopyTo") for function, _ in reports["copies"])
    assert reports["copies"][-1][0] == "DeviceMemory::Allocate"


def test_a_finished_call_cannot_be_used(reports: dict[str, Any]) -> None:
    assert "has ended: copy values before the behaviour returns" in str(reports["ended"])


def test_results_can_replace_those_of_the_runtime(reports: dict[str, Any]) -> None:
    assert reports["statistics"] == [5, 7]
    failed, limit = reports["chip"]
    assert failed.startswith("RESOURCE_EXHAUSTED: ") and "of 1000 bytes are in use" in failed
    assert limit == 1000


def test_a_program_gets_inputs_and_returns_outputs_as_arrays(reports: dict[str, Any]) -> None:
    assert reports["input"] == ["float32", [0, 1, 2, 3], False]
    assert reports["tenfold"] == [0, 10, 20, 30]
    assert reports["others"] == [1, 2, 3, 4]
    assert reports["changed"] == [[0, 2, 4, 6], [3.5, 2.5, 1.5, 0.5]]


def test_a_program_with_scalar_results_has_results(reports: dict[str, Any]) -> None:
    assert reports["scalar results"] == ["F32[]"]
    assert reports["scalar"] == 6.5


def test_outputs_of_another_type_are_refused_by_name(reports: dict[str, Any]) -> None:
    assert "result 0 of jit_double must be float32[4], not float64[3]" in str(reports["wrong"])


def test_types_missing_from_numpy_come_from_ml_dtypes(reports: dict[str, Any]) -> None:
    assert reports["of bfloat16"] == [2, 1]
    assert reports["of int4"] == [2, 1]
    assert reports["small"] == ["int4", [1, 2]]


def test_donated_arguments_are_deleted(reports: dict[str, Any]) -> None:
    assert reports["donated"] == [[0] * 8, True]


def test_a_program_on_several_devices_has_arrays_per_device(reports: dict[str, Any]) -> None:
    assert reports["only"] == "jit_double runs on 2 devices: use the inputs and outputs of each of its `shards`"
    assert reports["shards"] == [0, 1, 102, 103]


def test_invalid_behaviours_are_refused(reports: dict[str, Any]) -> None:
    name, function = reports["refused"]
    assert "Did you mean PJRT_Client_Create" in name
    assert "must accept the call as its only argument" in function


def test_impossible_devices_are_refused_as_chips(reports: dict[str, Any]) -> None:
    begins = [
        "a chip's kind",
        "a chip's kind",
        "a chip's memory",
        *(f"the attribute '{name}' cannot be" for name in "fblt"),
    ]
    assert [each[: len(begin)] for each, begin in zip(reports["no chips"], begins, strict=True)] == begins


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
    reports = {re.sub(r" \(.*?\)", "", finding["message"]) for finding in findings}
    assert reports == {
        "broken failed on PJRT_Client_Compile: the behaviour broken raised ValueError: broken",
        "void failed on PJRT_Error_Message: the behaviour void raised ValueError: of no error",
        "put on PJRT_Client_BufferFromHostBuffer ran for too long: the Python stacks are on stderr",
    }
    (hung,) = (finding["message"] for finding in findings if "ran for too long" in finding["message"])
    assert re.match(r"put \(/.*/mine\.py:\d+\) on ", hung)


def test_problems_in_functions_without_an_error_go_to_stderr(recorded: tuple[Path, Run]) -> None:
    assert "ValueError: of no error" in recorded[1].stderr

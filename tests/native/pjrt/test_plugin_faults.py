"""Faults of a plug-in and of its client: recorded, and the same for both as without framedex.

A C++ client (`wrong_client.cc`) uses a plug-in (`wrong_plugin.cc`) directly, then recorded.
"""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import framedex_native
from framedex.commands.main import cli
from tests.indexer.unplaced import index_without_sources
from tests.reading import Call, calls_of
from tests.running import TIMEOUT, Run, build_with_api, plain_environment

Recorded = Callable[..., Run]
TABLE = "PJRT_Memory_FunctionTable"
ERROR_TABLE = "PJRT_Error_FunctionTable"


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The client and the plug-in, built."""
    folder = tmp_path_factory.mktemp("wrong")
    client = build_with_api("wrong_client.cc", folder / "wrong_client", "-O2", "-ldl")
    return client, build_with_api("wrong_plugin.cc", folder / "wrong.so", "-shared", "-fPIC", "-O2")


@pytest.fixture
def recorded(parts: tuple[Path, Path], tmp_path: Path) -> Recorded:
    """Runs the client with an action, and checks that it prints and ends as it does without framedex."""
    client, plugin = map(str, parts)

    def start(action: str, **variables: str) -> Run:
        plain = plain_environment()
        alone = Run.of([client, plugin, action], tmp_path, plain, TIMEOUT)
        environment = plain | {"FRAMEDEX_PLUGIN": plugin, "FRAMEDEX_OUT": str(tmp_path / "captures")} | variables
        run = Run.of([client, str(framedex_native.library_path()), action], tmp_path, environment, TIMEOUT)
        assert (run.status, run.stdout) == (alone.status, alone.stdout), run.stderr
        return run

    return start


def only(run: Run, function: str) -> Call:
    """The one call of a function."""
    [call] = calls_of(run.capture, function)
    return call


def test_functions_of_a_memory_are_recorded(recorded: Recorded) -> None:
    run = recorded("memory")
    assert run.stdout == "same data 1, same table 1\n"
    first, _ = calls_of(run.capture, "PJRT_Device_AddressableMemories")
    [memory] = first.arguments["memories"]
    written, read = only(run, f"{TABLE}.set_user_data").arguments, only(run, f"{TABLE}.get_user_data").arguments
    assert written == {"memory": memory, "key": written["key"], "data": written["data"]}
    assert read == {"memory": memory, "key": written["key"], "result": written["data"]}


def test_functions_of_an_error_are_recorded_once(recorded: Recorded) -> None:
    run = recorded("error")
    assert run.stdout == "13 it went wrong, peak 1111111111111111\n"
    calls = [call for call in calls_of(run.capture) if call.function != "GetPjrtApi"]
    assert [call.function for call in calls] == [
        "PJRT_Device_MemoryStats",
        *(f"{ERROR_TABLE}.{name}" for name in ("message", "get_code", "destroy")),
        *("PJRT_Device_MemoryStats", "PJRT_Error_Message", "PJRT_Error_Destroy"),
    ]
    failed, message, code, destroyed, *_ = calls
    error = failed.arguments["error_object"]
    assert (failed.error, failed.arguments["error_message"]) == (13, "it went wrong")
    assert message.arguments == {"error": error, "message": "it went wrong"}
    assert code.arguments == {"error": error, "result": "INTERNAL"}
    assert destroyed.arguments == {"error": error}


def test_exceptions_are_recorded_and_rethrown(recorded: Recorded) -> None:
    run = recorded("exceptions")
    assert run.stdout == "caught no chips, 42\n"
    create, destroy = only(run, "PJRT_Client_Create"), only(run, "PJRT_Client_Destroy")
    assert (create.error, create.arguments["exception"]) == (2, "std::out_of_range: no chips")
    assert create.arguments["error_message"] == "C++ exception std::out_of_range: no chips"
    assert "client" not in create.arguments
    assert (destroy.error, destroy.arguments["exception"]) == (2, "int")


def test_an_exception_of_an_objects_own_function_is_recorded(recorded: Recorded) -> None:
    run = recorded("memory_exception")
    assert run.stdout == "caught no key\n"
    call = only(run, f"{TABLE}.set_user_data")
    assert (call.error, call.arguments["exception"]) == (2, "std::out_of_range: no key")


def test_a_thread_can_end_inside_the_plugin(recorded: Recorded) -> None:
    run = recorded("thread_end")
    assert run.stdout == "the thread has ended\n"
    assert only(run, "PJRT_Client_ProcessIndex").error == 2


def test_unassigned_results_are_named_and_keep_the_callers_bytes(recorded: Recorded) -> None:
    run = recorded("results")
    unassigned = "0x1111111111111111"
    assert run.stdout == (f"buffer {unassigned}, deleted 11, name 5, outputs 0x1000 0x22, size 4, event {unassigned}\n")
    put = only(run, "PJRT_Client_BufferFromHostBuffer").arguments
    assert put["unfilled"] == "done_with_host_buffer, buffer"
    assert not {"buffer", "done_with_host_buffer"} & set(put)
    deleted = only(run, "PJRT_Buffer_IsDeleted").arguments
    assert (deleted["unfilled"], "is_deleted" in deleted) == ("is_deleted", False)
    name = only(run, "PJRT_Client_PlatformName").arguments
    assert (name["unfilled"], "platform_name" in name) == ("platform_name", False)
    execute = only(run, "PJRT_LoadedExecutable_Execute").arguments
    assert (execute["unfilled"], "output_lists" in execute) == ("output_lists", False)
    read = only(run, "PJRT_Buffer_ToHostBuffer").arguments
    assert (read["unfilled"], read["dst"], read["dst_size"]) == ("event", None, 4)


def test_null_in_a_list_of_objects_is_found(recorded: Recorded, tmp_path: Path) -> None:
    run = recorded("null_in_a_list", FRAMEDEX_VALIDATE="report")
    execute = "PJRT_LoadedExecutable_Execute"
    assert run.stderr.splitlines() == [
        f"framedex: null-handle, broken by the client: {execute}, argument_lists has null at 0",
        f"framedex: ok-without-result, broken by the plug-in: {execute}, output_lists has null at 0",
    ]
    index = index_without_sources(tmp_path / "index.db", run.capture)
    done = CliRunner().invoke(cli, ["--index", str(index), "check", "--json"])
    found = {(each["kind"], each["function"]) for each in json.loads(done.stdout)["findings"]}
    assert {("null-handle", execute)} <= found


def test_struct_sizes_of_other_versions_are_recorded(recorded: Recorded) -> None:
    run = recorded("sizes")
    assert only(run, "PJRT_Device_AddressableMemories").arguments["struct_size"] == 4096
    execute = only(run, "PJRT_LoadedExecutable_Execute").arguments
    assert "struct_size" not in execute
    assert execute["options.struct_size"] == 64


def test_a_call_of_a_null_function_is_recorded_before_the_crash(recorded: Recorded) -> None:
    run = recorded("null")
    assert (run.status, run.stdout) == (-signal.SIGSEGV, "about to call\n")
    call = only(run, "PJRT_Client_Devices")
    assert (call.duration, call.error) == (-1, -1)
    assert call.arguments["missing_function"] == "null"
    assert any(frame.file.endswith("/wrong_client") for frame in call.frames)
    [start] = calls_of(run.capture, "GetPjrtApi")
    assert "PJRT_Client_Devices" in start.arguments["null_functions"].split(", ")


def test_a_null_function_is_named_if_several_plugins_lack_it(parts: tuple[Path, Path], tmp_path: Path) -> None:
    client, plugin = parts
    second = shutil.copy(plugin, tmp_path / "second.so")
    preload = {"LD_PRELOAD": str(framedex_native.preload_path()), "FRAMEDEX_OUT": str(tmp_path / "captures")}
    command = [str(client), str(plugin), "null_pointer", str(second)]
    run = Run.of(command, tmp_path, plain_environment() | preload | {"FRAMEDEX_RECORD": "1"}, TIMEOUT)
    assert (run.status, run.stdout) == (-signal.SIGSEGV, "about to call\n"), run.stderr
    call = only(run, "PJRT_Buffer_GetMemoryLayout")
    assert call.arguments["missing_function"] == "null in several plug-ins"

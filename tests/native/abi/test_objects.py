"""The indexer's table of objects, generated from the ABI's description, and its entries for a few functions."""

from __future__ import annotations

import subprocess
import sys

from framedex.programs.objects import ObjectRole, find_boundary_function
from framedex.programs.objects.table import load_boundary_functions
from tests.pythons import ROOT

TABLE = ROOT / "indexer" / "framedex" / "programs" / "objects" / "pjrt_objects.json"


def generated(text: str) -> str:
    """The value of an expression about the generator `g` and the `abi`."""
    make = f"import generate_objects as g, pjrt_abi; abi = pjrt_abi.load(g.DATA); print({text}, end='')"
    return subprocess.run(
        [sys.executable, "-c", make],
        cwd=ROOT / "native" / "abi",
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def test_the_committed_table_matches_the_data() -> None:
    assert generated("g.table(abi)") == TABLE.read_text(), "run `python native/abi/generate_objects.py`"


def roles(function: str) -> dict[str, tuple[str, ObjectRole]]:
    return {field.name: (field.type, field.role) for field in find_boundary_function(function).objects}


def test_a_call_uses_its_inputs_and_creates_its_outputs() -> None:
    assert roles("PJRT_Client_BufferFromHostBuffer") == {
        "client": ("client", ObjectRole.USES),
        "device": ("device", ObjectRole.USES),
        "memory": ("memory", ObjectRole.USES),
        "done_with_host_buffer": ("event", ObjectRole.CREATES),
        "buffer": ("buffer", ObjectRole.CREATES),
    }
    assert find_boundary_function("PJRT_Client_BufferFromHostBuffer").sizes == {"buffer"}


def test_an_object_field_has_the_type_of_its_function() -> None:
    assert roles("PJRT_Executable_Name")["executable"] == ("executable", ObjectRole.USES)
    assert roles("PJRT_LoadedExecutable_Execute")["executable"] == ("loaded_executable", ObjectRole.USES)


def test_execution_lists_are_arguments_and_created_objects() -> None:
    execute = {field.name: field for field in find_boundary_function("PJRT_LoadedExecutable_Execute").objects}

    assert (execute["argument_lists"].type, execute["argument_lists"].role) == ("buffer", ObjectRole.USES)
    assert (execute["output_lists"].type, execute["output_lists"].role) == ("buffer", ObjectRole.CREATES)
    assert (execute["device_complete_events"].type, execute["device_complete_events"].role) == (
        "event",
        ObjectRole.CREATES,
    )
    assert all(execute[name].is_list for name in ("argument_lists", "output_lists", "device_complete_events"))


def test_destroying_an_object_is_distinguished_from_emptying_it() -> None:
    assert roles("PJRT_Buffer_Destroy")["buffer"][1] is ObjectRole.DESTROYS
    assert roles("PJRT_Buffer_Delete")["buffer"][1] is ObjectRole.DELETES
    assert roles("PJRT_Buffer_DonateWithControlDependency")["buffer"][1] is ObjectRole.DELETES
    assert roles("PJRT_Buffer_IsDeleted")["buffer"][1] is ObjectRole.USES


def test_objects_owned_by_a_client_are_only_named() -> None:
    assert roles("PJRT_Client_Devices")["devices"] == ("device", ObjectRole.NAMES)
    assert roles("PJRT_Client_TopologyDescription")["topology"] == ("topology_description", ObjectRole.NAMES)
    assert roles("PJRT_TopologyDescription_Create")["topology"] == ("topology_description", ObjectRole.CREATES)
    fields = [field for function in load_boundary_functions().values() for field in function.objects]
    assert not any(field.type == "device" and field.role is ObjectRole.DESTROYS for field in fields)


def test_extensions_have_objects() -> None:
    assert roles("PJRT_RawBuffer_CreateRawAliasOfBuffer")["raw_buffer"] == ("raw_buffer", ObjectRole.CREATES)
    assert roles("PJRT_RawBuffer_Destroy")["buffer"] == ("raw_buffer", ObjectRole.DESTROYS)


def test_a_function_outside_the_api_has_no_objects() -> None:
    assert find_boundary_function("DeviceMemory::Allocate").objects == ()


def test_queries_have_no_effect_and_do_not_wait() -> None:
    queries = {*generated("*g.queries(abi)").split()}

    assert queries >= {"PJRT_Memory_Kind", "PJRT_Buffer_Memory", "PJRT_Buffer_IsDeleted", "PJRT_Event_IsReady"}
    others = {"PJRT_Event_Await", "PJRT_Event_OnReady", "PJRT_Buffer_UnsafePointer", "PJRT_Buffer_Delete"}
    assert not queries & (others | {"PJRT_Buffer_ReadyEvent", "PJRT_LoadedExecutable_Execute"})

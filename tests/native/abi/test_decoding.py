"""The recorded fields of an argument struct, and their types."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import decoding
import pjrt_abi
from tests.pythons import ROOT

ABI_FOLDER = ROOT / "native" / "abi"


@pytest.fixture(scope="module")
def described() -> pjrt_abi.Abi:
    """The description of the API."""
    return pjrt_abi.load(ABI_FOLDER / "pjrt_c_api.json", ABI_FOLDER / "pjrt_c_api_history.json")


@pytest.fixture(scope="module")
def recorded(described: pjrt_abi.Abi) -> Callable[[str], dict[str, str]]:
    """The recorded values of a function: name -> kind (`integer`, `text`, ...), outputs as `> text`."""

    def values(function: str) -> dict[str, str]:
        found = decoding.values(described, described.structs[f"{function}_Args"])
        return {value.name: ("> " if value.is_output else "") + _kind(value.statement) for value in found}

    return values


def _kind(statement: str) -> str:
    call = statement.removeprefix("{writer}.")
    return call.split("(")[0]


def test_a_transfer_has_names_types_shapes_and_sizes(recorded: Callable[[str], dict[str, str]]) -> None:
    assert recorded("PJRT_Client_BufferFromHostBuffer") == {
        "client": "address",
        "data": "address",
        "type": "enumeration",
        "dims": "integers",
        "byte_strides": "integers",
        "host_buffer_semantics": "enumeration",
        "device": "address",
        "memory": "address",
        "device_layout.type": "enumeration",
        "done_with_host_buffer": "> address",
        "buffer": "> address",
        "bytes": "integer",
        "data.kept": "keep_host_buffer",
    }


def test_the_size_of_plain_memory_is_recorded(recorded: Callable[[str], dict[str, str]]) -> None:
    assert recorded("PJRT_Buffer_ToHostBuffer")["dst_size"] == "> integer"


def test_counts_belong_to_lists_and_lengths_to_strings(recorded: Callable[[str], dict[str, str]]) -> None:
    assert recorded("PJRT_Buffer_Dimensions") == {"buffer": "address", "dims": "> integers"}
    assert recorded("PJRT_Client_PlatformName") == {"client": "address", "platform_name": "> text_or_size"}
    assert recorded("PJRT_Client_Devices") == {"client": "address", "devices": "> addresses"}


def test_a_nested_struct_is_followed_once(recorded: Callable[[str], dict[str, str]]) -> None:
    values = recorded("PJRT_Client_Compile")
    assert values["program.code"] == values["program.format"] == "text_or_size"
    assert not any(name.count(".") > 1 for name in values)


def test_callbacks_and_bookkeeping_are_omitted(recorded: Callable[[str], dict[str, str]]) -> None:
    assert set(recorded("PJRT_Event_OnReady")) == {"event", "user_arg"}
    assert not {"struct_size", "extension_start"} & set(recorded("PJRT_Client_Create"))


def test_numbers_keep_their_type(recorded: Callable[[str], dict[str, str]]) -> None:
    values = recorded("PJRT_Device_MemoryStats")
    assert values["bytes_in_use"] == "> integer"
    assert values["bytes_limit_is_set"] == "> boolean"


def test_the_lists_of_an_execution_have_a_row_per_device(recorded: Callable[[str], dict[str, str]]) -> None:
    values = recorded("PJRT_LoadedExecutable_Execute")
    assert values["argument_lists"] == "address_lists"
    assert values["output_lists"] == "> address_lists"
    assert values["device_complete_events"] == "> addresses"


def test_strings_have_their_lengths_and_nested_lists_are_flattened(recorded: Callable[[str], dict[str, str]]) -> None:
    assert recorded("PJRT_Executable_OutputMemoryKinds") == {
        "executable": "address",
        "num_outputs": "> integer",
        "memory_kinds": "> texts",
    }
    assert recorded("PJRT_Executable_OutputDimensions")["dims"] == "> integers"


def test_a_list_is_an_output_if_its_count_is(recorded: Callable[[str], dict[str, str]]) -> None:
    assert recorded("PJRT_TpuTopology_ChipBounds")["chip_bounds"] == "> integers"
    assert recorded("PJRT_TpuTopology_ChipIdFromCoord")["coords"] == "integers"


def test_a_field_with_a_deleter_is_an_output(recorded: Callable[[str], dict[str, str]]) -> None:
    assert recorded("PJRT_Executable_Serialize") == {
        "executable": "address",
        "serialized_bytes": "> text_or_size",
        "serialized_executable": "> address",
    }


def test_every_typed_extension_is_described(described: pjrt_abi.Abi) -> None:
    types = {table.type for table in pjrt_abi.extensions(described)}
    assert set(described.enums["PJRT_Extension_Type"]) - types == {"PJRT_Extension_Type_Unknown"}


def test_every_function_of_an_extension_is_traced(described: pjrt_abi.Abi) -> None:
    """Exceptions: members without a type, and non-functions."""
    passed_on = {
        f"{table.struct.name}.{field.name}"
        for table in (*pjrt_abi.extensions(described), *pjrt_abi.inner_tables(described))
        for field in table.struct.fields
        if field.name not in {function.member for function in table.functions}
        and field not in table.inner
        and field.name not in ("base", "struct_size", "priv")
        and field.type != "void*"
    }
    assert passed_on == {
        "PJRT_Profiler_Extension.traceme_context_id",
        "PJRT_Gpu_Custom_Call.custom_call_handles_traits",
    }

"""Which fields of an argument struct are recorded, and as what."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tests.pythons import ROOT

ABI_FOLDER = ROOT / "native" / "abi"


@pytest.fixture(scope="module")
def recorded() -> Callable[[str], dict[str, str]]:
    """The recorded values of a function: name -> how it is written (`integer`, `text`, ...), outputs as `> text`."""
    sys.path.insert(0, str(ABI_FOLDER))
    try:
        import decoding
        import pjrt_abi
    finally:
        sys.path.remove(str(ABI_FOLDER))
    abi = pjrt_abi.load(ABI_FOLDER / "pjrt_c_api_0.112.json")

    def values(function: str) -> dict[str, str]:
        found = decoding.values(abi, abi.structs[f"{function}_Args"])
        return {value.name: ("> " if value.is_output else "") + _kind(value.statement) for value in found}

    return values


def _kind(statement: str) -> str:
    call = statement.removeprefix("{writer}.")
    return call.split("(")[0]


def test_names_types_shapes_and_sizes_of_a_transfer(recorded: Callable[[str], dict[str, str]]) -> None:
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
    }


def test_the_size_of_plain_memory_is_recorded(recorded: Callable[[str], dict[str, str]]) -> None:
    assert recorded("PJRT_Buffer_ToHostBuffer")["dst_size"] == "> integer"


def test_a_count_goes_with_its_list_and_a_length_with_its_text(recorded: Callable[[str], dict[str, str]]) -> None:
    assert recorded("PJRT_Buffer_Dimensions") == {"buffer": "address", "dims": "> integers"}
    assert recorded("PJRT_Client_PlatformName") == {"client": "address", "platform_name": "> text_or_size"}
    assert recorded("PJRT_Client_Devices") == {"client": "address", "devices": "> addresses"}


def test_a_struct_behind_a_pointer_is_followed_once(recorded: Callable[[str], dict[str, str]]) -> None:
    values = recorded("PJRT_Client_Compile")
    assert values["program.code"] == values["program.format"] == "text_or_size"
    assert not any(name.count(".") > 1 for name in values)


def test_callbacks_and_bookkeeping_are_left_out(recorded: Callable[[str], dict[str, str]]) -> None:
    assert set(recorded("PJRT_Event_OnReady")) == {"event", "user_arg"}
    assert not {"struct_size", "extension_start"} & set(recorded("PJRT_Client_Create"))


def test_numbers_keep_their_kind(recorded: Callable[[str], dict[str, str]]) -> None:
    values = recorded("PJRT_Device_MemoryStats")
    assert values["bytes_in_use"] == "> integer"
    assert values["bytes_limit_is_set"] == "> boolean"

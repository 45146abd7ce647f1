"""Members of C structs as Python values, and the reverse: in memory laid out by the ABI's data."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

import pytest

from framedex_native.behaviour.abi import functions, matching, structs
from framedex_native.behaviour.handles import Handle
from framedex_native.behaviour.memory import MemoryOwner, pack, put
from framedex_native.behaviour.views import Arguments, Outputs
from framedex_native.behaviour.writing import clear_outputs, write
from tests.pythons import ROOT

DATA = ROOT / "native" / "framedex_native" / "behaviour" / "functions.json"
VALUES: dict[str, dict[str, Any]] = {
    "PJRT_Client_Create": {"create_options": {"name": "a", "count": -3, "shape": (2, 3), "share": 0.5, "on": True}},
    "PJRT_Client_LookupDevice": {"client": Handle("PJRT_Client", 0x1000), "id": -1},
    "PJRT_Client_Compile": {"compile_options": b"\x00\xff", "program": {"code": b"\x01\x02", "format": "mlir"}},
    "PJRT_LoadedExecutable_Execute": {"options": {"launch_id": 7, "task_ids": (1, 2), "incarnation_ids": (3, 4)}},
    "PJRT_Client_BufferFromHostBuffer": {
        "data": 0x2000,
        "type": "BF16",
        "dims": (2, 3),
        "byte_strides": (),
        "host_buffer_semantics": "ImmutableZeroCopy",
        "memory": None,
        "device_layout": {"type": "Tiled", "tiled": {"minor_to_major": (1, 0), "tile_dims": ((8, 128),)}},
    },
    "PJRT_Client_CreateBuffersForAsyncHostToDevice": {
        "shape_specs": [{"dims": (4,), "element_type": "S8"}, {"dims": (), "element_type": "F32"}]
    },
}
RESULTS: dict[str, dict[str, Any]] = {
    "PJRT_Client_Devices": {"devices": (Handle("PJRT_Device", 1), Handle("PJRT_Device", 2))},
    "PJRT_DeviceDescription_Kind": {"device_kind": "Größe \udcff"},
    "PJRT_DeviceDescription_Attributes": {"attributes": {"coords": (0, 1, 0), "name": ""}},
    "PJRT_Device_MemoryStats": {"bytes_in_use": 3, "bytes_limit": 1 << 40},
    "PJRT_Executable_OutputElementTypes": {"output_types": ("F32", "PRED")},
    "PJRT_Executable_OutputDimensions": {"dims": ((2, 3), (), (5,))},
    "PJRT_Executable_OutputMemoryKinds": {"memory_kinds": ("device", "pinned_host")},
    "PJRT_Event_IsReady": {"is_ready": True},
    "PJRT_Executable_Serialize": {"serialized_bytes": b"\x00\x01"},
}


class Struct:
    """A function's zeroed argument struct, from a caller whose version has a struct of this size."""

    def __init__(self, function: str, known: int | None = None) -> None:
        self.struct = functions()[function].arguments
        self.keeper = MemoryOwner()
        self._block = ctypes.create_string_buffer(self.struct.size)
        self.address = ctypes.addressof(self._block)
        put(self.address, pack("Q", [known or self.struct.struct_size]))

    def write(self, values: dict[str, Any], *, outputs: bool = False) -> None:
        write(self.struct, self.address, values, self.keeper, outputs=outputs)

    @property
    def arguments(self) -> Arguments:
        return Arguments(self.struct, self.address, lambda: None)

    @property
    def outputs(self) -> Outputs:
        return Outputs(self.struct, self.address, lambda: None)


def test_the_committed_data_match_the_abi() -> None:
    make = "import generate_behaviour_data as g, pjrt_abi; print(g.behaviour_data(pjrt_abi.load(g.ABI)), end='')"
    made = subprocess.run(
        [sys.executable, "-c", make], cwd=ROOT / "native" / "abi", capture_output=True, text=True, check=True
    )
    assert made.stdout == DATA.read_text(), "run `python native/abi/generate_behaviour_data.py`"


def test_every_table_function_has_a_struct_with_readable_members() -> None:
    assert len(functions()) == 139
    for name, function in functions().items():
        made = Struct(name)
        assert {*made.arguments, *made.outputs} <= {*function.arguments.fields, "bytes"}
        assert repr(made.arguments).startswith("{") and repr(made.outputs).startswith("{")


@pytest.mark.parametrize("function", VALUES)
def test_written_inputs_are_read_back(function: str) -> None:
    made = Struct(function)
    made.write(VALUES[function])
    for name, value in VALUES[function].items():
        assert plain(made.arguments[name], value) == plain(value, value), name


@pytest.mark.parametrize("function", RESULTS)
def test_written_results_are_read_back(function: str) -> None:
    made = Struct(function)
    made.write(RESULTS[function], outputs=True)
    assert dict(made.outputs) | RESULTS[function] == dict(made.outputs)


def test_unset_statistics_are_absent() -> None:
    made = Struct("PJRT_Device_MemoryStats")
    made.write({"bytes_limit": 5}, outputs=True)
    assert dict(made.outputs) == {"bytes_in_use": 0, "bytes_limit": 5}


def test_a_member_unknown_to_the_caller_is_absent_and_read_only() -> None:
    field = functions()["PJRT_Device_GetAttributes"].arguments.fields["num_attributes"]
    older = Struct("PJRT_Device_GetAttributes", known=field.offset + field.size)
    assert set(older.outputs) == {"attributes"}
    with pytest.raises(ValueError, match="has no output 'device_attributes' here"):
        older.write({"device_attributes": None}, outputs=True)


def test_the_size_of_an_array_is_an_argument() -> None:
    made = Struct("PJRT_Client_BufferFromHostBuffer")
    made.write({"type": "BF16", "dims": (2, 3)})
    assert made.arguments.bytes == 12
    assert made.arguments["bytes"] == 12 and "bytes" in made.arguments and "num_dims" not in set(made.arguments)


def test_an_unknown_enumerator_is_its_number() -> None:
    made = Struct("PJRT_Client_BufferFromHostBuffer")
    made.write({"type": 999})
    assert made.arguments.type == 999


def test_outputs_are_written_to_memory_of_the_caller() -> None:
    room = (ctypes.c_int32 * 2)()
    made = Struct("PJRT_Client_DefaultDeviceAssignment")
    made.write({"default_assignment_size": 2, "default_assignment": (9, 9)})
    put(made.address + made.struct.fields["default_assignment"].offset, pack("Q", [ctypes.addressof(room)]))
    made.write({"default_assignment": (4, 5)}, outputs=True)
    assert list(room) == [4, 5]
    for wrong in (1, 2, 3), (1,):
        with pytest.raises(ValueError, match=f"expected 2 elements, got {len(wrong)}"):
            made.write({"default_assignment": wrong}, outputs=True)


def test_outputs_without_caller_memory_are_refused_and_its_numbers_unchanged() -> None:
    made = Struct("PJRT_LoadedExecutable_Execute")
    made.write({"num_devices": 2})
    with pytest.raises(ValueError, match="device_complete_events: the caller passed no memory for it"):
        made.write({"device_complete_events": [Handle("PJRT_Event", 8)]}, outputs=True)
    with pytest.raises(ValueError, match="output_lists: expected 2 lists, got 3"):
        made.write({"output_lists": [[], [], []]}, outputs=True)
    assert made.arguments.num_devices == 2


@pytest.mark.parametrize(
    ("function", "values", "message"),
    [
        ("PJRT_DeviceDescription_Kind", {"device_kind": 3}, "device_kind: expected a str, got int"),
        ("PJRT_Event_IsReady", {"is_ready": 2}, "is_ready: expected a bool"),
        ("PJRT_Device_MemoryStats", {"bytes_limit": "1"}, "bytes_limit: "),
        ("PJRT_Device_MemoryStats", {"bytes_limit": 1 << 70}, "bytes_limit: "),
        ("PJRT_Buffer_ElementType", {"type": "F33"}, "'F33' is not one of INVALID, PRED"),
        ("PJRT_Buffer_Device", {"device": Handle("PJRT_Memory", 8)}, "expected a PJRT_Device, got"),
        ("PJRT_Client_Devices", {"num_devices": 3}, "has no output 'num_devices' here. It has: devices"),
        ("PJRT_DeviceDescription_Attributes", {"attributes": [1]}, "expected a dict, got list"),
        ("PJRT_Buffer_Dimensions", {"dims": "12"}, "expected a sequence, got str"),
    ],
)
def test_an_unfitting_value_is_refused_by_name_without_a_write(function: str, values: Any, message: str) -> None:
    made = Struct(function)
    before = ctypes.string_at(made.address, made.struct.size)
    with pytest.raises((TypeError, ValueError)) as refused:
        made.write(values, outputs=True)
    assert message in str(refused.value)
    assert ctypes.string_at(made.address, made.struct.size) == before


def test_a_result_of_a_skipped_call_is_zeroed_with_a_valid_deleter() -> None:
    made = Struct("PJRT_Device_GetAttributes")
    put(made.address + 16, b"\xff" * (made.struct.size - 16))
    clear_outputs(made.struct, made.address)
    assert dict(made.outputs) == {"attributes": {}, "device_attributes": None}
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(
        ctypes.c_uint64.from_address(made.address + made.struct.fields["attributes_deleter"].offset).value
    )
    deleter(0x1234)


def test_an_unknown_name_is_refused_with_similar_names() -> None:
    with pytest.raises(ValueError, match="Did you mean PJRT_Client_Create"):
        matching("PJRT_Cleint_Create")
    with pytest.raises(ValueError, match="No function of the PJRT table is called 'PJRT_Nothing_\\*'"):
        matching("PJRT_Nothing_*")
    assert {function.name for function in matching("PJRT_Error_*")} == {
        "PJRT_Error_Destroy",
        "PJRT_Error_ForEachPayload",
        "PJRT_Error_GetCode",
        "PJRT_Error_Message",
    }
    assert len(matching("*")) == len(functions())


def plain(value: Any, like: Any) -> Any:
    """A value without its unset parts."""
    if isinstance(like, dict):
        return {name: plain(value[name], like[name]) for name in like}
    if isinstance(like, list):
        return [plain(each, wanted) for each, wanted in zip(value, like, strict=True)]
    return value


def test_structs_have_the_sizes_of_c() -> None:
    for struct in structs().values():
        assert all(field.offset + field.size <= struct.size for field in struct.fields.values()), struct.name

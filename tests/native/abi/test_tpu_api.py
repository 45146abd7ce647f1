"""The TPU C API of jaxlib 0.4.13: the exports of the library, and the recorded values of a call."""

from __future__ import annotations

from types import EllipsisType

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

import framedex_native
import tpu_abi
import tpu_decoding

ABI = tpu_abi.load()
FUNCTIONS = {function.name: function for function in ABI.functions}


def recorded(name: str) -> list[str]:
    """The names of a function's recorded values, outputs with a star."""
    return [value.name + "*" * value.is_output for value in tpu_decoding.values(ABI, FUNCTIONS[name])]


def test_the_library_exports_every_function_that_jaxlib_looks_up() -> None:
    with framedex_native.library_path().open("rb") as file:
        symbols = ELFFile(file).get_section_by_name(".dynsym")
        assert isinstance(symbols, SymbolTableSection)
        exported = {symbol.name for symbol in symbols.iter_symbols() if symbol["st_shndx"] != "SHN_UNDEF"}
    assert len(FUNCTIONS) == 224  # 223 and TfTpu_Initialize
    assert set(FUNCTIONS) - exported == set()


@pytest.mark.parametrize(
    ("function", "values"),
    [
        ("TpuExecutor_Allocate", ["executor", "size", "memory_space", "returned*", "returned.size*"]),
        ("TpuPlatform_Initialize", ["platform", "options_key", "options_value"]),
        ("TpuStatus_Create", ["code", "msg", "returned*"]),
        ("TpuCompiler_RunBackend", [..., "allocator.ctx", "result*"]),
        ("TpuExecutable_FreeXlaShapeIndexArray", ["array"]),
        ("TpuTransferManager_ChooseCompactLayoutForShape", ["manager", "host_shape", "output*"]),
        ("TpuTopology_Core", ["tpu_topology", "tpu_core_type", "x", "y", "z", "index", "returned*"]),
        ("TpuStream_TpuEnqueueOnDeviceSendRecvLocal", [..., "recv_buffer", "recv_buffer.size"]),
    ],
)
def test_the_recorded_fields_of_a_function_are_listed(function: str, values: list[str | EllipsisType]) -> None:
    expected = values[1:] if values[0] is ... else values
    assert recorded(function)[-len(expected) :] == expected
    assert values[0] is ... or len(recorded(function)) == len(values)


def test_a_member_counts_only_if_its_presence_flag_is_set() -> None:
    values = {value.name: value.guard for value in tpu_decoding.values(ABI, FUNCTIONS["TpuCompiler_RunBackend"])}
    guard = values["se_hlo_module.module_config.static_device_assignment"]
    assert guard.endswith("->has_static_device_assignment")


def test_a_failure_is_read_from_any_status_field() -> None:
    status = {name: tpu_decoding.status(ABI, function) for name, function in FUNCTIONS.items()}
    assert status["TpuExecutor_RecordEvent"] == "status"
    assert status["ConfigureDistributedTpuOp_DoWork"] == "params->status"
    assert status["TpuStatus_Free"] is None
    assert status["TpuStream_New"] is None


def test_layouts_equal_those_of_the_compiler() -> None:
    """They are asserted when the library is compiled; here, the check must cover every struct."""
    import generate_tpu_header

    check = generate_tpu_header.layout_check(ABI)
    assert all(f"sizeof({name}) == {struct.size}" in check for name, struct in ABI.structs.items())

"""Missing functions of the TPU C API return an error, and leave no output undefined."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

import framedex_native
import tpu_abi
import tpu_decoding
from tests.running import plain_environment

pytestmark = pytest.mark.exhaustive

ABI = tpu_abi.load()
# Functions that only TensorFlow called: none of them is implemented.
GROUPS = ("TpuProgram_", "TpuEmbeddingEngine_", "TpuNodeContext_", "TpuProfiler_", "TpuConfigurationApi_")
MARK = 0x5EED5EED5EED5EED


def is_called_here(function: tpu_abi.Function) -> bool:
    """Whether it takes a status, and no structs by value."""
    by_value = any(parameter.type in ABI.structs for parameter in function.parameters)
    return function.name.startswith(GROUPS) and tpu_decoding.status(ABI, function) == "status" and not by_value


FUNCTIONS = {function.name: function for function in ABI.functions if is_called_here(function)}


@pytest.fixture(scope="module")
def library() -> ctypes.CDLL:
    """The library, with the functions of a status."""
    loaded = ctypes.CDLL(str(framedex_native.library_path()))
    loaded.TpuStatus_New.restype = ctypes.c_void_p
    loaded.TpuStatus_Message.restype = ctypes.c_char_p
    return loaded


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_unimplemented_function_returns_its_name_and_clears_outputs(library: ctypes.CDLL, name: str) -> None:
    function = FUNCTIONS[name]
    status = ctypes.c_void_p(library.TpuStatus_New())
    outputs = {output: (ctypes.c_uint64 * 2)(MARK, MARK) for output in tpu_decoding.outputs(function)}
    arguments = [
        status if parameter.name == "status" else outputs.get(parameter.name) for parameter in function.parameters
    ]
    getattr(library, name)(*arguments)
    assert library.TpuStatus_Code(status) == ABI.values["Status code (TpuStatus_Code)"]["unimplemented"]
    assert library.TpuStatus_Message(status).decode().startswith(f"{name} is not implemented")
    assert all(output[0] & 0xFF == 0 for output in outputs.values())
    library.TpuStatus_Free(status)


def test_behaviours_without_effect_are_reported() -> None:
    program = "import ctypes, sys; ctypes.CDLL(sys.argv[1]).TpuStatus_New()"
    environment = plain_environment() | {"FRAMEDEX_BEHAVIOUR": "/home/me/mine.py"}
    command = [sys.executable, "-c", program, str(framedex_native.library_path())]
    completed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "behaviours need the PJRT C API" in completed.stderr and "ignoring /home/me/mine.py" in completed.stderr

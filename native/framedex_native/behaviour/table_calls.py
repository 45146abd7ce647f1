"""The behaviours' own calls of the runtime, made below their layer: no behaviour receives them."""

from __future__ import annotations

import ctypes
from typing import Any

from . import layer
from .abi import Struct, functions
from .errors import Failed, code_name
from .memory import ADDRESS, MemoryOwner, pack, put
from .reading import CopiedFields
from .views import Outputs
from .writing import write


def call_table(name: str, **inputs: Any) -> CopiedFields:
    """Call a function of the table with inputs like those of `call.arguments`, and return its outputs.

    Raises Failed if the function fails, ValueError or TypeError for inputs that it does not accept.
    """
    function = functions()[name]
    struct = function.arguments
    block, address = _arguments(struct)
    keeper = MemoryOwner()
    write(struct, address, inputs, keeper, outputs=False)
    failure = layer.layer().call_function(function.number, address)
    if failure is not None:
        raise Failed(code_name(failure.code), failure.text)
    outputs = CopiedFields(Outputs(struct, address, lambda: None))
    del block  # keep the struct alive until C has read and written it
    return outputs


def _arguments(struct: Struct) -> tuple[Any, int]:
    """Zeroed memory for an argument struct, and its address."""
    block = ctypes.create_string_buffer(struct.size)
    address = ctypes.addressof(block)
    put(address, pack(ADDRESS, [struct.struct_size]))
    return block, address

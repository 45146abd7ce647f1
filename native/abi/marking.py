"""The output fields that get a mark before a call, and the struct sizes that callers pass.

A mark goes only into a field that the API's headers call an output. Fields that are also inputs, and pointers to the
caller's memory, keep the caller's bytes.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from decoding import OUTPUTS, count_name, guard_of_output
from pjrt_abi import Abi, Field, Struct

# Outputs that are written through a pointer from the caller.
OF_CALLER = {
    ("PJRT_Client_DefaultDeviceAssignment_Args", "default_assignment"),
    ("PJRT_Executable_OptimizedProgram_Args", "program"),
    ("PJRT_TpuTopology_GetRoutingStrategy_Args", "routing_strategy"),
    ("PJRT_TpuTopology_GetRoutingStrategy_Args", "routing_strategy_len"),
    ("PJRT_TpuTopology_GetSliceConfig_Args", "slice_config"),
    ("PJRT_Transfers_PJRT_Client_CrossHostReceiveBuffers_Args", "buffers"),
    ("PJRT_Transfers_PJRT_Client_MakeCrossHostReceiveBuffers_Args", "buffers"),
    ("PJRT_Transfers_PJRT_Client_CrossHostSendBuffers_Args", "send_events"),
}
# Lists in the caller's memory: the arguments of `ListMarks::begin`.
LISTS = {
    ("PJRT_LoadedExecutable_Execute_Args", "output_lists"): (
        "args->output_lists, args->num_devices, outputs_of(args->executable)"
    ),
    ("PJRT_LoadedExecutable_Execute_Args", "device_complete_events"): "args->device_complete_events, args->num_devices",
}


def struct_sizes(abi: Abi, struct: Struct) -> list[tuple[str, str, str]]:
    """The sizes that a caller passes: the value's name, the condition under which it differs, the C++ expression."""
    found = [("struct_size", "", "args", struct)] if struct.struct_size and struct.field("struct_size") else []
    for field in struct.fields:
        target = abi.structs.get(field.type.removeprefix("const ").removesuffix("*"))
        if target and field.type.endswith("*") and field.name != "extension_start" and _is_input_struct(field, target):
            access = f"args->{field.name}"
            guard = f"has(args, &{struct.name}::{field.name}) && {access} != nullptr && "
            found.append((f"{field.name}.struct_size", guard, access, target))
    return [
        (name, f"{guard}{access}->struct_size != {each.struct_size}", f"{access}->struct_size")
        for name, guard, access, each in found
    ]


def _is_input_struct(field: Field, target: Struct) -> bool:
    has_size = target.struct_size is not None and target.field("struct_size") is not None
    return has_size and not field.is_output and target.field("vtable") is None


class Marks:
    """The marks in the arguments of a function. Bit N of a mask stands for `names[N]`."""

    def __init__(self, abi: Abi, struct: Struct) -> None:
        self._abi = abi
        self._struct = struct
        self._fields = [field for field in struct.fields if _is_marked(abi, struct, field)]
        self._lists = [field for field in struct.fields if (struct.name, field.name) in LISTS]
        self.names = [field.name for field in (*self._fields, *self._lists)]

    def definition(self, name: str) -> Iterator[str]:
        """The C++ struct `name` with `begin(args)`, and with `end()`, which returns the mask of unassigned fields."""
        yield f"struct {name} {{"
        for field in self._fields:
            yield f"  OutputMark<sizeof({self._struct.name}::{field.name})> {field.name};"
        for field in self._lists:
            yield f"  ListMarks {field.name};"
        yield f"  void begin([[maybe_unused]] {self._struct.name}* args) {{"
        for field in self._fields:
            yield f"    if ({guard_of_output(self._struct, field)}) {field.name}.begin(&args->{field.name});"
        for field in self._lists:
            yield f"    {field.name}.begin({LISTS[self._struct.name, field.name or '']});"
        yield "  }"
        yield "  uint64_t end() {"
        yield "    uint64_t unfilled = 0;"
        for bit, each in reversed([*enumerate(self.names)]):  # the lists are a stack
            yield f"    if ({each}.end()) unfilled |= uint64_t{{1}} << {bit};"
        yield "    return unfilled;"
        yield "  }"
        yield "};"

    def null_results(self, name: str, named_objects: Container[str]) -> Iterator[str]:
        """The C++ function `name`, which returns the mask of results that a successful call must not set to null.

        These are lists and texts with a positive length, and `named_objects`, which other objects own. `unfilled` is
        the mask of the fields that are not assigned.
        """
        yield f"uint64_t {name}([[maybe_unused]] {self._struct.name}* args, [[maybe_unused]] uint64_t unfilled) {{"
        yield "  uint64_t nulls = 0;"
        for field in self._fields:
            count = count_name(self._struct, field)
            is_list = count in self.names and not self._is_owner(field)
            if not is_list and field.name not in named_objects:
                continue
            condition = f"args->{field.name} == nullptr" + (f" && args->{count} != 0" if is_list else "")
            guard = f"(unfilled & {self.mask(condition)}) == 0 && {guard_of_output(self._struct, field)}"
            yield f"  if ({guard} && {condition}) nulls |= {self.mask(f'args->{field.name}')};"
        yield "  return nulls;"
        yield "}"

    def _is_owner(self, field: Field) -> bool:
        """Whether a field is the owner of another list, such as `device_attributes`: it may be null."""
        target = field.type.removesuffix("*")
        return target.startswith("PJRT_") and target not in self._abi.enums and target.isidentifier()

    def mask(self, code: str) -> int:
        """The bits of the fields that C++ code reads."""
        read = set(re.findall(r"args->(\w+)", code))
        return sum(1 << bit for bit, name in enumerate(self.names) if name in read)


def _is_marked(abi: Abi, struct: Struct, field: Field) -> bool:
    if struct.field(f"{field.name}_is_set"):
        return False  # a flag says whether it has a value
    is_output = field.is_output or (struct.name, field.name) in OUTPUTS
    is_simple = field.name is not None and field.type not in abi.structs and "[" not in field.type
    return is_output and is_simple and not field.is_input and (struct.name, field.name) not in OF_CALLER

"""The C++ that judges a call while the program runs: see native/pjrt/live_rules.

Each function with objects has `judge_inputs_NAME` and `judge_results_NAME`. They pass its objects to a `Judge`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from decoding import Value, values
from generate_struct_sizes import caller_sizes
from marking import Marks, struct_sizes
from pjrt_abi import Abi, Function

# The types whose every creation is recorded, and their C++ enumerators.
_TYPES = {
    "client": "kClient", "buffer": "kBuffer", "event": "kEvent", "executable": "kExecutable",
    "loaded_executable": "kLoadedExecutable", "async_host_to_device_transfer_manager": "kTransferManager",
}  # fmt: skip
# The condition under which a successful call has no results, because it only queries a size.
_SIZE_QUERIES = {"PJRT_Buffer_ToHostBuffer": "args->dst == nullptr"}


Objects = Mapping[str, Mapping[str, Any]]
"""The entries of a function in generate_objects.functions: type, role and list of each object value."""


def judges(abi: Abi, function: Function, objects: Objects, marks: Marks) -> Iterator[str]:
    """The definitions of both functions."""
    name = function.name
    struct = abi.structs[function.arguments]
    recorded = values(abi, struct)
    yield f"[[maybe_unused]] void judge_inputs_{name}([[maybe_unused]] {function.arguments}* args,"
    yield "    uint64_t stack) {"
    yield f'  [[maybe_unused]] Judge judge("{name}", stack);'
    sizes = caller_sizes(abi, struct)
    for field, guard, size in struct_sizes(abi, struct):
        if field in sizes:
            yield f'  if ({guard}) judge.struct_size("{field}", {size}, {sizes[field][0]});'
    inputs = [value for value in recorded if not value.is_output and value.name in objects]
    receiver = inputs[0] if inputs else None
    if receiver and "list" not in objects[receiver.name] and objects[receiver.name]["role"] != "destroys":
        yield f'  if ({receiver.guard}) judge.receiver("{receiver.name}", args->{receiver.name});'
    reads = any(known["role"] == "creates" for known in objects.values())
    roles = {"uses": "kReads" if reads else "kUses", "destroys": "kDestroys"}
    yield from _statements(inputs, objects, roles)
    yield "}"
    yield f"[[maybe_unused]] void judge_results_{name}([[maybe_unused]] {function.arguments}* args,"
    yield "    uint64_t stack, bool is_error, uint64_t unfilled) {"
    yield f'  [[maybe_unused]] Judge judge("{name}", stack);'
    yield "  if (is_error) {"
    yield from _statements(inputs, objects, {"destroys": "kFailsToDestroy"})
    yield "    return;"
    yield "  }"
    if query := _SIZE_QUERIES.get(name):
        yield f"  if ({query}) return;"
    if marks.names:
        names = ", ".join(f'"{each}"' for each in marks.names)
        yield f"  static const char* const names[] = {{{names}}};"
        yield "  if (unfilled != 0) return judge.unfilled(names, unfilled);"
    else:
        yield "  static_cast<void>(unfilled);"
    results = [value for value in recorded if value.is_output and value.name in objects]
    for value in results:
        known = objects[value.name]
        if known["role"] == "creates" and "list" not in known:
            yield f'  if ({value.guard}) judge.result("{value.name}", args->{value.name});'
    yield from _statements(results, objects, {"creates": "kCreates", "names": "kNames"})
    deleted = name.endswith("_IsDeleted")
    if deleted:
        yield "  if (args->is_deleted) {"
    yield from _statements(inputs, objects, {"uses" if deleted else "deletes": "kDeletes"})
    if deleted:
        yield "  }"
    yield "}"


def _statements(recorded: list[Value], objects: Objects, roles: Mapping[str, str]) -> Iterator[str]:
    """The statements that pass the objects with one of these roles."""
    for value in recorded:
        known = objects[value.name]
        if known["role"] in roles and known["type"] in _TYPES:
            meaning = f'LiveRole::{roles[known["role"]]}, ObjectType::{_TYPES[known["type"]]}, "{value.name}"'
            judge = f"judge.as({meaning})"
            yield f"  if ({value.guard}) {value.statement.format(writer=judge, index=0)}"

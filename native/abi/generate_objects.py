"""Write the indexer's table of PJRT objects: `python generate_objects.py`. A test compares it with the data.

For every function of the C API and its extensions, the table lists the outputs among the recorded values. It also lists
the objects, with their type and the effect of the call on them. All of this follows from the types of the argument
structs and the naming conventions of the C API. `OWNED_BY_ANOTHER` holds facts that only the API's comments state.

The table is committed next to its reader, because an index outlives the build that recorded a capture. The C API only
ever adds names, so the newest table also reads older captures.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pjrt_abi
from decoding import values
from pjrt_abi import Abi, Field, Struct

DATA = Path(__file__).with_name("pjrt_c_api.json")
TARGET = Path(__file__).parents[2] / "indexer" / "framedex" / "programs" / "objects" / "pjrt_objects.json"

# pjrt_c_api.h: "topology is owned by the client and should not be deleted by the caller."
# pjrt_c_api_layouts_extension.h: an executable owns its layouts, and they live as long as it does.
OWNED_BY_ANOTHER = {
    ("PJRT_Client_TopologyDescription", "topology"),
    ("PJRT_Layouts_PJRT_Executable_GetOutputLayouts", "layouts"),
    ("PJRT_Layouts_PJRT_Executable_GetParameterLayouts", "layouts"),
}

# pjrt_c_api.h: these wait until the buffer is ready.
WAITS = {"PJRT_Buffer_UnsafePointer", "PJRT_Buffer_OpaqueDeviceMemoryDataPointer"}


def main() -> None:
    """Write the table to the indexer's folder."""
    TARGET.write_text(table(pjrt_abi.load(DATA)))


def table(abi: Abi) -> str:
    """The table as JSON, one function per line."""
    lines = [f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in functions(abi).items() if entry]
    about = "Made by native/abi/generate_objects.py; do not edit."
    return f'{{\n  "about": "{about}",\n  "functions": {{\n' + ",\n".join(lines) + "\n  }\n}\n"


def functions(abi: Abi) -> dict[str, dict[str, Any]]:
    """The entries of the table, by function; empty for a function without outputs and objects."""
    types = _object_types(abi)
    return {name: _function(abi, name, struct, types) for name, struct in argument_structs(abi).items()}


def queries(abi: Abi) -> set[str]:
    """The functions whose calls have no effect: from one object they return facts, or objects that others own."""
    structs, entries = argument_structs(abi), functions(abi)
    return {name for name, entry in entries.items() if name not in WAITS and _is_query(abi, structs[name], entry)}


def _is_query(abi: Abi, struct: Struct, entry: dict[str, Any]) -> bool:
    inputs = [value.name for value in values(abi, struct) if not value.is_output]
    roles = {field: known["role"] for field, known in entry.get("objects", {}).items()}
    is_quiet = set(roles.values()) <= {"uses", "names"} and "takes_callback" not in entry
    return is_quiet and "outputs" in entry and len(inputs) == 1 and roles.get(inputs[0]) == "uses"


def argument_structs(abi: Abi) -> dict[str, Struct]:
    """The argument structs of all functions, including extensions and callbacks, by function name."""
    arguments = [name for name in abi.structs if name.startswith("PJRT_") and name.endswith("_Args")]
    named = {name.removesuffix("_Args"): name for name in arguments}
    for name, target in abi.typedefs.items():  # some function types are not named after their struct
        signature = re.search(r"\((\w+)\*\)$", target)
        if signature and signature[1] in arguments:
            named[name] = signature[1]
    return {name: abi.structs[struct] for name, struct in named.items()}


def _object_types(abi: Abi) -> dict[str, str | None]:
    """The object types with their destroying functions; None for types that another object owns.

    An object is the first argument of a function: a pointer to a type that is opaque in the C API.
    """
    receivers = {
        _target(fields[0])
        for struct in argument_structs(abi).values()
        if (fields := [field for field in struct.fields if field.name not in ("struct_size", "extension_start")])
    }
    found: dict[str, str | None] = {name: None for name in sorted(receivers) if name and _is_opaque(abi, name)}
    for word in ("Delete", "Destroy"):  # Destroy overrides Delete: a deleted object must still be destroyed
        for name, struct in argument_structs(abi).items():
            objects = [target for field in struct.fields if (target := _target(field)) in found]
            if re.search(f"_{word}(_|[A-Z]|$)", name) and len(objects) == 1:
                found[objects[0]] = name
    return found


def _is_opaque(abi: Abi, name: str) -> bool:
    if name in abi.structs:
        return {field.name for field in abi.structs[name].fields} == {"vtable"}
    return abi.typedefs.get(name) == name


def _function(abi: Abi, name: str, struct: Struct, types: dict[str, str | None]) -> dict[str, Any]:
    outputs: list[str] = []
    objects: dict[str, dict[str, Any]] = {}
    for value in values(abi, struct):
        if value.is_output:
            outputs.append(value.name)
        field = _field(abi, struct, value.name)
        target = _target(field) if field is not None else ""
        if field is not None and target in types:
            role = _role(name, field, types[target], value.is_output)
            objects[value.name] = {"type": _snake_case(target), "role": role}
            if field.type.count("*") > 1:
                objects[value.name]["list"] = True
    entry: dict[str, Any] = {}
    if outputs:
        entry["outputs"] = outputs
    if objects:
        entry["objects"] = objects
    if objects and any("(" in field.type or field.type.endswith("Callback") for field in struct.fields):
        entry["takes_callback"] = True
    if (number := struct.field("id")) and number.type == "int" and objects:
        entry["identifies"] = list(objects)[-1]
    arrays = [field for field, known in objects.items() if known["role"] == "creates" and known["type"] in _arrays(abi)]
    if arrays and any(value.name == "bytes" for value in values(abi, struct)):
        entry["sizes"] = arrays
    if name.endswith("_IsDeleted"):
        entry["tells_deleted"] = "is_deleted"
    if _works(abi, struct, objects):
        entry["works"] = True
    return entry


def _works(abi: Abi, struct: Struct, objects: dict[str, dict[str, Any]]) -> bool:
    """Whether a call does a program's actual work: it compiles, loads or runs a program, or moves data.

    Such a call takes a program, creates an object that holds device memory or compiles programs, or returns an event
    for received data.
    """
    made = {known["type"] for known in objects.values() if known["role"] == "creates"}
    holders = {_snake_case(name.removesuffix("_Delete")) for name in argument_structs(abi) if name.endswith("_Delete")}
    given = [field for field in struct.fields if field.name not in ("struct_size", "extension_start", *objects)]
    compilers = {
        _snake_case(_target(each.fields[2])) for each in argument_structs(abi).values() if _takes_program(each)
    }
    return _takes_program(struct) or bool(made & (holders | compilers)) or ("event" in made and bool(given))


def _takes_program(struct: Struct) -> bool:
    return any(field.type == "const PJRT_Program*" for field in struct.fields)


def _arrays(abi: Abi) -> set[str]:
    """The object types that have a shape, and thus a size."""
    return {
        _snake_case(name.removesuffix("_Dimensions")) for name in argument_structs(abi) if name.endswith("_Dimensions")
    }


def _role(function: str, field: Field, destroyer: str | None, is_output: bool) -> str:
    if is_output:
        return "names" if destroyer is None or (function, field.name) in OWNED_BY_ANOTHER else "creates"
    if function == destroyer:
        return "destroys"
    # A donated buffer is like a deleted one: only its handle remains.
    return "deletes" if re.search(r"_(Delete|Donate\w*)$", function) else "uses"


def _field(abi: Abi, struct: Struct, name: str) -> Field | None:
    """The field of a recorded value, whose name is dotted in a nested struct; None for values without a field."""
    first, _, rest = name.partition(".")
    field = struct.field(first)
    if field is None or not rest:
        return field
    nested = abi.structs.get(_target(field))
    return _field(abi, nested, rest) if nested is not None else None


def _target(field: Field) -> str:
    """The type of a field without qualifiers and pointers."""
    return re.sub(r"\bconst\b|[*\s]", "", field.type)


def _snake_case(name: str) -> str:
    """`PJRT_LoadedExecutable` -> `loaded_executable`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.removeprefix("PJRT_")).lower()


if __name__ == "__main__":
    main()

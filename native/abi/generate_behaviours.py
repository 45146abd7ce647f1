"""Write the table of the behaviour layer: one wrapper for each function, and the layer's facts about the function."""

from __future__ import annotations

import re

from generate_trace import NOTICE
from pjrt_abi import API_STRUCT, Abi, Field, Function


def behaviour_table(abi: Abi) -> str:
    """The wrappers, and `kFunctions` with a row for each."""
    lines = [NOTICE, '#include "pjrt/behaviours/functions.h"', '#include "pjrt/behaviours/wrapping.h"']
    lines += ["namespace framedex::behaviours {", "namespace {"]
    for number, function in enumerate(abi.functions):
        call = f"wrapped_call({number}, args, args->struct_size)"
        statement = f"return {call};" if function.returns_error else f"discard({call}, {number});"
        lines.append(f"{function.returns} {function.name}({function.arguments}* args) {{ {statement} }}")
    lines += ["}  // namespace", "const std::vector<Function> kFunctions = {"]
    for function in abi.functions:
        row = (
            f'"{function.name}"',
            f"offsetof({API_STRUCT}, {function.name})",
            f"reinterpret_cast<Entry>(reinterpret_cast<void*>(&{function.name}))",
            str(function.returns_error).lower(),
            str(takes_only_values(abi, function)).lower(),
        )
        lines.append(f"    {{{', '.join(row)}}},")
    return "\n".join([*lines, "};", "}  // namespace framedex::behaviours", ""])


def takes_only_values(abi: Abi, function: Function) -> bool:
    """Whether all inputs are handles, numbers and callbacks, so that a copy of the argument struct is complete."""
    fields = abi.structs[function.arguments].fields
    return all(_is_value(abi, field) for field in fields if not field.is_output and field.name != "extension_start")


def _is_value(abi: Abi, field: Field) -> bool:
    if "*" not in field.type or "(*)" in field.type:
        return True
    target = re.sub(r"^const ", "", field.type).removesuffix("*")
    is_users = target == "void" and (field.name or "").endswith("_arg")
    return is_users or abi.typedefs.get(target) == target or target in ("PJRT_Error", "PJRT_Memory")

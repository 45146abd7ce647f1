"""Write the wrappers of functions in tables that belong to objects, such as `PJRT_Memory_FunctionTable`.

Such functions take parameters, not an argument struct. Each wrapper exists once per table of a type
(`native/pjrt/object_tables.h`), because some functions get no object that would lead to their table.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from decoding import SIGNED, UNSIGNED, Value, count_name, guard_of_output
from generate_header import declare
from marking import Marks
from pjrt_abi import API_STRUCT, Abi, Struct

SUFFIX = "_FunctionTable"
# The minor version from which objects have a table. Other types always had one.
SINCE = {"PJRT_Memory": 105, "PJRT_Error": 107}
_SIGNATURE = re.compile(r"(?P<returns>.+?) \(\*\)\((?P<parameters>.*)\)")
_EVENT = "PJRT_DeviceEvent"
NUMBERS = SIGNED | UNSIGNED | {"bool"}


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function."""

    name: str
    type: str


@dataclass(frozen=True)
class ObjectFunction:
    """A function in the table of an object."""

    table: str
    member: str
    returns: str
    parameters: tuple[Parameter, ...]

    @property
    def name(self) -> str:
        """The function's name in captures and in the guidebook."""
        return f"{self.table}.{self.member}"

    @property
    def names(self) -> str:
        """The C++ array with the names of its values."""
        return f"names_{self.table}_{self.member}"


@dataclass(frozen=True)
class ObjectTable:
    """A table, and the type of the objects that carry it."""

    struct: Struct
    object: str
    functions: tuple[ObjectFunction, ...]


def object_tables(abi: Abi) -> list[ObjectTable]:
    """The tables of objects in the API."""
    tables = [struct for struct in abi.structs.values() if struct.name.endswith(SUFFIX)]
    return [ObjectTable(each, each.name.removesuffix(SUFFIX), tuple(_functions(each))) for each in tables]


def _split_parameters(parameters: str) -> list[str]:
    """The types of parameters, split at commas outside of parentheses."""
    return [part.strip() for part in re.split(r",(?![^()]*\))", parameters) if part.strip()]


def _functions(struct: Struct) -> Iterator[ObjectFunction]:
    for field in struct.fields:
        match = _SIGNATURE.fullmatch(field.type)
        if match and field.name:
            types = _split_parameters(match["parameters"])
            parameters = tuple(map(Parameter, field.parameters, types))
            yield ObjectFunction(struct.name, field.name, match["returns"], parameters)


def traced_objects(abi: Abi, first: int) -> Iterator[str]:
    """The wrappers, and functions that trace an object. The functions' numbers begin with `first`."""
    tables = object_tables(abi)
    index = first
    for table in tables:
        yield f"ObjectTables<{table.struct.name}> tables_{table.object};"
    for table in tables:
        yield f"[[maybe_unused]] void adopt(const {table.object}* object);"
    for table in tables:
        for function in table.functions:
            names = ", ".join(f'"{value.name}"' for value in _values(abi, function))
            yield f"const char* const {function.names}[] = {{{names}}};"
        yield "template <size_t kSlot>"
        yield f"struct Traced_{table.object} {{"
        for function in table.functions:
            yield from _wrapper(abi, index, table, function)
            index += 1
        yield f"  static void wrap({table.struct.name}& table) {{"
        for function in table.functions:
            yield f"    if (table.{function.member} != nullptr) table.{function.member} = {function.member};"
        yield "  }"
        yield "};"
    for table in tables:
        yield from _adoption(table)


def _adoption(table: ObjectTable) -> Iterator[str]:
    name = table.object
    yield f"void adopt(const {name}* object) {{"
    since = f"minor_version >= {SINCE[name]} && " if name in SINCE else ""
    wraps = ", ".join(f"Traced_{name}<{slot}>::wrap" for slot in range(4))
    yield f"  static void (*const wraps[])({table.struct.name}&) = {{{wraps}}};"
    yield f"  if ({since}object != nullptr) tables_{name}.adopt(object, wraps);"
    yield "}"


def adoptions(abi: Abi, struct: Struct, marks: Marks) -> Iterator[str]:
    """Statements that trace the objects among the outputs of a call."""
    types = {table.object for table in object_tables(abi)}
    for field in struct.fields:
        target = re.sub(r"\bconst\b|[*\s]", "", field.type)
        if target not in types or not field.is_output or field.name is None:
            continue
        count = count_name(struct, field)
        mask = marks.mask(f"args->{field.name} args->{count}")
        guard = f"(unfilled & {mask}) == 0 && {guard_of_output(struct, field)}"
        if field.type.count("*") == 1:
            yield f"  if ({guard}) adopt(args->{field.name});"
        elif count:
            yield f"  for (size_t i = 0; {guard} && args->{field.name} != nullptr && i < args->{count}; ++i)"
            yield f"    adopt(args->{field.name}[i]);"


def _wrapper(abi: Abi, index: int, table: ObjectTable, function: ObjectFunction) -> Iterator[str]:
    declared = ", ".join(declare(each.type, each.name) for each in function.parameters)
    passed = ", ".join(each.name for each in function.parameters)
    values = [value.name for value in _values(abi, function)]
    returned = "return;" if function.returns == "void" else "return result;"
    yield f"  static {function.returns} {function.member}({declared}) {{"
    yield f"    auto* original = tables_{table.object}.original(kSlot).{function.member};"
    yield f"    if (tables_{table.object}.is_internal(kSlot, __builtin_return_address(0))) return original({passed});"
    yield f"    recorder::Call call(first_function + {index});"
    yield from _entry_statements(abi, function)
    if function.returns != "void":
        yield f"    {function.returns} result;"
    yield "    try {"
    yield f"      {'' if function.returns == 'void' else 'result = '}original({passed});"
    yield "    } catch (...) {"
    yield "      if (call.is_recording()) {"
    for each in function.parameters:
        if is_output(abi, each):
            yield f"        mark_{each.name}.end();"
    yield f"        leave_by_exception(call, {values.index('exception')});"
    yield "      }"
    yield "      throw;"
    yield "    }"
    yield f"    if (!call.is_recording()) {returned}"
    yield from _exit_statements(abi, function)
    yield f"    {returned}"
    yield "  }"


def _entry_statements(abi: Abi, function: ObjectFunction) -> Iterator[str]:
    """Statements that record the inputs, and mark the outputs."""
    outputs = [each.name for each in function.parameters if is_output(abi, each)]
    for name in outputs:
        yield f"    OutputMark<sizeof(*{name})> mark_{name};"
    yield "    if (call.is_recording()) {"
    yield from _statements(abi, function, outputs=False)
    yield "      call.enter();"
    yield "    }"
    for name in outputs:
        yield f"    if (call.is_recording() && {name} != nullptr) mark_{name}.begin({name});"


def _exit_statements(abi: Abi, function: ObjectFunction) -> Iterator[str]:
    """Statements that record the outputs and the end of the call."""
    for each in function.parameters:
        if is_output(abi, each):
            yield f"    bool has_{each.name} = !mark_{each.name}.end() && {each.name} != nullptr;"
    fails = function.returns == "PJRT_Error*"
    yield "    if (result == nullptr) {" if fails else "    {"
    yield from _statements(abi, function, outputs=True)
    yield "    }"
    if fails:
        yield f"    leave(call, plugin_{API_STRUCT}, result, {len(_values(abi, function)) - 1});"
        yield "    adopt(result);"
    else:
        yield "    call.leave(0, {});"


def _statements(abi: Abi, function: ObjectFunction, *, outputs: bool) -> Iterator[str]:
    yield "      [[maybe_unused]] recorder::ArgumentWriter& writer = call.arguments();"
    for number, value in enumerate(_values(abi, function)):
        if value.is_output == outputs and value.statement:
            yield f"      if ({value.guard}) {{ {value.statement.format(writer='writer', index=number)} }}"


def is_output(abi: Abi, parameter: Parameter) -> bool:
    """Whether the parameter is an output: the function assigns through this pointer."""
    target = parameter.type.removesuffix("*")
    if target == parameter.type:
        return False
    is_object = target.endswith("*") and target.removesuffix("*") in abi.structs
    return is_object or target in NUMBERS | {_EVENT, "const char*"} or target in abi.enums


def _values(abi: Abi, function: ObjectFunction) -> list[Value]:
    """The values of a call. Callbacks have none, and a text includes its size."""
    names = {each.name for each in function.parameters}
    shown = [
        each
        for each in function.parameters
        if "(" not in abi.typedefs.get(each.type, each.type)
        and not (each.name.endswith("_size") and each.name.removesuffix("_size") in names)
    ]
    found = [_value(abi, each) for each in shown]
    found.append(Value("exception", "", "true", True))
    if function.returns == "PJRT_Error*":
        found.append(Value("error_object", "", "true", True))
    elif function.returns != "void":
        adopted = " adopt(result);" if function.returns == "PJRT_Memory*" else ""
        found.append(Value("result", _statement(abi, function.returns, "result") + adopted, "true", True))
    return found


def _value(abi: Abi, parameter: Parameter) -> Value:
    name = parameter.name
    if not is_output(abi, parameter):
        return Value(name, _statement(abi, parameter.type, name), "true", False)
    if parameter.type == "const char**":
        text = f"{{writer}}.text_or_size({{index}}, *{name}, *{name}_size);"
        return Value(name, text, f"has_{name} && has_{name}_size", True)
    target = parameter.type.removesuffix("*")
    adopted = {"PJRT_RawBuffer*": f" adopt(*{name});", _EVENT: f" adopt({name});"}.get(target, "")
    return Value(name, _statement(abi, target, f"*{name}") + adopted, f"has_{name}", True)


def _statement(abi: Abi, c_type: str, access: str) -> str:
    if c_type in abi.enums:
        return f"enumeration({{writer}}, {{index}}, {access});"
    if c_type == "bool":
        return f"{{writer}}.boolean({{index}}, {access});"
    if c_type in SIGNED | UNSIGNED:
        return f"{{writer}}.integer({{index}}, static_cast<int64_t>({access}));"
    if c_type == _EVENT:
        return f"{{writer}}.address({{index}}, ({access}).device_event);"
    return f"{{writer}}.address({{index}}, {access});"

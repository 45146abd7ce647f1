"""Readable text of calls and of their arguments.

A boundary call is `PJRT_Buffer_ToHostBuffer(buffer#1, host_layout.type=Tiled) -> dst_size=24, event#2`. A run of an FFI
handler is `rms_norm(f32[4,8], eps=f32(1e-05)) -> f32[4,8]`.

Addresses are omitted: objects of the runtime have names, and any other address is meaningless to a reader.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from framedex.base import words
from framedex.base.plaintext import make_printable, truncate
from framedex.programs.objects import find_boundary_function
from framedex.texts.errors import format_headline, format_message_with_code

if TYPE_CHECKING:
    from framedex.model import CallRow
    from framedex.programs.objects import BoundaryFunction

_MAX_TEXT_LENGTH = 40  # characters of a text
_MAX_ELEMENTS = 4  # elements of a list
_MAX_BRIEF_VALUES = 3  # values of brief arguments
_FFI = "ffi"  # the boundary with values that are already texts: `f32[4,8], s32[]` and `eps=f32(1e-05), how="x"`
_NO_VALUES = {"error_message", "more_values_not_recorded"}
_NESTED_SIZE = ".struct_size"  # the size that a client of another version wrote; `check` judges it
_KEPT = ".kept"  # the suffix of arguments whose value is the name of a file in the capture


def call_text(call: CallRow) -> str:
    """The function, its arguments and its result, on one line without control characters."""
    return f"{format_function(call)}({format_arguments(call)}){format_outcome(call)}"


def format_function(call: CallRow) -> str:
    """The function of a call, after its plug-in if the capture has several."""
    return add_plugin(call.function, call.plugin)


def add_plugin(function: str, plugin: str) -> str:
    """A function after its plug-in: `[plugin.so] PJRT_Client_Create`. An empty `plugin` adds nothing."""
    return make_printable(f"[{plugin}] {function}" if plugin else function)


def format_arguments(call: CallRow) -> str:
    """The arguments of a call."""
    if call.boundary == _FFI:
        return ", ".join(
            make_printable(text) for name in ("arguments", "attributes") if (text := _format_string(call, name))
        )
    known = find_boundary_function(call.function)
    return ", ".join(_format_values(call, known, [name for name in call.arguments if name not in known.outputs]))


def format_arguments_briefly(arguments: dict[str, Any]) -> str:
    """The arguments of any function, abbreviated: shape and bytes of an array, else the first few plain values."""
    if (shape := _format_array(arguments)) is not None:
        return shape
    given, results = arguments.get("arguments"), arguments.get("results")
    if isinstance(given, str) and isinstance(results, str):  # of an FFI handler
        return make_printable(f"({given}) -> ({results})")
    plain = [_format_value(name, value) for name, value in arguments.items() if _is_shown(arguments, name)]
    return ", ".join(plain[:_MAX_BRIEF_VALUES]) + (", …" if len(plain) > _MAX_BRIEF_VALUES else "")


def format_recorded_arguments(arguments: dict[str, Any]) -> str:
    """Every argument with a meaningful value, as `name=JSON`."""
    return make_printable(
        ", ".join(
            f"{name}={json.dumps(value, ensure_ascii=False)}"
            for name, value in arguments.items()
            if name != "error_message" and _is_meaningful(value)
        )
    )


def format_objects(call: CallRow) -> str:
    """The objects among the values of a call, each with its argument name."""
    return ", ".join(f"{make_printable(name)}={_format_object(named)}" for name, named in call.objects.items())


def list_values_by_name(call: CallRow) -> list[tuple[str, str]]:
    """Every value that a call received or returned, by name, in the order of the struct."""
    return [
        (
            make_printable(name),
            _format_object(named)
            if (named := call.objects.get(name)) is not None
            else _format_plain_value(name, value),
        )
        for name, value in call.arguments.items()
        if not _is_left_out(call.arguments, name)
    ]


def format_outcome(call: CallRow) -> str:
    """An arrow and the result of a call, or its error; empty if the call has no result or never returned."""
    if call.error > 0:
        return f" -> {format_error_headline(call)}"
    if call.boundary == _FFI:
        given = _format_string(call, "results")
        when = " later" if call.arguments.get("asynchronous") else ""
        return f" -> {make_printable(given)}{when}" if given else ""
    known = find_boundary_function(call.function)
    results = list(_format_values(call, known, [name for name in call.arguments if name in known.outputs]))
    if len(results) == 1:  # a single result needs no name
        results = [results[0].partition("=")[2] or results[0]]
    return f" -> {', '.join(results)}" if results else ""


def format_error_lines(call: CallRow) -> list[str]:
    """The error of a call with its message, line by line."""
    return [make_printable(line) for line in _format_full_error(call).split("\n")]


def format_error_headline(call: CallRow) -> str:
    """The error of a call on one line; see `framedex.texts.errors.format_headline`."""
    return make_printable(format_headline(_format_full_error(call)))


def _format_full_error(call: CallRow) -> str:
    return format_message_with_code(call.error, str(call.arguments.get("error_message") or ""))


def _format_string(call: CallRow, name: str) -> str:
    value = call.arguments.get(name)
    return value if isinstance(value, str) else ""


def _format_values(call: CallRow, known: BoundaryFunction, names: list[str]) -> Iterator[str]:
    """The meaningful named values as strings: an object by name, an array as type, shape and size."""
    types = {field.name: field.type for field in known.objects}
    first = next(iter(types), None)
    shape = _format_array(call.arguments) if "type" in names or len(names) == len(call.arguments) else None
    plain: list[str] = []
    for name in names:
        value = call.arguments[name]
        if shape is not None and name in ("type", "dims", "bytes"):
            if name == "type":
                yield shape
            continue
        named = None if _is_left_out(call.arguments, name) else call.objects.get(name)
        if named is not None:
            is_clear = isinstance(named, list) or name in known.outputs or name in (first, types.get(name))
            yield _format_object(named) if is_clear else f"{name}={_format_object(named)}"
        elif _is_shown(call.arguments, name):
            plain.append(_format_value(name, value))
    yield from plain


def _format_array(arguments: dict[str, Any]) -> str | None:
    shape, size = format_array_type(arguments), arguments.get("bytes")
    return f"{shape} {words.format_size(size)}" if shape is not None and isinstance(size, int) else shape


def format_array_type(arguments: dict[str, Any]) -> str | None:
    """The type and dimensions of the array that the arguments describe, such as `F32[8,16]`; None without one."""
    kind, dims = arguments.get("type"), arguments.get("dims")
    if not isinstance(kind, str) or not isinstance(dims, list):
        return None
    return make_printable(f"{kind.removeprefix('PJRT_Buffer_Type_')}[{','.join(map(str, dims))}]")


def _is_shown(arguments: dict[str, Any], name: str) -> bool:
    return not _is_left_out(arguments, name) and _is_meaningful(arguments[name])


def _is_left_out(arguments: dict[str, Any], name: str) -> bool:
    """Whether a value is shown elsewhere or not set. An option in a nested struct is shown only if it is set."""
    is_shown_elsewhere = name in _NO_VALUES or name.endswith((_KEPT, _NESTED_SIZE))
    return is_shown_elsewhere or _is_unset(arguments, name) or ("." in name and not arguments[name])


def _is_meaningful(value: Any) -> bool:
    """Whether a value is meaningful by itself: addresses and empty values are not."""
    values = value if isinstance(value, list) else [value]
    return not all(element in (None, "") or _is_address(element) for element in values)


def _is_address(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("0x")


def _is_unset(arguments: dict[str, Any], name: str) -> bool:
    """Whether a value is the `_is_set` flag of another value, or its own flag is false."""
    return (name.removesuffix("_is_set") in arguments and name.endswith("_is_set")) or (
        arguments.get(f"{name}_is_set") is False
    )


def _format_object(named: str | list[str | None]) -> str:
    if isinstance(named, str):
        return named
    return _format_list([each or "?" for each in named])


def _format_value(name: str, value: Any) -> str:
    return f"{make_printable(name)}={_format_plain_value(name, value)}"


def _format_plain_value(name: str, value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and "bytes" in name.split("_"):
        return words.format_size(value)
    if isinstance(value, list):
        return _format_list([json.dumps(element) for element in value])
    text = value if isinstance(value, str) else json.dumps(value)
    return make_printable(truncate(text, _MAX_TEXT_LENGTH))


def _format_list(elements: list[str]) -> str:
    if len(elements) > _MAX_ELEMENTS:
        elements = [*elements[: _MAX_ELEMENTS - 1], f"… {len(elements) - _MAX_ELEMENTS + 1} more"]
    return f"[{', '.join(elements)}]"

"""A loaded plug-in: its table, its extensions, and calls that verify the rules of every call.

Every call verifies three rules of the C API: a successful call fills all outputs, a boolean is 0 or 1, and no byte
after the caller's `struct_size` changes.
"""

from __future__ import annotations

import ctypes
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from framedex.plugins.conformance import abi
from framedex.plugins.conformance.abi import Struct

_FIRST_SLOT = 40  # the offset of the first function in PJRT_Api
_MAXIMUM_EXTENSIONS = 256
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
_PROCEDURE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class NotAPluginError(Exception):
    """The library has no usable PJRT table. The message says why."""


class UnsupportedError(Exception):
    """The plug-in lacks a function, an extension or a feature. That is a difference, not a failure."""


class BrokenRuleError(Exception):
    """The plug-in breaks a rule of the C API. The message says what happened."""


class PluginError(Exception):
    """An error that the plug-in returned."""

    def __init__(self, function: str, code: str, message: str) -> None:
        super().__init__(f"{function} returned {code}: {message}")
        self.function = function
        self.code = code
        self.message = message


class Plugin:
    """A loaded plug-in. `outcomes` has the error codes (or OK) that each called function returned."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.outcomes: defaultdict[str, set[str]] = defaultdict(set)
        try:
            self._library = ctypes.CDLL(str(path))
            entry = self._library.GetPjrtApi
        except OSError as error:
            raise NotAPluginError(f"It cannot be loaded: {error}.") from None
        except AttributeError:
            raise NotAPluginError("It has no function GetPjrtApi.") from None
        entry.restype = ctypes.c_void_p
        self.table = entry()
        if not self.table:
            raise NotAPluginError("GetPjrtApi returned a null pointer.")
        self.table_size = ctypes.c_uint64.from_address(self.table).value
        self.major, self.minor = (ctypes.c_int32.from_address(self.table + 32 + 4 * i).value for i in (0, 1))
        if self.major != abi.read_version()[0]:
            raise NotAPluginError(f"It has version {self.major}.{self.minor} of the C API; framedex knows major 0.")

    def slot(self, name: str) -> int:
        """The address of a function; 0 if the slot is null or beyond the end of the table."""
        offset = _FIRST_SLOT + 8 * abi.functions()[name].position
        if offset + 8 > self.table_size:
            return 0
        return ctypes.c_uint64.from_address(self.table + offset).value

    def null_slots(self) -> list[str]:
        """The functions inside the table whose slot is null."""
        slots = (self.table_size - _FIRST_SLOT) // 8
        return [name for name, each in abi.functions().items() if each.position < slots and not self.slot(name)]

    def missing_functions(self) -> dict[str, str]:
        """The functions that cannot be called, with the reason: of the table, and of the extensions that exist."""
        found = {}
        for name, function in abi.functions().items():
            if not self.slot(name):
                is_inside = _FIRST_SLOT + 8 * function.position + 8 <= self.table_size
                found[name] = "null" if is_inside else "not in the table"
        for extension in self.extensions().keys() & abi.read_extensions().keys():
            for member, function in abi.read_extensions()[extension].functions.items():
                if not self.extension_slot(extension, member):
                    found[function.name] = f"not in the extension {extension}"
        return found

    def call(self, name: str, /, *, struct_size: int | None = None, unfilled: str = "", **values: Any) -> Struct:
        """Call a function of the table and return its argument struct.

        `unfilled` names outputs that the header allows the plug-in to leave unassigned. Raises PluginError for a
        returned error, UnsupportedError without the function, and BrokenRuleError if the call breaks a rule.
        """
        address = self.slot(name)
        if not address:
            self.outcomes[name].add("null")
            raise UnsupportedError(f"The table has no {name}.")
        return self._call(abi.functions()[name], address, struct_size, unfilled, values)

    def extensions(self) -> dict[str, int]:
        """The addresses of the extensions by name, in chain order. An unknown type has its number as a name."""
        found: dict[str, int] = {}
        names = {each.number: name for name, each in abi.read_extensions().items()}
        for _, number, address in self.extension_chain():
            found.setdefault(names.get(number, f"type {number}"), address)
        return found

    def extension_chain(self) -> Iterator[tuple[int, int, int]]:
        """The struct size, the type and the address of each extension. Raises BrokenRuleError for an endless chain."""
        address = ctypes.c_uint64.from_address(self.table + 8).value
        for _ in range(_MAXIMUM_EXTENSIONS):
            if not address:
                return
            size = ctypes.c_uint64.from_address(address).value
            yield size, ctypes.c_int32.from_address(address + 8).value, address
            address = ctypes.c_uint64.from_address(address + 16).value
        raise BrokenRuleError(f"The chain of extensions has more than {_MAXIMUM_EXTENSIONS} members.")

    def extension_slot(self, extension: str, member: str) -> int:
        """The address of an extension's function; 0 if its slot is null or beyond the end of the extension."""
        described = abi.read_extensions()[extension].functions[member]
        base = self.extensions().get(extension)
        if base is None or described.position + 8 > ctypes.c_uint64.from_address(base).value:
            return 0
        return ctypes.c_uint64.from_address(base + described.position).value

    def call_extension(self, extension: str, member: str, /, *, unfilled: str = "", **values: Any) -> Struct:
        """Call a function of an extension, by its member in the extension's struct. Raises as `call` does."""
        described = abi.read_extensions()[extension].functions[member]
        if extension not in self.extensions():
            raise UnsupportedError(f"The plug-in has no extension {extension}.")
        address = self.extension_slot(extension, member)
        if not address:
            self.outcomes[described.name].add("null")
            raise UnsupportedError(f"{extension} has no {member}.")
        return self._call(described, address, None, unfilled, values)

    def _call(
        self, function: abi.Function, address: int, struct_size: int | None, unfilled: str, values: dict[str, Any]
    ) -> Struct:
        arguments = Struct(function.arguments, struct_size=struct_size, **values)
        given = {*values, *unfilled.split()}
        arguments.poison_outputs(given, self.minor)
        enter = _FUNCTION if function.returns_error else _PROCEDURE
        error = enter(address)(arguments.address)
        if (offset := arguments.broken_guard) is not None:
            raise BrokenRuleError(f"{function.name} wrote byte {offset}, behind the struct_size of its caller.")
        if error:
            raise self.take_error(function.name, error)
        self.outcomes[function.name].add("OK")
        if missing := arguments.unfilled_outputs(given, self.minor):
            raise BrokenRuleError(f"{function.name} returned OK and did not write {', '.join(missing)}.")
        if invalid := arguments.invalid_booleans(given, self.minor):
            raise BrokenRuleError(f"{function.name} wrote a boolean that is neither 0 nor 1: {', '.join(invalid)}.")
        return arguments

    def take_error(self, function: str, error: int) -> PluginError:
        """The content of a PJRT_Error, which is destroyed."""
        code = self.error_code(error)
        message = self.error_message(error)
        self.call("PJRT_Error_Destroy", error=error)
        self.outcomes[function].add(code)
        return PluginError(function, code, message)

    def error_code(self, error: int) -> str:
        """The name of an error's code."""
        number = self.call("PJRT_Error_GetCode", error=error).code
        return abi.read_error_codes().get(number, str(number))

    def error_message(self, error: int) -> str:
        """The message of an error."""
        arguments = self.call("PJRT_Error_Message", error=error)
        return read_text(arguments.message, arguments.message_size)


def read_text(address: int, size: int) -> str:
    """The text in memory of the plug-in. Raises BrokenRuleError for a null pointer or malformed UTF-8."""
    content = take_bytes(address, size)
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise BrokenRuleError(f"A text is not UTF-8: {content[:40]!r}.") from None


def take_bytes(address: int, size: int, deleter: int = 0, holder: int = 0) -> bytes:
    """The bytes in memory of the plug-in. The deleter then frees their holder, if there is one.

    Raises BrokenRuleError for a null pointer.
    """
    if size and not address:
        raise BrokenRuleError(f"{size} bytes have a null pointer.")
    content = ctypes.string_at(address, size) if size else b""
    if holder:
        if not deleter:
            raise BrokenRuleError(f"The memory of {size} bytes has no deleter.")
        _PROCEDURE(deleter)(holder)
    return content


def read_addresses(address: int, count: int) -> list[int]:
    """An array of pointers in memory of the plug-in. Raises BrokenRuleError if the array or a pointer is null."""
    if not count:
        return []
    if not address:
        raise BrokenRuleError(f"An array of {count} pointers is null.")
    found = list((ctypes.c_uint64 * count).from_address(address))
    if 0 in found:
        raise BrokenRuleError(f"Pointer {found.index(0)} of an array of {count} is null.")
    return found


def read_integers(address: int, count: int, c_type: Any = ctypes.c_int64) -> list[int]:
    """An array of integers in memory of the plug-in. Raises BrokenRuleError if it is null."""
    if not count:
        return []
    if not address:
        raise BrokenRuleError(f"An array of {count} integers is null.")
    return list((c_type * count).from_address(address))


def read_named_values(address: int, count: int) -> dict[str, Any]:
    """The values of an array of PJRT_NamedValue by name. Raises BrokenRuleError for a malformed value."""
    if count and not address:
        raise BrokenRuleError(f"An array of {count} named values is null.")
    kinds = {number: name for name, number in abi.read_enumerators("PJRT_NamedValue_Type").items()}
    found: dict[str, Any] = {}
    for i in range(count):
        value = Struct("PJRT_NamedValue", at=address + i * abi.read_layout("PJRT_NamedValue").size)
        name = read_text(value.name, value.name_size)
        kind = kinds.get(value.type)
        if kind is None:
            raise BrokenRuleError(f"The named value {name} has the unknown type {value.type}.")
        found[name] = _read_named_value(value, kind)
    return found


def _read_named_value(value: Struct, kind: str) -> Any:
    if kind == "String":
        return read_text(value.string_value, value.value_size)
    if kind == "Int64List":
        return read_integers(value.int64_array_value, value.value_size)
    return {"Int64": value.int64_value, "Float": value.float_value, "Bool": bool(value.bool_value)}[kind]


def make_named_values(values: dict[str, str | int | float | bool]) -> Any:
    """An array of PJRT_NamedValue with these values."""
    size = abi.read_layout("PJRT_NamedValue").size
    array = (ctypes.c_char * (size * max(len(values), 1)))()
    array.alive = []  # type: ignore[attr-defined]
    for i, (name, content) in enumerate(values.items()):
        value = Struct("PJRT_NamedValue", at=ctypes.addressof(array) + i * size)
        value.struct_size, value.name, value.name_size = size, name.encode(), len(name.encode())
        kind = {str: "String", bool: "Bool", int: "Int64", float: "Float"}[type(content)]
        value.type = abi.read_enumerators("PJRT_NamedValue_Type")[kind]
        member = {"String": "string_value", "Bool": "bool_value", "Int64": "int64_value", "Float": "float_value"}[kind]
        encoded = content.encode() if isinstance(content, str) else content
        setattr(value, member, encoded)
        value.value_size = len(encoded) if isinstance(encoded, bytes) else 1
        array.alive.append(value)  # type: ignore[attr-defined]
    return array

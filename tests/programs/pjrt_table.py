"""Call a PJRT plug-in's table directly, with structs laid out by the ABI's description instead of a header."""

import ctypes
import json
import os
from pathlib import Path

ABI = json.loads((Path(__file__).parents[2] / "native" / "abi" / "pjrt_c_api.json").read_text())
STRUCTS = ABI["structs"]
FUNCTIONS = {function["name"]: function for function in ABI["functions"]}
FIRST_SLOT = 16 + STRUCTS["PJRT_Api_Version"]["size"]
NAMED_VALUE = {
    name.removeprefix("PJRT_NamedValue_k"): number for name, number in ABI["enums"]["PJRT_NamedValue_Type"].items()
}
C_TYPES = {
    "size_t": ctypes.c_size_t,
    "int": ctypes.c_int,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "bool": ctypes.c_bool,
}


class Struct:
    """A struct, accessed by its field names: zeroed memory of its size, or the memory at an address."""

    def __init__(self, name, /, at=None, **fields):
        self.layout = STRUCTS[name]
        size = self.layout["size"]
        self.memory = ctypes.create_string_buffer(size) if at is None else (ctypes.c_char * size).from_address(at)
        if at is None and "struct_size" in self.layout:
            self["struct_size"] = self.layout["struct_size"]
        for field, value in fields.items():
            self[field] = value

    def __getitem__(self, field):
        return self._at(field).value

    def __setitem__(self, field, value):
        self._at(field).value = value

    def _at(self, name):
        for field in self.layout["fields"]:
            for member in field.get("fields", [field] if field["name"] else []):  # those of an anonymous union
                if member["name"] == name:
                    offset = field["offset"] + (member["offset"] if member is not field else 0)
                    return _c_type(member["type"]).from_buffer(self.memory, offset)
        raise KeyError(name)

    @property
    def address(self):
        """Its address; valid as long as this object lives."""
        return ctypes.addressof(self.memory)


def _c_type(name):
    return C_TYPES.get(name, ctypes.c_int if name in ABI["enums"] else ctypes.c_void_p)


def text(arguments, field):
    """The text of an argument struct in `field` and `field`_size."""
    return ctypes.string_at(arguments[field], arguments[f"{field}_size"]).decode()


def named_values(values):
    """A PJRT_NamedValue array with these integers, lists of integers and texts; and the objects that keep it alive."""
    size = STRUCTS["PJRT_NamedValue"]["size"]
    array = ctypes.create_string_buffer(size * max(len(values), 1))
    alive = [array]
    for index, (name, value) in enumerate(values.items()):
        entry = Struct("PJRT_NamedValue", at=ctypes.addressof(array) + index * size)
        entry["struct_size"] = size
        alive += [entry, ctypes.create_string_buffer(name.encode())]
        entry["name"], entry["name_size"] = ctypes.addressof(alive[-1]), len(name)
        if isinstance(value, int):
            entry["type"], entry["int64_value"], entry["value_size"] = NAMED_VALUE["Int64"], value, 1
        elif isinstance(value, list):
            alive.append((ctypes.c_int64 * len(value))(*value))
            entry["type"], entry["value_size"] = NAMED_VALUE["Int64List"], len(value)
            entry["int64_array_value"] = ctypes.addressof(alive[-1])
        else:
            alive.append(ctypes.create_string_buffer(value.encode()))
            entry["type"], entry["value_size"] = NAMED_VALUE["String"], len(value)
            entry["string_value"] = ctypes.addressof(alive[-1])
    return ctypes.addressof(array), alive


def read_named_values(address, count):
    """The integers and lists of integers of an array of PJRT_NamedValue, by name."""
    found = {}
    for index in range(count):
        entry = Struct("PJRT_NamedValue", at=address + index * STRUCTS["PJRT_NamedValue"]["size"])
        name = text(entry, "name")
        if entry["type"] == NAMED_VALUE["Int64List"]:
            found[name] = list((ctypes.c_int64 * entry["value_size"]).from_address(entry["int64_array_value"]))
        else:
            found[name] = entry["int64_value"]
    return found


class Table:
    """The functions of the plug-in that TPU_LIBRARY_PATH names."""

    def __init__(self):
        library = ctypes.CDLL(os.environ["TPU_LIBRARY_PATH"])
        library.GetPjrtApi.restype = ctypes.c_void_p
        self.address = library.GetPjrtApi()

    def slots(self):
        """The address of each function, by name, in table order."""
        addresses = (ctypes.c_void_p * len(FUNCTIONS)).from_address(self.address + FIRST_SLOT)
        return dict(zip(FUNCTIONS, addresses, strict=True))

    def call(self, function, **fields):
        """Call a function with these argument fields; return its argument struct. Raises RuntimeError on an error."""
        arguments = Struct(FUNCTIONS[function]["args"], **fields)
        error = self._enter(function, arguments)
        if error:
            code, message = self.code(error), self.message(error)
            self._enter("PJRT_Error_Destroy", Struct("PJRT_Error_Destroy_Args", error=error))
            raise RuntimeError(code, message)
        return arguments

    def code(self, error):
        """The name of an error's code."""
        arguments = Struct("PJRT_Error_GetCode_Args", error=error)
        self._enter("PJRT_Error_GetCode", arguments)
        names = {number: name for name, number in ABI["enums"]["PJRT_Error_Code"].items()}
        return names[arguments["code"]].removeprefix("PJRT_Error_Code_")

    def message(self, error):
        """The text of an error."""
        arguments = Struct("PJRT_Error_Message_Args", error=error)
        self._enter("PJRT_Error_Message", arguments)
        return ctypes.string_at(arguments["message"], arguments["message_size"]).decode()

    def extensions(self):
        """The addresses of the extensions by type name, in chain order."""
        names = {number: name for name, number in ABI["enums"]["PJRT_Extension_Type"].items()}
        found = {}
        address = ctypes.c_void_p.from_address(self.address + 8).value
        while address:
            kind = names[ctypes.c_int.from_address(address + 8).value].removeprefix("PJRT_Extension_Type_")
            found[kind] = address
            address = ctypes.c_void_p.from_address(address + 16).value
        return found

    def call_extension(self, kind, member, **fields):
        """Call a function of an extension, by its member in the extension's struct; returns its argument struct."""
        layout = STRUCTS[f"PJRT_{kind}_Extension"]
        field = next(field for field in layout["fields"] if field["name"] == member)
        arguments = Struct(field["type"].removesuffix("*") + "_Args", **fields)
        function = ctypes.c_void_p.from_address(self.extensions()[kind] + field["offset"]).value
        assert not ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(function)(arguments.address)
        return arguments

    def _enter(self, function, arguments):
        returns = None if FUNCTIONS[function]["returns"] == "void" else ctypes.c_void_p
        return ctypes.CFUNCTYPE(returns, ctypes.c_void_p)(self.slots()[function])(ctypes.addressof(arguments.memory))

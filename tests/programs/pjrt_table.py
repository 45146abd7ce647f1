"""Calls a PJRT plug-in's table directly, with structs laid out by the ABI's description rather than by any header."""

import ctypes
import json
import os
from pathlib import Path

ABI = json.loads((Path(__file__).parents[2] / "native" / "abi" / "pjrt_c_api_0.112.json").read_text())
STRUCTS = ABI["structs"]
FUNCTIONS = {function["name"]: function for function in ABI["functions"]}
FIRST_SLOT = 16 + STRUCTS["PJRT_Api_Version"]["size"]
C_TYPES = {"size_t": ctypes.c_size_t, "int": ctypes.c_int, "int64_t": ctypes.c_int64, "bool": ctypes.c_bool}


class Struct:
    """Zeroed memory of a struct's size, read and written by the names of its fields."""

    def __init__(self, name, /, **fields):
        self.layout = STRUCTS[name]
        self.memory = ctypes.create_string_buffer(self.layout["size"])
        if "struct_size" in self.layout:
            self["struct_size"] = self.layout["struct_size"]
        for field, value in fields.items():
            self[field] = value

    def __getitem__(self, field):
        return self._at(field).value

    def __setitem__(self, field, value):
        self._at(field).value = value

    def _at(self, name):
        kind, offset = next((kind, offset) for field, kind, offset in _flat(self.layout["fields"]) if field == name)
        c_type = C_TYPES.get(kind, ctypes.c_int if kind in ABI["enums"] else ctypes.c_void_p)
        return c_type.from_buffer(self.memory, offset)

    @property
    def address(self):
        """Where it is; it lives as long as this object."""
        return ctypes.addressof(self.memory)


def _flat(fields, base=0):
    """Name, type and offset of each field, those of anonymous unions among them."""
    for field in fields:
        if field["name"] is None:
            yield from _flat(field["fields"], base + field["offset"])
        else:
            yield field["name"], field["type"], base + field["offset"]


class Table:
    """The functions of the plug-in that TPU_LIBRARY_PATH names."""

    def __init__(self):
        library = ctypes.CDLL(os.environ["TPU_LIBRARY_PATH"])
        library.GetPjrtApi.restype = ctypes.c_void_p
        self.address = library.GetPjrtApi()

    def slots(self):
        """The address of each function, by name, as the table has them in order."""
        addresses = (ctypes.c_void_p * len(FUNCTIONS)).from_address(self.address + FIRST_SLOT)
        return dict(zip(FUNCTIONS, addresses, strict=True))

    def call(self, function, **fields):
        """Call a function with these argument fields; returns its argument struct. Raises RuntimeError on an error."""
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
        """The addresses of the extensions, by the names of their types, in the order of the chain."""
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

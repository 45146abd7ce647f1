"""Use the small plug-in (argv[1]) through the library in TPU_LIBRARY_PATH, and print its table."""

import ctypes
import json
import sys

from pjrt_table import ABI, FUNCTIONS, Struct, Table

table = Table()
plugin = ctypes.CDLL(sys.argv[1])
plugin.GetPjrtApi.restype = ctypes.c_void_p
EXTENSION_START = 8


def word(address):
    return ctypes.c_void_p.from_address(address).value


def chain(address):
    """The extensions of a table: type -> address, in order; the first of a type counts."""
    found = {}
    extension = word(address + EXTENSION_START)
    while extension:
        found.setdefault(ctypes.c_int.from_address(extension + 8).value, extension)
        extension = word(extension + 16)
    return found


def member(struct, extension, name):
    """The address of a function in an extension, None if it is null."""
    return word(
        extension + next(field["offset"] for field in ABI["structs"][struct]["fields"] if field["name"] == name)
    )


def enter(function, arguments):
    return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(function)(ctypes.addressof(arguments.memory))


def attempt(function, **fields):
    try:
        return table.call(function, **fields)
    except RuntimeError as error:
        return error.args


result = {"table": bool(table.address)}
types = ABI["enums"]["PJRT_Extension_Type"]
if "extensions" in sys.argv:
    inner, outer = chain(plugin.GetPjrtApi()), chain(table.address)
    layouts, ffi = (outer[types[f"PJRT_Extension_Type_{name}"]] for name in ("Layouts", "FFI"))
    serialize = Struct("PJRT_Layouts_MemoryLayout_Serialize_Args", layout=0x42)
    enter(member("PJRT_Layouts_Extension", layouts, "PJRT_Layouts_MemoryLayout_Serialize"), serialize)
    outputs = Struct("PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args", executable=0x43)
    enter(member("PJRT_Layouts_Extension", layouts, "PJRT_Layouts_PJRT_Executable_GetOutputLayouts"), outputs)
    enter(member("PJRT_FFI_Extension", ffi, "user_data_add"), Struct("PJRT_FFI_UserData_Add_Args"))
    profiler = member("PJRT_Profiler_Extension", outer[types["PJRT_Extension_Type_Profiler"]], "profiler_api")
    enter(member("PLUGIN_Profiler_Api", profiler, "create"), Struct("PLUGIN_Profiler_Create_Args"))
    result |= {
        "types": sorted(outer),
        "types_of_the_plugin": sorted(inner),
        "unknown_is_the_plugins_own": outer[99] == inner[99],
        "known_are_not": all(outer[type] != inner[type] for type in inner if type != 99),
        "lacking": member("PJRT_Layouts_Extension", layouts, "PJRT_Layouts_MemoryLayout_Destroy"),
        "beyond_a_shorter_struct": member("PJRT_FFI_Extension", ffi, "register_handler"),
        "added": ctypes.CFUNCTYPE(ctypes.c_int)(word(layouts + ABI["structs"]["PJRT_Layouts_Extension"]["size"]))(),
        "serialized": ctypes.string_at(serialize["serialized_bytes"], serialize["serialized_bytes_size"]).decode(),
    }
if "table" in sys.argv:
    struct_size = ctypes.c_size_t.from_address(table.address).value
    slots = table.slots()
    statistics = Struct("PJRT_Executable_GetCompiledMemoryStats_Args", executable=0x60)
    if slots["PJRT_Executable_GetCompiledMemoryStats"]:
        table._enter("PJRT_Executable_GetCompiledMemoryStats", statistics)
    last = 40 + 8 * len(FUNCTIONS)
    result |= {
        "struct_size": struct_size,
        "minor": ctypes.c_int.from_address(table.address + 36).value,
        "slots": [
            name for index, (name, address) in enumerate(slots.items()) if address and 40 + 8 * index < struct_size
        ],
        "platform": ctypes.string_at(table.call("PJRT_Client_PlatformName")["platform_name"]).decode(),
        "create": attempt("PJRT_Client_Create") if slots["PJRT_Client_Create"] else None,
        "added": [
            ctypes.CFUNCTYPE(ctypes.c_int)(word(a))()
            for a in range(table.address + last, table.address + struct_size, 8)
        ],
    }
if "execute" in sys.argv:
    lists = (ctypes.c_void_p * 2 * 2)((0xA1, 0xA2), (0xB1, 0xB2))
    results = (ctypes.c_void_p * 3 * 2)()
    events = (ctypes.c_void_p * 2)()
    rows = [(ctypes.c_void_p * 2)(*map(ctypes.addressof, table)) for table in (lists, results)]

    def execute(executable):
        table.call(
            "PJRT_LoadedExecutable_Execute",
            executable=executable,
            argument_lists=ctypes.addressof(rows[0]),
            num_devices=2,
            num_args=2,
            output_lists=ctypes.addressof(rows[1]),
            device_complete_events=ctypes.addressof(events),
        )
        return plugin.small_plugin_times_asked()

    asked = [execute(0x9000), execute(0x9000), execute(0x9010), execute(0x9000)]
    table.call("PJRT_LoadedExecutable_Destroy", executable=0x9000)
    result["asked"] = [*asked, execute(0x9000), execute(0x9010)]
if "refused" in sys.argv:
    result["answers"] = [attempt("PJRT_Plugin_Initialize"), attempt("PJRT_Client_Create")]
result["is_the_same_again"] = Table().address == table.address
print(json.dumps(result))

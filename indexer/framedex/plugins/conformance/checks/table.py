"""The table that GetPjrtApi returns."""

import ctypes

from framedex.plugins.conformance import abi
from framedex.plugins.conformance.client import expect, expect_equal
from framedex.plugins.conformance.model import Stage, check
from framedex.plugins.conformance.plugin import Plugin, UnsupportedError, read_named_values


@check(stage=Stage.TABLE)
def version(plugin: Plugin) -> str:
    """The table has a version: major 0 and a positive minor."""
    expect(plugin.minor > 0, f"The minor version is {plugin.minor}.")
    return f"{plugin.major}.{plugin.minor}"


@check(stage=Stage.TABLE)
def version_struct_size(plugin: Plugin) -> None:
    """The version inside the table has the size of PJRT_Api_Version."""
    found = ctypes.c_uint64.from_address(plugin.table + 16).value
    expect_equal(found, abi.read_layout("PJRT_Api_Version").struct_size, "struct_size of pjrt_api_version")


@check(stage=Stage.TABLE)
def size(plugin: Plugin) -> str:
    """`struct_size` of the table ends at the end of a function pointer."""
    expect(plugin.table_size >= 40 and plugin.table_size % 8 == 0, f"struct_size is {plugin.table_size}.")
    return f"{(plugin.table_size - 40) // 8} functions"


@check(stage=Stage.TABLE)
def size_fits_the_version(plugin: Plugin) -> None:
    """The table has every function that its version declares."""
    due = [name for name, each in abi.functions().items() if each.since <= plugin.minor]
    absent = [name for name in due if 40 + 8 * abi.functions()[name].position + 8 > plugin.table_size]
    expect(
        not absent, f"Version {plugin.major}.{plugin.minor} declares functions behind the table: {', '.join(absent)}."
    )


@check(stage=Stage.TABLE)
def null_slots(plugin: Plugin) -> None:
    """No slot inside the table is null: a client that checks only `struct_size` calls it."""
    found = plugin.null_slots()
    expect(not found, f"Null slots: {', '.join(found)}.")


@check(stage=Stage.TABLE)
def same_table_twice(plugin: Plugin) -> None:
    """GetPjrtApi returns the same table at each call."""
    entry = ctypes.CDLL(str(plugin.path)).GetPjrtApi
    entry.restype = ctypes.c_void_p
    expect_equal(entry(), plugin.table, "The second table's address")


@check(stage=Stage.TABLE)
def extension_chain(plugin: Plugin) -> str:
    """The chain of extensions ends, and each member has at least the size of PJRT_Extension_Base."""
    for size, number, _ in plugin.extension_chain():
        expect(size >= 24, f"Extension type {number} has struct_size {size}.")
    return ", ".join(plugin.extensions())


@check(stage=Stage.TABLE)
def extension_types_once(plugin: Plugin) -> None:
    """Each extension type occurs once in the chain: clients take the first one."""
    numbers = [number for _, number, _ in plugin.extension_chain()]
    twice = sorted({number for number in numbers if numbers.count(number) > 1})
    expect(not twice, f"Repeated extension types: {twice}.")


@check(stage=Stage.TABLE)
def extension_sizes(plugin: Plugin) -> None:
    """The size of an extension ends at the end of a member."""
    for size, number, _ in plugin.extension_chain():
        expect(size % 8 == 0, f"Extension type {number} has struct_size {size}.")


@check(stage=Stage.TABLE)
def extension_slots(plugin: Plugin) -> None:
    """An extension has all functions that its size covers; a null one is unsupported."""
    present = plugin.extensions()
    absent = []
    for name in present.keys() & abi.read_extensions().keys():
        size = ctypes.c_uint64.from_address(present[name]).value
        for member, function in abi.read_extensions()[name].functions.items():
            if function.position + 8 <= size and not plugin.extension_slot(name, member):
                absent.append(f"{name}.{member}")
    if absent:
        raise UnsupportedError(f"Null functions: {', '.join(sorted(absent))}.")


@check("PJRT_Plugin_Initialize", stage=Stage.TABLE)
def initialize(plugin: Plugin) -> None:
    """PJRT_Plugin_Initialize succeeds before any other function is called."""
    plugin.call("PJRT_Plugin_Initialize")


@check("PJRT_Plugin_Attributes", stage=Stage.PLUGIN)
def attributes(plugin: Plugin) -> str:
    """The attributes of the plug-in have names and values."""
    found = plugin.call("PJRT_Plugin_Attributes")
    values = read_named_values(found.attributes, found.num_attributes)
    expect("" not in values, "An attribute has an empty name.")
    return ", ".join(values)


@check(
    "PJRT_Plugin_Attributes",
    stage=Stage.PLUGIN,
    each=("xla_version", "stablehlo_current_version", "stablehlo_minimum_version"),
)
def attribute(plugin: Plugin, name: str) -> str:
    """A standard attribute has an integer, or a list of three integers for StableHLO's versions."""
    found = plugin.call("PJRT_Plugin_Attributes")
    values = read_named_values(found.attributes, found.num_attributes)
    if name not in values:
        raise UnsupportedError(f"It has no attribute {name}.")
    value = values[name]
    expect(isinstance(value, int) or (isinstance(value, list) and len(value) == 3), f"{name} is {value!r}.")
    return str(value)


@check("PJRT_Plugin_Attributes", stage=Stage.PLUGIN)
def stablehlo_versions(plugin: Plugin) -> str:
    """The minimum StableHLO version is not above the current one."""
    found = plugin.call("PJRT_Plugin_Attributes")
    values = read_named_values(found.attributes, found.num_attributes)
    lowest, current = (values.get(f"stablehlo_{bound}_version") for bound in ("minimum", "current"))
    if lowest is None or current is None:
        raise UnsupportedError("It has no StableHLO versions.")
    expect(lowest <= current, f"The minimum {lowest} is above the current {current}.")
    return f"{lowest} to {current}"

"""The extension Layouts."""

import ctypes

from framedex.plugins.conformance import programs
from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import F32, Client, expect, expect_equal, pack_floats, pack_int64s
from framedex.plugins.conformance.model import check
from framedex.plugins.conformance.plugin import read_addresses, read_text

_NAME = "Layouts"
_DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def _serialize(client: Client, layout: int) -> str:
    """The text of a layout, which is destroyed only if `_destroy` is called."""
    found: Struct = client.plugin.call_extension(_NAME, "PJRT_Layouts_MemoryLayout_Serialize", layout=layout)
    content = read_text(found.serialized_bytes, found.serialized_bytes_size)
    if found.serialized_layout:
        _DELETER(found.serialized_layout_deleter)(found.serialized_layout)
    return content


def _default(client: Client, *dims: int) -> int:
    found = client.plugin.call_extension(
        _NAME, "PJRT_Layouts_PJRT_Client_GetDefaultLayout", client=client.handle, type=F32, dims=pack_int64s(dims),
        num_dims=len(dims),
    )  # fmt: skip
    return int(found.layout)


@check("PJRT_Layouts_PJRT_Client_GetDefaultLayout", "PJRT_Layouts_MemoryLayout_Serialize")
def default(client: Client) -> str:
    """The default layout of a matrix has a text such as `{1,0}`."""
    found = _serialize(client, _default(client, 2, 3))
    expect(found.startswith("{") and found.endswith("}"), f"The text is {found!r}.")
    return found


@check("PJRT_Layouts_PJRT_Client_GetDefaultLayout", each=(0, 1, 3, 5))
def default_of_rank(client: Client, rank: int) -> str:
    """The default layout exists for every rank, also for a scalar."""
    return _serialize(client, _default(client, *[2] * rank))


@check("PJRT_Layouts_MemoryLayout_Destroy")
def destroy(client: Client) -> None:
    """A layout can be destroyed."""
    client.plugin.call_extension(_NAME, "PJRT_Layouts_MemoryLayout_Destroy", layout=_default(client, 2, 3))


@check("PJRT_Layouts_PJRT_Buffer_MemoryLayout")
def of_buffer(client: Client) -> str:
    """The layout of a buffer orders its dimensions."""
    buffer = client.put(pack_floats(1, 2, 3, 4, 5, 6), F32, [2, 3])
    layout = client.plugin.call_extension(_NAME, "PJRT_Layouts_PJRT_Buffer_MemoryLayout", buffer=buffer).layout
    return _serialize(client, layout)


@check("PJRT_Layouts_PJRT_Buffer_MemoryLayout", "PJRT_Buffer_Destroy")
def outlives_buffer(client: Client) -> None:
    """A layout is valid after its buffer was destroyed."""
    buffer = client.put(pack_floats(1, 2, 3, 4, 5, 6), F32, [2, 3])
    layout = client.plugin.call_extension(_NAME, "PJRT_Layouts_PJRT_Buffer_MemoryLayout", buffer=buffer).layout
    before = _serialize(client, layout)
    client.call("PJRT_Buffer_Destroy", buffer=buffer)
    expect_equal(_serialize(client, layout), before, "The text")
    client.plugin.call_extension(_NAME, "PJRT_Layouts_MemoryLayout_Destroy", layout=layout)


@check("PJRT_Layouts_PJRT_Executable_GetParameterLayouts")
def of_parameters(client: Client) -> str:
    """A program has a layout for each parameter."""
    executable = client.executable(client.add)
    found = client.plugin.call_extension(
        _NAME, "PJRT_Layouts_PJRT_Executable_GetParameterLayouts", executable=executable
    )
    expect_equal(found.num_parameters, 2, "num_parameters")
    return ", ".join(_serialize(client, each) for each in read_addresses(found.layouts, found.num_parameters))


@check("PJRT_Layouts_PJRT_Executable_GetOutputLayouts")
def of_outputs(client: Client) -> str:
    """A program has a layout for each result."""
    executable = client.executable(client.compile(programs.TWO_RESULTS))
    found = client.plugin.call_extension(_NAME, "PJRT_Layouts_PJRT_Executable_GetOutputLayouts", executable=executable)
    expect_equal(found.num_outputs, 2, "num_outputs")
    return ", ".join(_serialize(client, each) for each in read_addresses(found.layouts, found.num_outputs))


@check("PJRT_Layouts_PJRT_Topology_GetDefaultLayout", "PJRT_Client_TopologyDescription")
def of_topology(client: Client) -> str:
    """The default layout of a topology is that of its client."""
    topology = client.call("PJRT_Client_TopologyDescription", client=client.handle).topology
    found = client.plugin.call_extension(
        _NAME, "PJRT_Layouts_PJRT_Topology_GetDefaultLayout", topology_description=topology, type=F32,
        dims=pack_int64s([2, 3]), num_dims=2,
    ).layout  # fmt: skip
    expect_equal(_serialize(client, found), _serialize(client, _default(client, 2, 3)), "The layout")
    return ""

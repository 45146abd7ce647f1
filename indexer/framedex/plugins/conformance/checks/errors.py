"""Errors: code, message, payloads and destruction."""

import ctypes

from framedex.plugins.conformance import abi
from framedex.plugins.conformance.abi import Struct
from framedex.plugins.conformance.client import Client, expect, expect_equal, expect_error
from framedex.plugins.conformance.model import check

_VISITOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


def _error(client: Client) -> int:
    """An undestroyed error of the plug-in about an unknown device."""
    address = client.plugin.slot("PJRT_Client_LookupDevice")
    arguments = Struct("PJRT_Client_LookupDevice_Args", client=client.handle, id=1 << 30)
    error = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(address)(arguments.address)
    expect(error, "PJRT_Client_LookupDevice returned OK for an unknown id.")
    assert error
    return int(error)


@check("PJRT_Error_GetCode", "PJRT_Client_LookupDevice")
def code(client: Client) -> str:
    """An error has one of the canonical codes, which are 1 to 16."""
    number = client.call("PJRT_Error_GetCode", error=_error(client)).code
    expect(number in abi.read_error_codes() and number != 0, f"The code is {number}.")
    return abi.read_error_codes()[number]


@check("PJRT_Error_Message")
def message(client: Client) -> str:
    """An error has a message in UTF-8."""
    found = client.plugin.error_message(_error(client))
    expect(found, "The message is empty.")
    return found.splitlines()[0][:100]


@check("PJRT_Error_Message")
def message_is_stable(client: Client) -> None:
    """The message of an error keeps its address until the error is destroyed."""
    error = _error(client)
    first = client.call("PJRT_Error_Message", error=error)
    second = client.call("PJRT_Error_Message", error=error)
    expect_equal(second.message, first.message, "The second address")


@check("PJRT_Error_Destroy")
def destroy(client: Client) -> None:
    """PJRT_Error_Destroy ends an error."""
    client.call("PJRT_Error_Destroy", error=_error(client))


@check("PJRT_Error_Destroy")
def destroy_null(client: Client) -> None:
    """PJRT_Error_Destroy of a null pointer does nothing: "If `error` is nullptr, the function does nothing"."""
    client.call("PJRT_Error_Destroy", error=None)


@check("PJRT_Error_Destroy")
def two_errors(client: Client) -> None:
    """Two errors exist at once, and one outlives the other."""
    first, second = _error(client), _error(client)
    expect(first != second, "Two errors have the same address.")
    client.call("PJRT_Error_Destroy", error=first)
    expect(client.plugin.error_message(second), "The message of the second error is empty.")
    client.call("PJRT_Error_Destroy", error=second)


@check("PJRT_Error_Destroy")
def many_errors(client: Client) -> None:
    """10,000 errors can be created and destroyed."""
    for _ in range(10_000):
        client.call("PJRT_Error_Destroy", error=_error(client))


@check("PJRT_Error_ForEachPayload")
def payloads(client: Client) -> str:
    """PJRT_Error_ForEachPayload visits each payload with a name."""
    sizes: list[int] = []

    def visit(name: int, name_size: int, value: int, value_size: int, argument: int) -> None:
        sizes.append(name_size)

    visitor = _VISITOR(visit)
    client.call("PJRT_Error_ForEachPayload", error=_error(client), visitor=visitor, user_arg=None)
    expect(0 not in sizes, "A payload has an empty name.")
    return f"{len(sizes)} payloads"


@check("PJRT_Error_GetCode", "PJRT_Error_Message", "PJRT_Error_Destroy")
def function_table(client: Client) -> str:
    """Since 0.107 an error starts with a table of its own functions, which agree with those of the API."""
    if client.plugin.minor < 107:
        return "before 0.107"
    error = _error(client)
    table = ctypes.c_uint64.from_address(error).value
    expect(table, "The pointer to the error's functions is null.")
    functions = Struct("PJRT_Error_FunctionTable", at=table)
    expect(functions.struct_size >= 48, f"struct_size of the error's functions is {functions.struct_size}.")
    for name in ("destroy", "message", "get_code"):
        expect(getattr(functions, name), f"The error's function {name} is null.")
    own_code = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(functions.get_code)(error)
    expect_equal(
        own_code, client.call("PJRT_Error_GetCode", error=error).code, "The code from the error's own function"
    )
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(functions.destroy)(error)
    return ""


@check("PJRT_Client_Compile", "PJRT_Error_GetCode")
def compile_error(client: Client) -> str:
    """A malformed program is an error with a message."""
    return expect_error(lambda: client.compile("this is not MLIR"))

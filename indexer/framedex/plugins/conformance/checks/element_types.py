"""Each element type through a transfer and through a program."""

from collections.abc import Iterator
from typing import NamedTuple

from framedex.plugins.conformance import abi, programs
from framedex.plugins.conformance.client import Client, expect, expect_equal, unsupported_if_error
from framedex.plugins.conformance.model import check


class ElementType(NamedTuple):
    """An element type: its name in PJRT and in MLIR, and the bytes of one element in host memory."""

    name: str
    mlir: str
    size: int
    mask: int


def _types() -> Iterator[ElementType]:
    yield ElementType("PRED", "i1", 1, 0x01)
    for bits in (1, 2, 4):
        yield ElementType(f"S{bits}", f"i{bits}", 1, (1 << (bits - 1)) - 1)
        yield ElementType(f"U{bits}", f"ui{bits}", 1, (1 << bits) - 1)
    for bits in (8, 16, 32, 64):
        yield ElementType(f"S{bits}", f"i{bits}", bits // 8, 0xFF)
        yield ElementType(f"U{bits}", f"ui{bits}", bits // 8, 0xFF)
    for name, size in (("F16", 2), ("BF16", 2), ("F32", 4), ("F64", 8)):
        yield ElementType(name, name.lower(), size, 0x3F)
    yield ElementType("C64", "complex<f32>", 8, 0x3F)
    yield ElementType("C128", "complex<f64>", 16, 0x3F)
    for name in ("F8E5M2", "F8E4M3FN", "F8E4M3B11FNUZ", "F8E5M2FNUZ", "F8E4M3FNUZ", "F8E4M3", "F8E3M4", "F8E8M0FNU"):
        yield ElementType(name, f"f{name[1:]}", 1, 0x3F)
    yield ElementType("F4E2M1FN", "f4E2M1FN", 1, 0x0F)


TYPES = tuple(each for each in _types() if each.name in abi.read_enumerators("PJRT_Buffer_Type"))
_COUNT = 12


def _content(element: ElementType) -> bytes:
    return bytes(byte & element.mask for byte in range(1, _COUNT * element.size + 1))


def _put(client: Client, element: ElementType) -> int:
    """A buffer of this type. Raises UnsupportedError if the plug-in names the type as unsupported."""
    number = abi.read_enumerators("PJRT_Buffer_Type")[element.name]
    with unsupported_if_error():
        return client.put(_content(element), number, [3, 4])


@check("PJRT_Client_BufferFromHostBuffer", "PJRT_Buffer_ToHostBuffer", each=[(each,) for each in TYPES])
def transfer(client: Client, element: ElementType) -> None:
    """The content of a buffer is the same after both transfers. Types below a byte take a byte each on the host."""
    buffer = _put(client, element)
    number = client.call("PJRT_Buffer_ElementType", buffer=buffer).type
    expect_equal(number, abi.read_enumerators("PJRT_Buffer_Type")[element.name], "The type")
    found = client.fetch(buffer)
    expect(found == _content(element), f"The content is {found[:16].hex()}, not {_content(element)[:16].hex()}.")


@check("PJRT_Client_Compile", "PJRT_LoadedExecutable_Execute", "PJRT_Executable_OutputElementTypes",
       each=[(each,) for each in TYPES if each.name not in ("S1", "U1")])  # fmt: skip
def program(client: Client, element: ElementType) -> None:
    """A program that returns its argument keeps the type and the content."""
    buffer = _put(client, element)
    with unsupported_if_error():
        loaded = client.compile(programs.build_identity_program(element.mlir, [3, 4]))
    [[result]] = client.run(loaded, [[buffer]])
    number = client.call("PJRT_Buffer_ElementType", buffer=result).type
    expect_equal(number, abi.read_enumerators("PJRT_Buffer_Type")[element.name], "The type of the result")
    found = client.fetch(result)
    expect(found == _content(element), f"The result is {found[:16].hex()}, not {_content(element)[:16].hex()}.")

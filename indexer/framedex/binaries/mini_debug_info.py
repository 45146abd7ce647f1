"""The compressed symbols in `.gnu_debugdata`, an embedded ELF file (GDB manual: MiniDebugInfo).

Its addresses are trusted like those of the binary's own symbol table, if both files are of the same binary.
"""

from __future__ import annotations

import lzma
from io import BytesIO

from framedex.binaries.elf import Elf, said

SECTION = ".gnu_debugdata"
_LARGEST = 1 << 28  # bytes, decompressed; jaxlib's library has 105 MB
_MOST_MEMORY = 1 << 28  # bytes of memory for the decompression itself; `xz -9` needs 65 MB


def embedded_file(elf: Elf) -> Elf | None:
    """The embedded ELF file with a binary's symbols; None if missing. Adds errors to `elf.problems`."""
    section = elf.section(SECTION)
    if section is None:
        return None
    try:
        data = _decompressed(bytes(elf.bytes_of(section)))
        embedded = Elf(data, BytesIO(data))
        trouble = _why_another(embedded, elf)
    except Exception as error:  # lzma, or pyelftools on the decompressed data
        trouble = f"cannot be read: {said(error)}"
    if trouble is not None:
        elf.problems.append(f"The embedded symbols ({SECTION}) {trouble}.")
        return None
    return embedded


def _decompressed(content: bytes) -> bytes:
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_MEMORY)
    data = decompressor.decompress(content, _LARGEST)
    if decompressor.eof:
        return data
    if decompressor.needs_input:
        raise ValueError("they are cut off")
    raise ValueError(f"they are larger than {_LARGEST >> 20} MiB")


def _why_another(embedded: Elf, elf: Elf) -> str | None:
    if embedded.machine != elf.machine:
        return "are of another machine"
    if embedded.build_id and elf.build_id and embedded.build_id != elf.build_id:
        return "are of another binary: their build-id is another one"
    own, other = elf.section(".text"), embedded.section(".text")
    if own and other and (own.address, own.size) != (other.address, other.size):
        return "are of another binary: its code lies elsewhere"
    return None

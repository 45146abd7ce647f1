"""Binaries: from addresses in ELF files to named functions and source lines."""

from framedex.binaries.binary import Binary
from framedex.binaries.roles import role_of

__all__ = ["Binary", "role_of"]

"""Binaries: from addresses in ELF files to named functions and source lines."""

from typing import TYPE_CHECKING

from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.binaries.binary import Binary
    from framedex.binaries.roles import role_of

__all__ = ["Binary", "role_of"]

__getattr__ = exports(__name__, {"binary": ("Binary",), "roles": ("role_of",)})

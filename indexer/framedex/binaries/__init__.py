"""Binaries: from addresses in ELF files to named functions and source lines."""

from typing import TYPE_CHECKING

from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.binaries.binary import Binary
    from framedex.binaries.contents import Contents, state_of
    from framedex.binaries.kept import KeptBinaries
    from framedex.binaries.roles import role_of

__all__ = ["Binary", "Contents", "KeptBinaries", "role_of", "state_of"]

__getattr__ = exports(
    __name__,
    {
        "binary": ("Binary",),
        "contents": ("Contents", "state_of"),
        "kept": ("KeptBinaries",),
        "roles": ("role_of",),
    },
)

"""framedex: what really happens under a line of Python that uses JAX."""

from typing import TYPE_CHECKING

from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.index.opening import open_index

__all__ = ["open_index"]

__getattr__ = exports(__name__, {"index.opening": ("open_index",)})

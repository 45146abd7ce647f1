"""framedex: shows what happens below a line of Python that uses JAX."""

from typing import TYPE_CHECKING

from framedex.base.lazy import export_lazily

if TYPE_CHECKING:
    from framedex.index.opening import open_index
    from framedex.integrations.notebook.extension import load_ipython_extension, unload_ipython_extension

__all__ = ["load_ipython_extension", "open_index", "unload_ipython_extension"]

__getattr__ = export_lazily(
    __name__,
    {
        "index.opening": ("open_index",),
        "integrations.notebook.extension": ("load_ipython_extension", "unload_ipython_extension"),
    },
)

"""The index: one SQLite file per project. The only room that writes SQL.

`Store` writes, `Index` answers; `file/schema.sql` describes the tables for those who open the file with other tools.
"""

from typing import TYPE_CHECKING

from framedex.index.file.database import find_index
from framedex.lazy import exports

if TYPE_CHECKING:
    from framedex.index.opening import open_index
    from framedex.index.reader import Index
    from framedex.index.write.store import Store

__all__ = ["Index", "Store", "find_index", "open_index"]

# Readers must start quickly: numpy comes with the writer only.
__getattr__ = exports(__name__, {"opening": ("open_index",), "reader": ("Index",), "write.store": ("Store",)})

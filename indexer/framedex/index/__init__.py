"""The index: one SQLite file per project. Only this package writes SQL.

`Store` writes, `Index` answers; `file/schema.sql` describes the tables. Start at `reader.py` for queries,
`write/capture.py` for writing.

Invariants:
- The index is consistent after every batch: rows, kinds and totals are committed together.
- Calls have no index but their ids. A search goes from kinds by spans to rows (`read/spans.py`).
- Editor queries never scan calls, stacks or nodes. A test checks the query plans.
- Totals are read through the reader's scope (`Scope` in `read/rows.py`), so one rule decides which captures count.
- An older index is rebuilt in one transaction, from its captures; a newer one is never written.
"""

from typing import TYPE_CHECKING

from framedex.base.lazy import export_lazily
from framedex.index.file.database import find_index

if TYPE_CHECKING:
    from framedex.index.opening import open_index
    from framedex.index.reader import Index
    from framedex.index.write.store import Store

__all__ = ["Index", "Store", "find_index", "open_index"]

# Lazy exports, so that readers start quickly: only the writer needs numpy.
__getattr__ = export_lazily(__name__, {"opening": ("open_index",), "reader": ("Index",), "write.store": ("Store",)})

"""Copy captures from a store into an index, in the same way as shared files."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framedex.base.errors import FramedexError
from framedex.fleet.segments import write_shared_file
from framedex.ingest.imports import ImportedFile, import_file
from framedex.shared.reading import READ_ERRORS

if TYPE_CHECKING:
    from framedex.base.progress import Progress
    from framedex.fleet.store_queries import StoreConnection
    from framedex.index import Store
    from framedex.path_resolution.files import PathRule


def pull_captures(
    connection: StoreConnection,
    rows: Sequence[Mapping[str, Any]],
    store: Store,
    captures: Path,
    roots: Sequence[Path],
    progress: Progress,
    rules: Sequence[PathRule] | None = None,
) -> Iterator[tuple[Mapping[str, Any], ImportedFile | FramedexError]]:
    """Pull captures into an index. Yield each row with its import, or with the error that prevented it.

    A capture that is already in the index is replaced only if it has changed. Files are stored in the folder
    `captures`. For the other parameters see `import_file`. Each capture is pulled completely or not at all.
    """
    with progress.task("Pulling captures", sum(row["calls"] for row in rows)) as advance:
        for row in rows:
            done: ImportedFile | FramedexError
            try:
                with tempfile.NamedTemporaryFile(prefix="framedex-fleet-", suffix=".fdx.zip") as file:
                    write_shared_file(connection.segment_of(row["capture"]), file.file)
                    file.flush()
                    origin = f"fleet:{row['capture']}"
                    how = (captures, None, (), roots, progress, rules, None, origin)
                    done = import_file(store, Path(file.name), *how)
            except READ_ERRORS as error:
                message = f"The store's data of capture {row['capture']} is inconsistent: {error}."
                done = FramedexError(message, connection.remedy(row["capture"]))
            except FramedexError as error:
                done = FramedexError(f"Capture {row['capture']} was not pulled. {error.message}", error.remedy)
            except OSError as error:
                kept = f"Temporary files in {tempfile.gettempdir()} could not be written: {error.strerror}."
                done = FramedexError(kept, "Set TMPDIR to a folder with more room.")
            advance(row["calls"], calls=row["calls"])
            yield row, done

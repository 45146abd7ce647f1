"""Captures of a store into an index, as files that somebody has shared come there: from their rows alone."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framedex.errors import FramedexError
from framedex.fleet.as_shared import write_pulled
from framedex.ingest.imports import Imported, import_file
from framedex.shared.reading import UNSOUND

if TYPE_CHECKING:
    from framedex.fleet.asking import Asking
    from framedex.index import Store
    from framedex.path_resolution.files import PathRule
    from framedex.progress import Progress


def pull_captures(
    asking: Asking,
    rows: Sequence[Mapping[str, Any]],
    store: Store,
    captures: Path,
    roots: Sequence[Path],
    progress: Progress,
    rules: Sequence[PathRule] | None = None,
) -> Iterator[tuple[Mapping[str, Any], Imported | FramedexError]]:
    """Pull captures, whose rows are given, one after the other into an index; what cannot be comes with the reason.

    A capture is known by its id in stores, so one that is there already stays unless it has changed. What is kept of
    it lies in the folder `captures`. The others are as for `import_file`. Each is in the index whole or not at all.
    """
    with progress.task("Pulling captures", sum(row["calls"] for row in rows)) as advance:
        for row in rows:
            done: Imported | FramedexError
            try:
                with tempfile.NamedTemporaryFile(prefix="framedex-fleet-", suffix=".fdx.zip") as file:
                    write_pulled(asking, row, file.file)
                    file.flush()
                    origin = f"fleet:{row['capture']}"
                    how = (captures, None, (), roots, progress, rules, None, origin)
                    done = import_file(store, Path(file.name), *how)
            except UNSOUND as error:
                said = f"What the store has of capture {row['capture']} does not hold together: {error}."
                done = FramedexError(said, asking.remedy(row["capture"]))
            except FramedexError as error:
                done = FramedexError(f"Capture {row['capture']} is not pulled. {error.message}", error.remedy)
            except OSError as error:
                kept = f"What is kept in {tempfile.gettempdir()} meanwhile could not be written: {error.strerror}."
                done = FramedexError(kept, "Set TMPDIR to a folder with more room.")
            advance(row["calls"], calls=row["calls"])
            yield row, done

"""A temporary index of a few captures, for answers about Python lines: without the sources of native functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from framedex.base.errors import FramedexError
from framedex.base.progress import SilentProgress
from framedex.index import Index, Store
from framedex.ingest.pipeline import ingest_captures, skip_sources


def write_plain_index(path: Path, captures: Sequence[Path]) -> None:
    """Index captures without sources. Raises FramedexError if one cannot be read."""
    with Store(path) as store:
        report = ingest_captures(store, captures, [], SilentProgress(), skip_sources)
    for capture, error in report.refused:
        raise FramedexError(f"{capture} cannot be read: {error.message}", error.remedy)


@contextmanager
def temporary_index(captures: Sequence[Path]) -> Iterator[Index]:
    """Yield a temporary index of these captures, and delete it afterwards. Raises like `write_plain_index`."""
    with TemporaryDirectory(prefix="framedex-") as folder:
        path = Path(folder, "index.db")
        write_plain_index(path, captures)
        with Index.open(path) as index:
            yield index

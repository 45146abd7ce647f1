"""Import files of other recorders: each is stored as a capture, then read like any other capture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.progress import Progress
from framedex.captures.state import identity_of_import
from framedex.imports.copying import copied_file
from framedex.imports.reading import format_of
from framedex.index import Store
from framedex.ingest.pipeline import ingest_captures
from framedex.ingest.report import CaptureReport
from framedex.model import ImportOrigin
from framedex.model.metadata import SHARED_FORMAT
from framedex.path_resolution.files import PathRule
from framedex.shared.reading import UNSOUND, refusing

if TYPE_CHECKING:  # few runs need it
    from framedex.binaries.debuginfod import Debuginfod


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """A file that is in the index as the capture of this id; `report` is None if it was already there."""

    capture: int
    foreign: ImportOrigin
    report: CaptureReport | None


def import_file(
    store: Store,
    file: Path,
    captures: Path,
    value: str | None,
    folders: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    rules: Sequence[PathRule] | None = None,
    debuginfod: Debuginfod | None = None,
    origin: str | None = None,
) -> ImportedFile:
    """Store a file in the folder `captures`, and read it into the index, in one transaction.

    `value` names the sample value to use as weight. Relative file names begin in `folders`. `origin` identifies the
    source of a file that was created here. The other parameters are as for `ingest_captures`. Raises FramedexError
    without any change if the file cannot be read completely.
    """
    copy = copied_file(file, captures, value, folders, origin)
    with copy as store_file, _blame_shared_file(file), store.transaction():
        stored = store_file()  # only one process writes an index at a time
        report = ingest_captures(store, [stored.folder], roots, progress, rules=rules, debuginfod=debuginfod)
        for _, error in report.refused:
            raise error
        known = store.known_capture(identity_of_import(stored.foreign.origin))
        assert known is not None
        read = next(iter(report.captures), None)
    return ImportedFile(known.id, stored.foreign, read)


@contextmanager
def _blame_shared_file(file: Path) -> Iterator[None]:
    """Blame a shared file for content that the index cannot store: a context manager."""
    try:
        yield
    except UNSOUND as error:
        if format_of(file).name != SHARED_FORMAT:
            raise
        with refusing(file):
            raise error

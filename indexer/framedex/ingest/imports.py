"""Import recordings made by other tools: store each as a capture, then read it like any other capture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.progress import Progress
from framedex.captures.state import identify_import
from framedex.imports.copying import copied_file
from framedex.imports.reading import detect_format
from framedex.index import Store
from framedex.ingest.pipeline import ingest_captures
from framedex.ingest.report import CaptureReport
from framedex.model import ImportOrigin
from framedex.model.metadata import SHARED_FORMAT
from framedex.path_resolution.files import PathRule
from framedex.shared.reading import READ_ERRORS, converting_read_errors

if TYPE_CHECKING:  # rarely needed
    from framedex.binaries.debuginfod import Debuginfod


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """An imported file, and the id of its capture in the index; `report` is None if it was imported before."""

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
    source of a file that framedex itself created. The other parameters are as for `ingest_captures`. Raises
    FramedexError without any change if the file cannot be read completely.
    """
    copy = copied_file(file, captures, value, folders, origin)
    with copy as store_file, _report_shared_file(file), store.transaction():
        stored = store_file()  # only one process writes an index at a time
        report = ingest_captures(store, [stored.folder], roots, progress, rules=rules, debuginfod=debuginfod)
        for _, error in report.refused:
            raise error
        known = store.known_capture(identify_import(stored.foreign.origin))
        assert known is not None
        read = next(iter(report.captures), None)
    return ImportedFile(known.id, stored.foreign, read)


@contextmanager
def _report_shared_file(file: Path) -> Iterator[None]:
    """Report content that the index cannot store as damage of the shared file: a context manager."""
    try:
        yield
    except READ_ERRORS as error:
        if detect_format(file).name != SHARED_FORMAT:
            raise
        with converting_read_errors(file):
            raise error

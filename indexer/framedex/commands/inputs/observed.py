"""Observations from capture folders and observation files on a command line."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.commands.inputs.indexing import debuginfod_here
from framedex.commands.inputs.known import load_settings_here
from framedex.commands.output.bars import progress_of_questions, progress_on_terminal
from framedex.commands.output.console import note, print_error
from framedex.errors import FramedexError

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model.guidebook.observed import Observations


def observed_in(places: Sequence[Path]) -> tuple[Observations, bool]:
    """Join the observations of files and captures in the given order; the flag says that captures were unreadable.

    The captures are indexed in a temporary index; the user's own index is unchanged. Errors of captures are printed.
    Raises FramedexError if a file has no observations, or if nothing can be read.
    """
    from framedex.captures import captures_within
    from framedex.guidebook.joining import joined
    from framedex.guidebook.keeping import read_kept

    kept = [read_kept(place) for place in places if not place.is_dir()]
    captures = [capture for place in places if place.is_dir() for capture in captures_within(place)]
    found, refused = _observed_anew(captures) if captures else (None, False)
    return with_runs(joined([*kept, *([found] if found is not None else [])])), refused


def with_runs(observations: Observations) -> Observations:
    """Return the observations. Raises FramedexError if they have no runs."""
    if not observations.runs:
        raise FramedexError("The captures contain no calls.", "Record a program with `framedex run SCRIPT`.")
    return observations


def _observed_anew(captures: Sequence[Path]) -> tuple[Observations, bool]:
    from framedex.index import Index, Store
    from framedex.ingest import ingest_captures

    settings = load_settings_here()
    with tempfile.TemporaryDirectory(prefix="framedex-guidebook-") as folder:
        path = Path(folder) / "index.db"
        with progress_on_terminal() as progress, debuginfod_here(progress) as debuginfod, Store(path) as store:
            report = ingest_captures(
                store, list(dict.fromkeys(captures)), [], progress, rules=settings.path_map, debuginfod=debuginfod
            )
        for capture, error in report.refused:
            print_error(FramedexError(f"{capture} was not read: {error.message}", error.remedy))
        with Index.open(path, links=settings.links) as index:
            return observed_in_index(index), bool(report.refused)


def observed_in_index(index: Index) -> Observations:
    """The observations of all captures in an index, with a note for each capture that is left out."""
    from framedex.guidebook.observing import observe
    from framedex.missing import is_of_samples

    for capture in index.captures():
        if is_of_samples(capture.metadata_text):
            note(f"Capture {capture.id} is left out: it is an imported profile, and samples are not calls.")
    index.tell(progress_of_questions())
    return observe(index)

"""The site of a guidebook, written whole or not at all."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from framedex.guidebook.site.book import Book
from framedex.guidebook.site.contents import contents_of
from framedex.guidebook.site.documents import documents_of
from framedex.guidebook.site.generator import build, check_generator
from framedex.guidebook.site.replacing import marked, put_in_place, refuse_foreign
from framedex.model.guidebook.compared import Comparison
from framedex.model.guidebook.described import ApiRelease, Described
from framedex.model.guidebook.observed import Observations


def write_site(
    observations: Observations,
    described: Sequence[Described],
    out: Path,
    *,
    title: str,
    releases: Sequence[ApiRelease] = (),
    comparison: Comparison | None = None,
    documentation: Path | None = None,
    repository: str | None = None,
) -> None:
    """Write the site into the folder `out`, which is made, or replaced where it is a guidebook.

    `releases` are those of jaxlib whose API is known. A `comparison` has a page of its own. `documentation` is a
    checkout whose pages of Markdown become part of the site, `repository` the public address of its files. The same
    arguments give the same bytes. Raises FramedexError where `out` is something else or cannot be written, and where
    mkdocs-material is not installed; what was there stays then.
    """
    refuse_foreign(out)
    listed = contents_of(Book(title, observations, described), releases, comparison)
    documents = documents_of(documentation, repository) if documentation else []
    with tempfile.TemporaryDirectory(prefix="framedex-guidebook-") as folder:
        put_in_place(marked(build(title, listed, documents, Path(folder))), out)


def check_that_it_can_be_written(out: Path) -> None:
    """Raise FramedexError where `write_site` would at once, before anybody waits for what it is to write."""
    refuse_foreign(out)
    check_generator()

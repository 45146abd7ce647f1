"""Write the site of a guidebook, atomically."""

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
    """Write the site into the folder `out`, which is created, or replaced if it is a guidebook.

    `releases` are jaxlib releases with a known API. A `comparison` gets its own page. `documentation` is a checkout
    whose Markdown pages become part of the site, `repository` the public address of its files. The same arguments give
    the same bytes.

    Raises FramedexError if `out` is something else or cannot be written, or if mkdocs-material is not installed. The
    previous content is kept then.
    """
    refuse_foreign(out)
    listed = contents_of(Book(title, observations, described), releases, comparison)
    documents = documents_of(documentation, repository) if documentation else []
    with tempfile.TemporaryDirectory(prefix="framedex-guidebook-") as folder:
        put_in_place(marked(build(title, listed, documents, Path(folder))), out)


def check_that_it_can_be_written(out: Path) -> None:
    """Raise FramedexError if `write_site` would fail at once, before its input is computed."""
    refuse_foreign(out)
    check_generator()

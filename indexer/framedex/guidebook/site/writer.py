"""Write the site of a guidebook: the old folder stays in place until the new one is complete."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.base.regularfile import read_regular_text
from framedex.guidebook.site.book import GuidebookData
from framedex.guidebook.site.contents import list_pages
from framedex.guidebook.site.documents import find_documents
from framedex.guidebook.site.generator import build, check_generator
from framedex.model.guidebook import ApiRelease, Comparison, FunctionDescription, Observations


def write_site(
    observations: Observations,
    described: Sequence[FunctionDescription],
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
    check_replaceable(out)
    listed = list_pages(GuidebookData(title, observations, described), releases, comparison)
    documents = find_documents(documentation, repository) if documentation else []
    with tempfile.TemporaryDirectory(prefix="framedex-guidebook-") as folder:
        replace_folder(write_mark(build(title, listed, documents, Path(folder))), out)


def check_writable(out: Path) -> None:
    """Raise FramedexError if `write_site` would fail at once, before its input is computed."""
    check_replaceable(out)
    check_generator()


MARK = "framedex-guidebook.json"
"""The file that marks a folder as a guidebook, which may be replaced."""


def check_replaceable(out: Path) -> None:
    """Raise FramedexError if `out` exists and is neither an unmodified guidebook nor an empty folder.

    Also if `out` contains the working folder, which would be deleted.
    """
    if Path.cwd().is_relative_to(out.resolve()):
        raise FramedexError(
            f"{out} is the current folder or a folder above it, which would be replaced.",
            "Change to another folder, or use --out.",
        )
    if not os.path.lexists(out):
        return
    if (out / MARK).is_file():
        added = _foreign_entries(out)
        if added:
            raise FramedexError(
                f"{out} has {make_printable(added[0])}, which is not part of a guidebook and would be deleted.",
                "Move it elsewhere, or write to another folder with --out.",
            )
        return
    try:
        is_free = out.is_dir() and not out.is_symlink() and not any(out.iterdir())
    except OSError:
        is_free = False
    if not is_free:
        raise FramedexError(f"{out} exists and is not a framedex guidebook.", "Write to another folder with --out.")


def _foreign_entries(guidebook: Path) -> list[str]:
    """Return the entries of a guidebook's folder that framedex did not write."""
    try:
        written = {MARK, *json.loads(read_regular_text(guidebook / MARK))["holds"]}
        return sorted(path.name for path in guidebook.iterdir() if path.name not in written)
    except (OSError, ValueError, LookupError, TypeError):  # a malformed mark
        return []


def write_mark(site: Path) -> Path:
    """Write the mark, which lists the entries of a site, and return the site's folder."""
    holds = sorted(path.name for path in site.iterdir())
    (site / MARK).write_text(f"{json.dumps({'version': 1, 'holds': holds})}\n")
    return site


def replace_folder(site: Path, out: Path) -> None:
    """Move the site to the folder `out`. Raises FramedexError if it cannot be written."""
    target = out.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        workspace = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            new = workspace / "new"
            shutil.move(site, new)  # from a temporary folder, which may be on another file system
            new.chmod(0o755)
            if target.exists():
                target.rename(workspace / "old")
            new.rename(target)
        except BaseException:
            if (workspace / "old").exists() and not target.exists():
                (workspace / "old").rename(target)
            raise
        finally:
            shutil.rmtree(workspace, ignore_errors=True)
    except OSError as error:
        raise FramedexError(
            f"{out} could not be written: {error.strerror or error}.", "Choose another place with --out."
        ) from error

"""Replace a folder by another: the old one stays in place until the new one is complete."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path

from framedex.errors import FramedexError
from framedex.plaintext import printable
from framedex.regularfile import read_regular_text

MARK = "framedex-guidebook.json"
"""The file that marks a folder as a guidebook, which may be replaced."""


def refuse_foreign(out: Path) -> None:
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
        added = _added(out)
        if added:
            raise FramedexError(
                f"{out} has {printable(added[0])}, which is not part of a guidebook and would be deleted.",
                "Move it elsewhere, or write to another folder with --out.",
            )
        return
    try:
        is_free = out.is_dir() and not out.is_symlink() and not any(out.iterdir())
    except OSError:
        is_free = False
    if not is_free:
        raise FramedexError(f"{out} exists and is not a framedex guidebook.", "Write to another folder with --out.")


def _added(guidebook: Path) -> list[str]:
    """Return the entries of a guidebook's folder that framedex did not write."""
    try:
        written = {MARK, *json.loads(read_regular_text(guidebook / MARK))["holds"]}
        return sorted(path.name for path in guidebook.iterdir() if path.name not in written)
    except (OSError, ValueError, LookupError, TypeError):  # a malformed mark
        return []


def marked(site: Path) -> Path:
    """Write the mark, which lists the entries of a site, and return the site's folder."""
    holds = sorted(path.name for path in site.iterdir())
    (site / MARK).write_text(f"{json.dumps({'version': 1, 'holds': holds})}\n")
    return site


def put_in_place(site: Path, out: Path) -> None:
    """Move the site to the folder `out`. Raises FramedexError if it cannot be written."""
    target = out.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        try:
            new = beside / "new"
            shutil.move(site, new)  # from a temporary folder, which may be on another file system
            new.chmod(0o755)
            if target.exists():
                target.rename(beside / "old")
            new.rename(target)
        except BaseException:
            if (beside / "old").exists() and not target.exists():
                (beside / "old").rename(target)
            raise
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    except OSError as error:
        raise FramedexError(
            f"{out} could not be written: {error.strerror or error}.", "Choose another place with --out."
        ) from error

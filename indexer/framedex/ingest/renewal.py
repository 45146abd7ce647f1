"""Rebuild an index of an earlier version, if this loses none of its content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.captures import capture_identity, read_metadata
from framedex.errors import FramedexError
from framedex.index.file.database import Patience
from framedex.index.file.soundness import blaming_damage
from framedex.index.write.store import Store
from framedex.ingest.rebuild import is_missing, refill
from framedex.path_resolution.rules import PathRule
from framedex.progress import Progress
from framedex.systemlimits import SystemLimitError

if TYPE_CHECKING:  # few runs need it
    from framedex.binaries.debuginfod import Debuginfod

_KEPT = (
    "The index is left as it is, for the framedex that made it. Bring back what is missing, or run"
    " `framedex index --rebuild`, which makes the index anew without it."
)


def renew_index(
    path: Path,
    around: Sequence[Path],
    roots: Sequence[Path],
    progress: Progress,
    when_begun: Callable[[], object],
    patience: Patience,
    rules: Sequence[PathRule] = (),
    debuginfod: Debuginfod | None = None,
) -> None:
    """Rebuild an index of an earlier version from its captures, source maps and roots, in one transaction.

    Its captures are found at their stored paths, or `around`, the project's present captures. `when_begun` is called
    once all of them are found, unless another process has rebuilt the index meanwhile. Raises FramedexError without any
    change if something is missing or the file cannot be written.
    """
    try:
        with Store.of_any_version(path, patience) as store, blaming_damage(path):
            with store.transaction():
                if store.is_current():
                    return
                moved = _moved_captures(store, around)
                when_begun()
                report = refill(store, moved, roots, progress, rules, debuginfod)
                for capture, error in report.refused:
                    raise FramedexError(f"{capture} cannot be read now: {error.message}", _KEPT)
            store.is_made_anew()
            store.seal()
    except FramedexError as error:
        raise FramedexError(
            f"The index {path} is from an earlier framedex and cannot be rebuilt: {error.message}", error.remedy
        ) from error


def _moved_captures(store: Store, around: Sequence[Path]) -> list[Path]:
    """Return the new paths of moved captures. Raises FramedexError if a capture or a source map is missing."""
    away = {capture.identity: capture.path for capture in store.remembered()[1] if is_missing(capture.path)}
    found = {identity: path for path, identity in _identities(around) if identity in away} if away else {}
    gone = [path for identity, path in away.items() if identity not in found]
    missing = [*gone, *filter(is_missing, store.map_files())]
    if missing:
        listed = ", ".join(map(str, missing[:3])) + (f" and {len(missing) - 3} more" if missing[3:] else "")
        raise FramedexError(f"Some of its captures or source maps are missing: {listed}.", _KEPT)
    return list(found.values())


def _identities(captures: Sequence[Path]) -> Iterator[tuple[Path, str]]:
    for path in captures:
        try:
            yield path, capture_identity(path, read_metadata(path))
        except SystemLimitError:
            raise
        except FramedexError:
            continue

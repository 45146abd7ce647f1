"""`open_index`: opens an index by its project's folder, restricted to chosen captures."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from framedex.base.errors import FramedexError
from framedex.index.file.database import changed_index_error, find_index
from framedex.index.reader import Index

if TYPE_CHECKING:
    from framedex.model import CaptureRow


def open_index(
    path: str | os.PathLike[str] = ".", *, captures: Literal["latest", "all"] | Collection[int] | int = "latest"
) -> Index:
    """Open an index, to be used in a `with` block or closed with `close`.

    `path` is an index file, or a folder: then the index is in this folder or in the nearest one above. `captures`
    selects the captures: those of the latest run with calls, all, one by its id, or several.

        with framedex.open_index() as index:
            for row in index.compiles():
                print(row.compiles, row.function, row.line)

    Warns if another program changed the file, because answers may then be wrong. Raises FramedexError (with a remedy)
    if there is no index or no such capture, and as `Index.open` does.
    """
    if isinstance(captures, int):
        captures = [captures]
    if not captures or (isinstance(captures, str) and captures not in ("latest", "all")):
        raise FramedexError(f"{captures!r} does not name captures.", 'Use "latest", "all", or ids: [3, 5].')
    index = Index.open(_find_index_file(Path(path)))
    if index.was_changed:
        warnings.warn(str(changed_index_error(index.path)), stacklevel=2)
    try:
        chosen = [row.id for row in find_latest_run(index)] if captures == "latest" else captures
        if isinstance(chosen, str) or {*chosen} == {row.id for row in index.captures()}:
            return index
        find_captures(index, chosen)
        narrow = index.restrict_to_captures(chosen)
    except BaseException:
        index.close()
        raise
    index.close()
    return narrow


def find_captures(index: Index, ids: Collection[int]) -> list[CaptureRow]:
    """Return the captures with these ids, in their order. Raises FramedexError if one is missing."""
    captures = {row.id: row for row in index.captures()}
    for capture in ids:
        if capture not in captures:
            raise FramedexError(
                f"There is no capture {capture} in the index. It may have been removed.",
                "`framedex captures --all` lists all captures.",
            )
    return [captures[capture] for capture in dict.fromkeys(ids)]


def find_latest_run(index: Index) -> list[CaptureRow]:
    """Return the captures of the latest run with calls."""
    with_calls = [row for row in index.captures() if row.calls]
    return [row for row in with_calls if row.run == with_calls[-1].run]


def _find_index_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = find_index(path)
    if found is None:
        raise FramedexError(
            f"There is no index in {path.absolute()} or a folder above (.framedex/index.db).",
            "Record a program with `framedex run SCRIPT`, then run `framedex index`.",
        )
    return found

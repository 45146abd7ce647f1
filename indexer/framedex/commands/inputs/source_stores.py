"""The index that reads a source folder, for the export of a source map."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.errors import FramedexError
from framedex.commands.inputs.project_index import (
    check_index_is_inside,
    find_index_path,
    load_settings_here,
    use_rebuilt_index,
    writer_patience,
)

if TYPE_CHECKING:
    from framedex.index import Store


@contextmanager
def open_store_of_sources(root: Path, index_path: Path | None) -> Iterator[Store]:
    """The index that has the folder as a source folder; a temporary index if there is none."""
    from framedex.index import Store

    settings = load_settings_here()
    path = find_index_path(index_path, settings)
    if path is not None and os.path.isfile(path):  # noqa: PTH113 - Path.is_file raises without permission
        checked = check_index_is_inside(path, index_path, settings)
        with use_rebuilt_index(path, index_path, settings, lambda: Store(checked, writer_patience())) as store:
            folder = os.path.realpath(root)
            if any(folder == known or folder.startswith(f"{known}/") for known in store.sources.roots()):
                yield store
                return
    try:
        import tempfile

        temporary_folder = tempfile.TemporaryDirectory(prefix="framedex-")
    except OSError as error:
        raise FramedexError(
            f"No temporary folder can be created: {error.strerror or error}.", "Set TMPDIR to a folder with free space."
        ) from error
    with temporary_folder as folder, Store(Path(folder) / "index.db") as store:
        yield store

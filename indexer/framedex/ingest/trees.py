"""Read source trees into the index: only changed files, each batch committed as soon as it is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from framedex.base.plaintext import quote_shell_word
from framedex.base.progress import Progress
from framedex.index import Store
from framedex.index.file.values import to_storable
from framedex.ingest.report import TreeReport
from framedex.model import ExtractedFile
from framedex.path_resolution.files import FoundFile, find_file
from framedex.sources import extract_files, find_files, find_language, find_macros

_BATCH_FILES = 400  # files: a third of a second


@dataclass(slots=True)
class SourceFileLists:
    """The source files to index: files below the stored roots, and files that frames refer to.

    `roots` has the root of each path below one. `missing` are the roots that no longer exist.
    """

    files: dict[str, FoundFile] = field(default_factory=dict)
    roots: dict[str, str] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def changed_files(self, store: Store) -> list[FoundFile]:
        """Return the files that are new or have changed since they were read."""
        known = store.sources.known_files()
        return [file for file in self.files.values() if known.get(file.path) != (file.modified, file.size)]


def find_trees(store: Store, progress: Progress, report: TreeReport) -> SourceFileLists:
    """Find all source files, without reading them."""
    trees = SourceFileLists()
    with progress.task("Looking for sources", None) as advance:
        for root in store.sources.roots():
            if not os.path.isdir(root):  # noqa: PTH112 - Path.is_dir raises where it may not look
                trees.missing.append(root)
                report.problems.append(
                    f"The source folder {root} is missing; its indexed data is kept until"
                    f" `framedex sources remove {quote_shell_word(root)}`."
                )
                continue
            for file in find_files(Path(root), report.add_unreadable_folder):
                if to_storable(file.path) != file.path:
                    report.problems.append(f"{to_storable(file.path)} is left out: its name is not valid UTF-8.")
                elif file.path not in trees.files:
                    trees.files[file.path] = file
                    trees.roots[file.path] = root
                advance(1)
    for path in store.sources.files_of_exact_locations():
        if path not in trees.files and (found := find_file(path)):
            trees.files[path] = found
    report.files = len(trees.files)
    return trees


def update_trees(store: Store, trees: SourceFileLists, progress: Progress, report: TreeReport) -> None:
    """Update the definitions and calls of all files."""
    known = store.sources.known_files()
    gone = [path for path in known if path not in trees.files and not _is_below(path, trees.missing)]
    if gone:
        with store.transaction():
            store.sources.remove_files(gone)
    report.removed = len(gone)
    changed_files = trees.changed_files(store)
    with progress.task("Reading sources", len(changed_files)) as advance:
        read_files(store, [file.path for file in changed_files], trees.roots, report, advance)


def read_files(
    store: Store,
    paths: Sequence[str],
    roots: Mapping[str, str],
    report: TreeReport,
    advance: Callable[[int], None] = lambda _: None,
) -> None:
    """Read these files, and commit each batch as soon as it is done."""
    trees: dict[str, list[str]] = {}
    for path in paths:
        trees.setdefault(roots.get(path, ""), []).append(path)
    for root, own in trees.items():
        _store_macros(store, root, own)
    for root, own in trees.items():
        for batch in _split_batches(extract_files(own, store.sources.macros(root))):
            with store.transaction():
                report.definitions += store.sources.replace_files(batch, roots)
                for file in batch:
                    report.parsed += 1
                    report.problems.extend(f"{file.path}: {problem}" for problem in file.problems)
                    advance(1)


def _store_macros(store: Store, root: str, paths: Sequence[str]) -> None:
    """Store the macros that these files of the tree at `root` define."""
    if found := find_macros([path for path in paths if find_language(path) == "cpp"]):
        with store.transaction():
            store.sources.add_macros(root, found)


def _is_below(path: str, roots: Sequence[str]) -> bool:
    return any(path.startswith(f"{root}/") for root in roots)


def _split_batches(files: Iterable[ExtractedFile]) -> Iterator[list[ExtractedFile]]:
    remaining = iter(files)
    while batch := list(islice(remaining, _BATCH_FILES)):
        yield batch

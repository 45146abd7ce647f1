"""Fetch the sources of a component at one commit into the cache, at most once.

The suppliers are tried in order; each provides what the earlier ones did not have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from framedex import words
from framedex.errors import FramedexError
from framedex.fetching.cache import SourceCache
from framedex.fetching.failures import failed, other_commit
from framedex.fetching.remotes import OtherCommitError
from framedex.fetching.running import GitFailedError, Told
from framedex.fetching.store import ObjectStore, TreeFile
from framedex.fetching.wanted import Wanted
from framedex.fetching.writing import files_to_write, write_checkout
from framedex.onpath import program_on_path
from framedex.progress import Advance, Progress
from framedex.releases.checkout import read_checkout


class Supplier(Protocol):
    """A source of objects: a remote repository, or a local clone.

    Each method raises GitFailedError on failure.
    """

    @property
    def address(self) -> str:
        """The address of the supplier."""
        ...

    def bring_commit(self, store: ObjectStore, wanted: Wanted, told: Told) -> str | None:
        """Fetch a commit with all its folders into a store, and return its id.

        None if the supplier does not have it.
        """
        ...

    def bring_contents(self, store: ObjectStore, wanted: Wanted, contents: Sequence[str], told: Told) -> None:
        """Fetch the contents of files, as many as the supplier has."""
        ...


def fetched_already(cache: SourceCache, wanted: Wanted) -> Path | None:
    """Return the cached checkout of a commit; None if there is none. Uses no network.

    Raises FramedexError if the checkout is damaged.
    """
    store = ObjectStore(cache.store(wanted.component))
    commit = wanted.commit or (store.commit_of(f"refs/tags/{wanted.tag}") if store.folder.is_dir() else None)
    folder = cache.checkout(wanted.component, commit) if commit else None
    if folder is None or not folder.is_dir():
        return None
    if program_on_path("git") is None:
        return folder
    checkout = read_checkout(folder)
    if checkout is None or checkout.commit != commit:
        why = checkout.problem if checkout is not None else None
        raise FramedexError(
            f"{folder} is not the expected checkout{f': {why}' if why else '.'}",
            f"`framedex sources fetch --remove {wanted.component}` removes it; then fetch again.",
        )
    return folder


def fetch_sources(
    cache: SourceCache, wanted: Wanted, suppliers: Sequence[Supplier], progress: Progress, waiting: Callable[[], object]
) -> Path:
    """Return the complete checkout of `wanted`, fetching it first if needed.

    Each supplier provides what the earlier ones did not have. `waiting` is called before blocking on another process
    that fetches the same component. Raises FramedexError. After an error or an interruption, fetched data is kept and
    the next call continues.
    """
    with cache.locked(wanted.component, waiting) as lock:
        if (already := fetched_already(cache, wanted)) is not None:
            return already
        fetching = _Fetching(ObjectStore(cache.store(wanted.component), [lock]), wanted, suppliers, progress)
        try:
            fetching.store.prepare()
            known = replace(wanted, commit=fetching.bring_commit())
            folder = cache.checkout(wanted.component, known.commit)
            if not folder.is_dir():  # else it was already fetched by its commit, and is now wanted by its tag
                files = fetching.bring_files(known)
                with progress.task(f"Writing {wanted.title}", len(files_to_write(files))) as advance:
                    tag = "" if wanted.commit else wanted.tag
                    write_checkout(folder, fetching.store.folder, known, tag, files, [lock], advance)
        except OtherCommitError as error:
            raise other_commit(wanted, fetching.asked or wanted.repository, str(error)) from error
        except (GitFailedError, OSError) as error:
            raise failed(wanted, fetching.asked, str(error), fetching.store.folder) from error
        return folder


class _Fetching:
    """One fetch. `asked` is the address of the current supplier."""

    def __init__(self, store: ObjectStore, wanted: Wanted, suppliers: Sequence[Supplier], progress: Progress) -> None:
        self.store = store
        self.asked: str | None = None
        self._wanted, self._suppliers, self._progress = wanted, suppliers, progress

    def bring_commit(self) -> str:
        """Ensure that the store has the commit and its folders, and return its id."""
        wanted, store = self._wanted, self.store
        commit = wanted.commit or store.commit_of(f"refs/tags/{wanted.tag}")
        if commit and store.has(commit):
            return commit
        for supplier in self._suppliers:
            self.asked = supplier.address
            with self._progress.task(f"Fetching the list of files of {wanted.title}", None) as advance:
                steps = _Steps(advance)
                found = supplier.bring_commit(store, wanted, steps.reach)
            if found is not None:
                store.keep(found)
                self.asked = None
                return found
        raise GitFailedError("not our ref: it does not have the commit")

    def bring_files(self, known: Wanted) -> list[TreeFile]:
        """Ensure that the store has the contents of the files to write, and return all files of the commit."""
        files = self.store.files(known.commit)
        missing = self.store.missing(dict.fromkeys(file.content for file in files_to_write(files)))
        with self._progress.task(f"Fetching {known.title}", len(missing)) as advance:
            steps = _Steps(advance, len(missing))
            for supplier in self._suppliers if missing else ():
                self.asked = supplier.address
                steps.begin()
                supplier.bring_contents(self.store, known, missing, steps.reach)
                missing = self.store.missing(missing)
                if not missing:
                    break
        if missing:
            raise GitFailedError(f"not our ref: it does not have the contents of {words.count(len(missing), 'file')}")
        self.asked = None
        return files


class _Steps:
    """Converts the object counts of successive suppliers into steps of a progress bar."""

    def __init__(self, advance: Advance, total: int | None = None) -> None:
        self._advance, self._left = advance, total
        self._reached = 0

    def begin(self) -> None:
        """Restart counting, for the next supplier."""
        self._reached = 0

    def reach(self, done: int, _total: int) -> None:
        """Advance the bar to `done` objects since `begin`."""
        step = max(done - self._reached, 0)
        if self._left is not None:
            step = min(step, self._left)
            self._left -= step
        self._reached = max(done, self._reached)
        if step:
            self._advance(step)

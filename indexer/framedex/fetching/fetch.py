"""Brings the sources of a component at one commit into the cache: from where they are found first, and only once."""

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
    """What may have what is wanted: a repository that git fetches from, or a clone on this machine.

    Each method raises GitFailedError where it fails.
    """

    @property
    def address(self) -> str:
        """What it is called."""
        ...

    def bring_commit(self, store: ObjectStore, wanted: Wanted, told: Told) -> str | None:
        """Bring a commit with all its folders into a store; its id. None where it is not there."""
        ...

    def bring_contents(self, store: ObjectStore, wanted: Wanted, contents: Sequence[str], told: Told) -> None:
        """Bring the contents of files, at least those that are there."""
        ...


def fetched_already(cache: SourceCache, wanted: Wanted) -> Path | None:
    """The checkout in the cache of what is wanted; None where there is none. Talks to nobody.

    Raises FramedexError where it is damaged.
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
    """The checkout of what is wanted, whole. Each supplier is asked for what those before it have not.

    `waiting` is called before another process that fetches the same component is waited for. Raises FramedexError. What
    has come before that, or before an interruption, is kept, and the next call goes on.
    """
    with cache.locked(wanted.component, waiting) as lock:
        if (already := fetched_already(cache, wanted)) is not None:
            return already
        fetching = _Fetching(ObjectStore(cache.store(wanted.component), [lock]), wanted, suppliers, progress)
        try:
            fetching.store.prepare()
            known = replace(wanted, commit=fetching.bring_commit())
            folder = cache.checkout(wanted.component, known.commit)
            if not folder.is_dir():  # else it was fetched by its commit, and is wanted by its tag now
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
    """One run. `asked` is the address of the supplier that is asked now."""

    def __init__(self, store: ObjectStore, wanted: Wanted, suppliers: Sequence[Supplier], progress: Progress) -> None:
        self.store = store
        self.asked: str | None = None
        self._wanted, self._suppliers, self._progress = wanted, suppliers, progress

    def bring_commit(self) -> str:
        """Have the commit and its folders in the store; its id."""
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
        """Have the contents of the files that are to be written in the store; all files of the commit."""
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
    """Turns how many have come, of one supplier after the other, into steps of a bar."""

    def __init__(self, advance: Advance, total: int | None = None) -> None:
        self._advance, self._left = advance, total
        self._reached = 0

    def begin(self) -> None:
        """From here on it is counted anew."""
        self._reached = 0

    def reach(self, done: int, _total: int) -> None:
        """So many have come since the beginning."""
        step = max(done - self._reached, 0)
        if self._left is not None:
            step = min(step, self._left)
            self._left -= step
        self._reached = max(done, self._reached)
        if step:
            self._advance(step)

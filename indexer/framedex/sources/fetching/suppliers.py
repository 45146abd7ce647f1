"""Suppliers of git objects: remote repositories, and local clones.

A remote repository supplies one commit without history, first its folders, then its files in batches. A fetched batch
is kept, so an interruption costs at most one batch. From servers that support neither filters nor fetching by id, whole
commits are requested.

Of a clone's configuration only the object folder is read. `git index-pack` checks the copied objects: a damaged object
gets another id, and so is still missing.
"""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.sources.fetching.addresses import REMOTE, is_local, local_folder
from framedex.sources.fetching.store import NOT_SERVED, SILENCE_TIMEOUT_S, GitFailedError, ObjectStore, ReportProgress
from framedex.sources.fetching.wanted import WantedCommit
from framedex.sources.git import Git
from framedex.sources.releases.roots import find_commit

_BATCH = 1000  # files; about 2.5 MB of XLA
_NAME = "framedex-origin"  # a remote name that no user's configuration has
_FETCH = (
    *("fetch", "--progress", "--no-write-fetch-head", "--no-tags", "--no-recurse-submodules", "--no-auto-gc"),
    *("--no-prune", "--force"),
)


class WrongCommitError(Exception):
    """A repository returned a different commit; the text names it."""


@dataclass(frozen=True, slots=True)
class Remote:
    """The repository at an address; fetches `batch` files at once, and fails after `timeout_s` seconds of silence."""

    address: str
    timeout_s: float = SILENCE_TIMEOUT_S
    batch: int = _BATCH

    def fetch_commit(self, store: ObjectStore, wanted: WantedCommit, report_progress: ReportProgress) -> str | None:
        """Fetch the commit, by its id or else by its tag.

        Raises WrongCommitError if the tag points to another commit.
        """
        return self._fetch_commit(store, wanted, report_progress, "--filter=blob:none")

    def fetch_contents(
        self, store: ObjectStore, wanted: WantedCommit, contents: Sequence[str], report_progress: ReportProgress
    ) -> None:
        """Fetch the contents by their ids, or the whole commit if the server does not support that."""
        for first in range(0, len(contents), self.batch):
            batch = contents[first : first + self.batch]
            try:
                self._fetch(
                    store,
                    *("--filter=blob:none", "--stdin", _NAME),
                    input_bytes="".join(f"{content}\n" for content in batch).encode(),
                    report_progress=partial(_report_from, first, report_progress),
                )
            except GitFailedError as error:
                if first or not NOT_SERVED.search(str(error)):
                    raise
                self._fetch_commit(store, wanted, report_progress, "--no-filter")
                return
            report_progress(first + len(batch), len(contents))

    def _fetch_commit(
        self, store: ObjectStore, wanted: WantedCommit, report_progress: ReportProgress, filtering: str
    ) -> str:
        tag = f"refs/tags/{wanted.tag}"
        references = [*([wanted.commit] if wanted.commit else []), *([tag] if wanted.tag else [])]
        for reference in references:
            target = tag if reference == tag else f"refs/framedex-fetched/{wanted.commit}"
            try:
                self._fetch(
                    store, filtering, "--depth=1", _NAME, f"+{reference}:{target}", report_progress=report_progress
                )
            except GitFailedError as error:
                if reference == references[-1] or not NOT_SERVED.search(str(error)):
                    raise
                continue
            commit = store.commit_of(target)
            if commit is None or (wanted.commit and commit != wanted.commit):
                store.delete_reference(target)
                raise WrongCommitError(f"{reference} is {commit or 'no commit'} there")
            return commit
        raise GitFailedError("neither a commit nor a tag is known")

    def _fetch(
        self, store: ObjectStore, *arguments: str, input_bytes: bytes = b"", report_progress: ReportProgress
    ) -> None:
        store.repository.run(
            *("--git-dir", ".", *_FETCH, *arguments),
            input_bytes=input_bytes,
            configuration={
                f"remote.{_NAME}.url": self.address,
                f"remote.{_NAME}.promisor": "true",
                f"remote.{_NAME}.partialclonefilter": "blob:none",
                # If framedex is killed, git itself times out on a silent server.
                **{"http.lowSpeedLimit": "1", "http.lowSpeedTime": str(math.ceil(self.timeout_s))},
                **({"fetch.negotiationAlgorithm": "noop"} if input_bytes or "--no-filter" in arguments else {}),
            },
            protocols=":".join(REMOTE),
            timeout_s=self.timeout_s,
            report_progress=report_progress,
        )


def _report_from(first: int, report_progress: ReportProgress, done_count: int, total: int) -> None:
    report_progress(first + done_count, first + total)


@dataclass(frozen=True, slots=True)
class Clone:
    """A clone in a folder, bare or with a checkout; `objects` is its object folder."""

    folder: Path
    objects: Path

    @classmethod
    def open(cls, folder: Path) -> Clone:
        """Return the clone in a folder. Raises FramedexError if there is none."""
        git = Git(folder)
        objects = git.text("rev-parse", "--git-path", "objects")
        if objects is None:
            raise FramedexError(
                f"{make_printable(str(folder))} is not a git clone: {make_printable(git.error)}.",
                "Name the folder of a git clone.",
            )
        return cls(folder, Path(os.path.realpath(folder / objects.removesuffix("\n"))))

    @property
    def address(self) -> str:
        """The folder of the clone."""
        return str(self.folder)

    def fetch_commit(self, store: ObjectStore, wanted: WantedCommit, report_progress: ReportProgress) -> str | None:
        """Copy the commit with its folders; None if the clone does not have all of them."""
        commit = wanted.commit or find_commit(self.folder, f"refs/tags/{wanted.tag}")
        if commit is None or store.commit_of(commit, [self.objects]) is None:
            return None
        self._copy(store, [commit, *store.folders(commit, [self.objects])], report_progress)
        _record_shallow_commit(store, commit)
        return commit

    def fetch_contents(
        self, store: ObjectStore, wanted: WantedCommit, contents: Sequence[str], report_progress: ReportProgress
    ) -> None:
        """Copy the file contents that the clone has."""
        absent = set(store.find_missing(contents, [self.objects]))
        if here := [content for content in contents if content not in absent]:
            self._copy(store, here, report_progress)

    def _copy(self, store: ObjectStore, ids: Sequence[str], report_progress: ReportProgress) -> None:
        input_bytes = "".join(f"{each}\n" for each in ids).encode()
        with tempfile.TemporaryFile(dir=store.folder / "objects" / "pack", prefix="tmp_") as pack:
            store.repository.run(
                *("--git-dir", ".", "pack-objects", "--stdout", "--progress", "--window=0"),
                input_bytes=input_bytes,
                into=pack,
                objects=[self.objects],
                report_progress=report_progress,
            )
            pack.seek(0)
            store.repository.run("--git-dir", ".", "index-pack", "--stdin", "--promisor", read_from=pack)


def _record_shallow_commit(store: ObjectStore, commit: str) -> None:
    """Record the commit in the `shallow` file of the store: its parents are not stored."""
    file = store.folder / "shallow"
    known = file.read_text().split() if file.is_file() else []
    unfinished = store.folder / "shallow.tmp"
    unfinished.write_text("".join(f"{each}\n" for each in sorted({*known, commit})))
    unfinished.replace(file)


def open_supplier(address: str) -> Remote | Clone:
    """Return the supplier at an address: a repository, or a clone in a local folder.

    Raises FramedexError if a folder is not a clone.
    """
    return Clone.open(Path(local_folder(address))) if is_local(address) else Remote(address)

"""Remote repositories: fetch one commit without history, first its folders, then its files in batches.

A fetched batch is kept, so an interruption costs at most one batch. Servers that support neither filters nor fetching
by id are asked for whole commits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from framedex.fetching.addresses import REMOTE
from framedex.fetching.running import NOT_GIVEN, PATIENCE, GitFailedError, Told
from framedex.fetching.store import ObjectStore
from framedex.fetching.wanted import Wanted

_BATCH = 1000  # files; about 2.5 MB of XLA
_NAME = "framedex-origin"  # a remote name that no user's configuration has
_FETCH = (
    *("fetch", "--progress", "--no-write-fetch-head", "--no-tags", "--no-recurse-submodules", "--no-auto-gc"),
    *("--no-prune", "--force"),
)


class OtherCommitError(Exception):
    """A repository returned another commit than the wanted one; the text names it."""


@dataclass(frozen=True, slots=True)
class Remote:
    """The repository at an address; fetches `batch` files at once, and fails after `patience` seconds of silence."""

    address: str
    patience: float = PATIENCE
    batch: int = _BATCH

    def bring_commit(self, store: ObjectStore, wanted: Wanted, told: Told) -> str | None:
        """Fetch the commit, by its id or else by its tag.

        Raises OtherCommitError if the tag points to another commit.
        """
        return self._fetch_commit(store, wanted, told, "--filter=blob:none")

    def bring_contents(self, store: ObjectStore, wanted: Wanted, contents: Sequence[str], told: Told) -> None:
        """Fetch the contents by their ids, or the whole commit if the server does not support that."""
        for first in range(0, len(contents), self.batch):
            batch = contents[first : first + self.batch]
            try:
                self._fetch(
                    store,
                    *("--filter=blob:none", "--stdin", _NAME),
                    given="".join(f"{content}\n" for content in batch).encode(),
                    told=partial(_told_from, first, told),
                )
            except GitFailedError as error:
                if first or not NOT_GIVEN.search(str(error)):
                    raise
                self._fetch_commit(store, wanted, told, "--no-filter")
                return
            told(first + len(batch), len(contents))

    def _fetch_commit(self, store: ObjectStore, wanted: Wanted, told: Told, filtering: str) -> str:
        tag = f"refs/tags/{wanted.tag}"
        references = [*([wanted.commit] if wanted.commit else []), *([tag] if wanted.tag else [])]
        for reference in references:
            target = tag if reference == tag else f"refs/framedex-fetched/{wanted.commit}"
            try:
                self._fetch(store, filtering, "--depth=1", _NAME, f"+{reference}:{target}", told=told)
            except GitFailedError as error:
                if reference == references[-1] or not NOT_GIVEN.search(str(error)):
                    raise
                continue
            commit = store.commit_of(target)
            if commit is None or (wanted.commit and commit != wanted.commit):
                store.forget(target)
                raise OtherCommitError(f"{reference} is {commit or 'no commit'} there")
            return commit
        raise GitFailedError("neither a commit nor a tag is known")

    def _fetch(self, store: ObjectStore, *arguments: str, given: bytes = b"", told: Told) -> None:
        store.repository.run(
            *("--git-dir", ".", *_FETCH, *arguments),
            given=given,
            configuration={
                f"remote.{_NAME}.url": self.address,
                f"remote.{_NAME}.promisor": "true",
                f"remote.{_NAME}.partialclonefilter": "blob:none",
                # If framedex is killed, git itself gives up on a silent server.
                **{"http.lowSpeedLimit": "1", "http.lowSpeedTime": str(math.ceil(self.patience))},
                **({"fetch.negotiationAlgorithm": "noop"} if given or "--no-filter" in arguments else {}),
            },
            protocols=":".join(REMOTE),
            patience=self.patience,
            told=told,
        )


def _told_from(first: int, told: Told, done: int, total: int) -> None:
    told(first + done, first + total)

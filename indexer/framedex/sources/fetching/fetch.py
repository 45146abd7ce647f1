"""Fetch the sources of a component at one commit into the cache, at most once.

The suppliers are tried in order; each provides the objects that are still missing.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Protocol

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.folders import find_program
from framedex.base.plaintext import make_printable, quote_shell_word
from framedex.base.progress import AdvanceCallback, Progress
from framedex.base.regularfile import read_regular
from framedex.sources.fetching.cache import SourceCache
from framedex.sources.fetching.store import (
    NOT_SERVED,
    GitFailedError,
    ObjectStore,
    ReportProgress,
    TreeFile,
    select_files_to_write,
    write_checkout,
)
from framedex.sources.fetching.suppliers import WrongCommitError
from framedex.sources.fetching.wanted import WantedCommit, build_wanted_jax
from framedex.sources.releases.builds import PIN_FILES, Build, add_pinned_commits, find_pinned_xla_commit
from framedex.sources.releases.roots import read_checkout, shorten_revision


class ObjectSource(Protocol):
    """A supplier of git objects: a remote repository, or a local clone.

    Each method raises GitFailedError on failure.
    """

    @property
    def address(self) -> str:
        """The address of the supplier."""
        ...

    def fetch_commit(self, store: ObjectStore, wanted: WantedCommit, report_progress: ReportProgress) -> str | None:
        """Fetch a commit with all its folders into a store, and return its id.

        None if the supplier does not have it.
        """
        ...

    def fetch_contents(
        self, store: ObjectStore, wanted: WantedCommit, contents: Sequence[str], report_progress: ReportProgress
    ) -> None:
        """Fetch the contents of files, as many as the supplier has."""
        ...


def find_fetched_checkout(cache: SourceCache, wanted: WantedCommit) -> Path | None:
    """Return the cached checkout of a commit; None if there is none. Uses no network.

    Raises FramedexError if the checkout is damaged.
    """
    commit = _find_commit(cache, wanted)
    folder = cache.checkout(wanted.component, commit) if commit else None
    if folder is None or not folder.is_dir():
        return None
    if find_program("git") is None:
        return folder
    checkout = read_checkout(folder)
    if checkout is None or checkout.commit != commit:
        why = checkout.problem if checkout is not None else None
        raise FramedexError(
            f"{folder} is not the expected checkout{f': {why}' if why else '.'}",
            f"`framedex sources fetch --remove {wanted.component}` removes it; then fetch again.",
        )
    return folder


def find_cached_map(cache: SourceCache, wanted: WantedCommit) -> Path | None:
    """Return the cached source map of a commit; None if there is none. Uses no network."""
    commit = _find_commit(cache, wanted)
    path = cache.source_map(wanted.component, commit) if commit else None
    return path if path is not None and path.is_file() else None


def _find_commit(cache: SourceCache, wanted: WantedCommit) -> str | None:
    """Return the id of the wanted commit, for a tag the fetched one; None if it is unknown."""
    store = ObjectStore(cache.store(wanted.component))
    if wanted.pinned_by or wanted.commit or not store.folder.is_dir():
        return wanted.commit or None
    return store.commit_of(f"refs/tags/{wanted.tag}")


def find_pinned_commit(cache: SourceCache, jax_revision: str) -> str | None:
    """Return the XLA commit that a JAX commit or tag pins, from the fetched sources of JAX; None if unknown."""
    wanted = build_wanted_jax(jax_revision)
    folder = find_fetched_checkout(cache, wanted)
    if folder is not None:
        return find_pinned_xla_commit(partial(_read_text, folder))
    commit = _find_commit(cache, wanted) if find_cached_map(cache, wanted) is not None else None
    return find_pinned_xla_commit(partial(ObjectStore(cache.store("jax")).read_text, commit)) if commit else None


def with_cached_pins(builds: Sequence[Build]) -> Sequence[Build]:
    """Return the builds, with the XLA commits that fetched sources of JAX pin. Uses no network."""

    def xla_commit_of(jax_revision: str) -> str | None:
        try:
            return find_pinned_commit(SourceCache.default(), jax_revision)
        except FramedexError:  # there is no cache, or it is damaged: a fetch reports that
            return None

    return add_pinned_commits(builds, xla_commit_of)


def _read_text(folder: Path, file: str) -> str | None:
    try:
        return read_regular(folder / file).decode(errors="replace")
    except OSError:
        return None


def _with_pinned_commit(cache: SourceCache, wanted: WantedCommit) -> WantedCommit:
    commit = find_pinned_commit(cache, wanted.pinned_by)
    if commit is None:
        jax = build_wanted_jax(wanted.pinned_by)
        raise FramedexError(
            f"JAX {shorten_revision(wanted.pinned_by)} names no XLA commit in {', '.join(PIN_FILES)}"
            + ("." if find_fetched_checkout(cache, jax) else ", because it could not be fetched."),
            f"Find the commit in the build files of {jax.repository}; then `framedex sources fetch xla@COMMIT`.",
        )
    return replace(wanted, commit=commit, pinned_by="")


def fetch_sources(
    cache: SourceCache,
    wanted: WantedCommit,
    suppliers: Sequence[ObjectSource],
    progress: Progress,
    waiting: Callable[[], object],
) -> Path:
    """Return the complete checkout of `wanted`, fetching it first if needed.

    Each supplier provides the objects that are still missing. `waiting` is called before blocking on another process
    that fetches the same component. Raises FramedexError. After an error or an interruption, fetched data is kept and
    the next call continues.
    """
    if wanted.pinned_by:
        wanted = _with_pinned_commit(cache, wanted)
    with cache.lock_component(wanted.component, waiting) as lock:
        if (already := find_fetched_checkout(cache, wanted)) is not None:
            return already
        fetching = _FetchOperation(ObjectStore(cache.store(wanted.component), [lock]), wanted, suppliers, progress)
        try:
            fetching.store.prepare()
            known = replace(wanted, commit=fetching.fetch_commit())
            folder = cache.checkout(wanted.component, known.commit)
            if not folder.is_dir():  # otherwise it was fetched by its commit before, and is now requested by its tag
                files = fetching.fetch_files(known)
                with progress.task(f"Writing {wanted.title}", len(select_files_to_write(files))) as advance:
                    tag = "" if wanted.commit else wanted.tag
                    write_checkout(folder, fetching.store.folder, known, tag, files, [lock], advance)
        except WrongCommitError as error:
            raise other_commit_error(wanted, fetching.supplier_address or wanted.repository, str(error)) from error
        except (GitFailedError, OSError) as error:
            raise fetch_error(wanted, fetching.supplier_address, str(error), fetching.store.folder) from error
        return folder


class _FetchOperation:
    """One fetch. `supplier_address` is the address of the current supplier."""

    def __init__(
        self, store: ObjectStore, wanted: WantedCommit, suppliers: Sequence[ObjectSource], progress: Progress
    ) -> None:
        self.store = store
        self.supplier_address: str | None = None
        self._wanted, self._suppliers, self._progress = wanted, suppliers, progress

    def fetch_commit(self) -> str:
        """Ensure that the store has the commit and its folders, and return its id."""
        wanted, store = self._wanted, self.store
        commit = wanted.commit or store.commit_of(f"refs/tags/{wanted.tag}")
        if commit and store.is_complete(commit):
            return commit
        for supplier in self._suppliers:
            self.supplier_address = supplier.address
            with self._progress.task(f"Fetching the list of files of {wanted.title}", None) as advance:
                steps = _ProgressSteps(advance)
                found = supplier.fetch_commit(store, wanted, steps.advance_to)
            if found is not None:
                store.mark_complete(found)
                self.supplier_address = None
                return found
        raise GitFailedError("not our ref: it does not have the commit")

    def fetch_files(self, known: WantedCommit) -> list[TreeFile]:
        """Ensure that the store has the contents of the files to write, and return all files of the commit."""
        files = self.store.files(known.commit)
        missing = self.store.find_missing(dict.fromkeys(file.content for file in select_files_to_write(files)))
        with self._progress.task(f"Fetching {known.title}", len(missing)) as advance:
            steps = _ProgressSteps(advance, len(missing))
            for supplier in self._suppliers if missing else ():
                self.supplier_address = supplier.address
                steps.begin()
                supplier.fetch_contents(self.store, known, missing, steps.advance_to)
                missing = self.store.find_missing(missing)
                if not missing:
                    break
        if missing:
            raise GitFailedError(f"not our ref: it does not have the contents of {words.count(len(missing), 'file')}")
        self.supplier_address = None
        return files


class _ProgressSteps:
    """Converts the object counts of successive suppliers into steps of a progress bar."""

    def __init__(self, advance: AdvanceCallback, total: int | None = None) -> None:
        self._advance, self._remaining = advance, total
        self._completed = 0

    def begin(self) -> None:
        """Restart counting, for the next supplier."""
        self._completed = 0

    def advance_to(self, done_count: int, _total: int) -> None:
        """Advance the bar to `done_count` objects since `begin`."""
        step = max(done_count - self._completed, 0)
        if self._remaining is not None:
            step = min(step, self._remaining)
            self._remaining -= step
        self._completed = max(done_count, self._completed)
        if step:
            self._advance(step)


_NO_GIT = re.compile(r"there is no git")
_TOO_OLD_GIT = re.compile(r"unknown option|framedex-origin' does not appear")
_DISK_FULL = re.compile(r"No space left|[Dd]isk quota|File too large|file write error|unable to write file")
_NOT_WRITABLE = re.compile(r"Permission denied(?! \()|Read-only file system|insufficient permission")
_ACCESS_DENIED = re.compile(
    r"[Aa]uthentication|could not read (?:Username|Password)|Permission denied \(|error: 40[13]|Host key"
)
_DAMAGED = re.compile(
    r"too short to be a packfile|packfile .* (?:cannot be|is truncated|does not match)|corrupt|inflate|bad object"
    r"|unable to read|loose object|not a tree|not a git repository|bad config|invalid sha1 pointer"
)
_MAX_QUOTED_CHARACTERS = 400  # maximum characters of quoted git output


def fetch_error(wanted: WantedCommit, address: str | None, output: str, store: Path) -> FramedexError:
    """Return the error for a failed git command with the output `output`; `address` is the remote's, if any."""
    where = f" from {address}" if address else ""
    quoted = make_printable(
        output if len(output) <= _MAX_QUOTED_CHARACTERS else f"{output[:_MAX_QUOTED_CHARACTERS]}..."
    ).rstrip(".")
    what = f"{wanted.title} could not be fetched{where}: {quoted}."
    if _NO_GIT.search(output):
        return FramedexError(
            what, f"Install git, or copy the sources here yourself.\n{format_manual_instructions(wanted)}"
        )
    if _TOO_OLD_GIT.search(output):
        return FramedexError(what, f"git 2.31 or later is needed.\n{format_manual_instructions(wanted)}")
    if _DISK_FULL.search(output):
        return FramedexError(
            what,
            f"Free space on the disk of {store.parent}, or set XDG_CACHE_HOME to another folder."
            " Then run the command again to continue.",
        )
    if address is None and _NOT_WRITABLE.search(output):
        return FramedexError(what, f"Check the permissions of {store.parent}, or set XDG_CACHE_HOME to another folder.")
    if _DAMAGED.search(output) and (address is None or " ./objects/" in output):
        return FramedexError(
            what,
            f"The stored sources in {store.parent} are damaged. Remove them:"
            f" `framedex sources fetch --remove {wanted.component}`. Then fetch them again.",
        )
    if NOT_SERVED.search(output):
        return FramedexError(
            what,
            "That repository does not have the commit, does not serve commits by id, or is served as plain files."
            f" Fetch the commit on another machine.\n{format_manual_instructions(wanted)}",
        )
    if _ACCESS_DENIED.search(output):
        return FramedexError(what, "git cannot ask for a password here: set up a credential helper or an ssh agent.")
    return FramedexError(
        what, f"The download is kept: run the command again to continue.\n{format_manual_instructions(wanted)}"
    )


def other_commit_error(wanted: WantedCommit, address: str, output: str) -> FramedexError:
    """Return the error for a repository that returned another commit."""
    return FramedexError(
        f"{address} returned a different commit, not {wanted.commit or wanted.tag}: {output}. It was rejected.",
        f"Fetch it from its origin: {wanted.repository}.",
    )


def format_manual_instructions(wanted: WantedCommit) -> str:
    """Return instructions to fetch the sources on another machine and to add them here."""
    name = wanted.repository.rpartition("/")[2]
    clone = f"git clone {wanted.repository}"
    checkout = f"git -C {name} checkout {shlex.quote(wanted.commit or wanted.tag)}"
    return (
        f"On a machine with a network: `{clone}`, then `{checkout}`.\n"
        f"Bring the folder here; then `framedex sources add {quote_shell_word(name)}` and `framedex index`."
    )

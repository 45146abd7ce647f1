"""Local clones from which objects are copied. Of their configuration only the object folder is read.

`git index-pack` checks the copied objects: a damaged object gets another id, and so is still missing.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from framedex.errors import FramedexError
from framedex.fetching.running import Told
from framedex.fetching.store import ObjectStore
from framedex.fetching.wanted import Wanted
from framedex.git import Git
from framedex.plaintext import printable
from framedex.releases.checkout import commit_of


@dataclass(frozen=True, slots=True)
class Clone:
    """A clone in a folder, bare or with a checkout; `objects` is its object folder."""

    folder: Path
    objects: Path

    @classmethod
    def at(cls, folder: Path) -> Clone:
        """Return the clone in a folder. Raises FramedexError if there is none."""
        git = Git(folder)
        objects = git.text("rev-parse", "--git-path", "objects")
        if objects is None:
            raise FramedexError(
                f"{printable(str(folder))} is not a git clone: {printable(git.error)}.",
                "Name the folder of a git clone.",
            )
        return cls(folder, Path(os.path.realpath(folder / objects.removesuffix("\n"))))

    @property
    def address(self) -> str:
        """The folder of the clone."""
        return str(self.folder)

    def bring_commit(self, store: ObjectStore, wanted: Wanted, told: Told) -> str | None:
        """Copy the commit with its folders; None if the clone does not have all of them."""
        commit = wanted.commit or commit_of(self.folder, f"refs/tags/{wanted.tag}")
        if commit is None or store.commit_of(commit, [self.objects]) is None:
            return None
        self._copy(store, [commit, *store.folders(commit, [self.objects])], told)
        _note_without_parents(store, commit)
        return commit

    def bring_contents(self, store: ObjectStore, wanted: Wanted, contents: Sequence[str], told: Told) -> None:
        """Copy the file contents that the clone has."""
        absent = set(store.missing(contents, [self.objects]))
        if here := [content for content in contents if content not in absent]:
            self._copy(store, here, told)

    def _copy(self, store: ObjectStore, ids: Sequence[str], told: Told) -> None:
        given = "".join(f"{each}\n" for each in ids).encode()
        with tempfile.TemporaryFile(dir=store.folder / "objects" / "pack", prefix="tmp_") as pack:
            store.repository.run(
                *("--git-dir", ".", "pack-objects", "--stdout", "--progress", "--window=0"),
                given=given,
                into=pack,
                objects=[self.objects],
                told=told,
            )
            pack.seek(0)
            store.repository.run("--git-dir", ".", "index-pack", "--stdin", "--promisor", read_from=pack)


def _note_without_parents(store: ObjectStore, commit: str) -> None:
    """Record the commit in the `shallow` file of the store: its parents are not stored."""
    file = store.folder / "shallow"
    known = file.read_text().split() if file.is_file() else []
    unfinished = store.folder / "shallow.tmp"
    unfinished.write_text("".join(f"{each}\n" for each in sorted({*known, commit})))
    unfinished.replace(file)

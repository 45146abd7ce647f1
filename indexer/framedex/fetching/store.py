"""The object store of a component: a bare repository with the objects of a few commits, without history.

It has no configured remote: only `git fetch` gets one (`remotes.py`). So a missing object stays missing, without a lazy
fetch.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from framedex.fetching.running import GitFailedError, Repository
from framedex.git import Git

_PATIENCE = 120.0  # seconds to list files; XLA's take 0.02
_BARE = ("--git-dir", ".")  # no search for a repository, and no check of the folder's owner
_CONFIGURATION = {
    "fetch.fsckObjects": "true",
    **dict.fromkeys(("maintenance.auto", "fetch.writeCommitGraph", "submodule.recurse"), "false"),
    **{"gc.auto": "0", "protocol.version": "2", "fetch.unpackLimit": "1"},
}


@dataclass(frozen=True, slots=True)
class TreeFile:
    """A file of a commit: its path, the id of its content, and whether it is a plain file (no link, no submodule)."""

    path: str
    content: str
    is_plain: bool


class ObjectStore:
    """The bare repository in a folder. Only the holder of the component's lock may use it."""

    def __init__(self, folder: Path, held: Sequence[int] = ()) -> None:
        """`held` are descriptors that each command keeps open (the lock), so that processes left by a kill hold it."""
        self.folder = folder
        self.repository = Repository(folder, _CONFIGURATION, held)

    def prepare(self) -> None:
        """Create the repository if missing, and delete the leftovers of killed commands."""
        self.folder.mkdir(parents=True, exist_ok=True)
        packs = self.folder / "objects" / "pack"
        for left in (*self.folder.glob("*.lock"), *(self.folder / "refs").rglob("*.lock"), *packs.glob("*tmp*")):
            left.unlink(missing_ok=True)
        self.run("init", "--quiet", "--bare", "--template=", "--object-format=sha1")

    def run(self, *arguments: str, given: bytes = b"") -> None:
        """Run a command that uses no network. Raises GitFailedError."""
        self.repository.run(*_BARE, *arguments, given=given)

    def commit_of(self, reference: str, objects: Sequence[Path] = ()) -> str | None:
        """Return the commit of a reference or an id; None if the store does not have it."""
        found = self._ask("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}", objects=objects)
        return found.decode().strip() if found else None

    def keep(self, commit: str) -> None:
        """Record that the store has a commit with all its folders."""
        self.run("update-ref", reference_of(commit), commit)

    def has(self, commit: str) -> bool:
        """Whether the store has a commit with all its folders."""
        return self.commit_of(reference_of(commit)) == commit

    def forget(self, reference: str) -> None:
        """Delete a reference."""
        with suppress(GitFailedError):
            self.run("update-ref", "-d", reference)

    def files(self, commit: str, objects: Sequence[Path] = ()) -> list[TreeFile]:
        """Return all files of a commit. Raises GitFailedError if its folders cannot be read."""
        listed = self._ask("ls-tree", "-r", "-z", "--full-tree", commit, objects=objects, must=True)
        files = []
        for entry in filter(None, (listed or b"").split(b"\0")):
            about, _, path = entry.partition(b"\t")
            mode, _, content = about.split(b" ")[:3]
            files.append(TreeFile(path.decode(errors="surrogateescape"), content.decode(), mode[:3] == b"100"))
        return files

    def folders(self, commit: str, objects: Sequence[Path]) -> list[str]:
        """Return the ids of a commit's folders, the top one first. Raises GitFailedError if they cannot be read."""
        listed = self._ask("ls-tree", "-r", "-d", "-z", "--full-tree", commit, objects=objects, must=True) or b""
        top = self._ask("rev-parse", f"{commit}^{{tree}}", objects=objects, must=True) or b""
        inner = (entry.split(b"\t")[0].split(b" ") for entry in listed.split(b"\0") if entry)
        return [top.decode().strip(), *dict.fromkeys(about[2].decode() for about in inner if about[1] == b"tree")]

    def missing(self, contents: Iterable[str], objects: Sequence[Path] = ()) -> list[str]:
        """Return the ids that the store does not have. Raises GitFailedError if git cannot check them."""
        asked = "".join(f"{content}\n" for content in contents).encode()
        told = self._ask("cat-file", "--batch-check=%(objectname)", given=asked, objects=objects, must=True) or b""
        return [line.split()[0] for line in told.decode().splitlines() if line.endswith(" missing")]

    def _ask(
        self, *arguments: str, given: bytes = b"", objects: Sequence[Path] = (), must: bool = False
    ) -> bytes | None:
        git = Git(self.folder, _PATIENCE, objects)
        found = git.content(*_BARE, *arguments, given=given)
        if found is None and must:
            raise GitFailedError(git.error or f"git {arguments[0]} failed")
        return found


def reference_of(commit: str) -> str:
    """Return the reference that marks a commit as complete with all its folders."""
    return f"refs/framedex/{commit}"

"""The objects of a component's repository: those of a few commits, without their history, in a bare repository.

It is never asked for what it lacks: the remote that fills it is named to `git fetch` alone (`remotes.py`), so that a
missing object is missing, and costs no process that would look for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from framedex.fetching.running import GitFailedError, Repository
from framedex.git import Git

_PATIENCE = 120.0  # seconds for a list of files; XLA's takes 0.02
_BARE = ("--git-dir", ".")  # nothing is looked for, and whoever owns the folder
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
    """The bare repository in a folder. Only who holds the component's lock may use one."""

    def __init__(self, folder: Path, held: Sequence[int] = ()) -> None:
        """`held` are descriptors that each command keeps open, the lock's: what outlives a kill still holds it."""
        self.folder = folder
        self.repository = Repository(folder, _CONFIGURATION, held)

    def prepare(self) -> None:
        """Make the repository where there is none, and take away what a killed command has left."""
        self.folder.mkdir(parents=True, exist_ok=True)
        packs = self.folder / "objects" / "pack"
        for left in (*self.folder.glob("*.lock"), *(self.folder / "refs").rglob("*.lock"), *packs.glob("*tmp*")):
            left.unlink(missing_ok=True)
        self.run("init", "--quiet", "--bare", "--template=", "--object-format=sha1")

    def run(self, *arguments: str, given: bytes = b"") -> None:
        """Run a command that talks to nobody. Raises GitFailedError."""
        self.repository.run(*_BARE, *arguments, given=given)

    def commit_of(self, reference: str, objects: Sequence[Path] = ()) -> str | None:
        """The commit that a reference or an id stands for; None where it is not here."""
        found = self._ask("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}", objects=objects)
        return found.decode().strip() if found else None

    def keep(self, commit: str) -> None:
        """Note that a commit is here with all its folders."""
        self.run("update-ref", reference_of(commit), commit)

    def has(self, commit: str) -> bool:
        """Whether a commit is here with all its folders."""
        return self.commit_of(reference_of(commit)) == commit

    def forget(self, reference: str) -> None:
        """Take away a reference."""
        with suppress(GitFailedError):
            self.run("update-ref", "-d", reference)

    def files(self, commit: str, objects: Sequence[Path] = ()) -> list[TreeFile]:
        """All files of a commit. Raises GitFailedError where its folders cannot be read."""
        listed = self._ask("ls-tree", "-r", "-z", "--full-tree", commit, objects=objects, must=True)
        files = []
        for entry in filter(None, (listed or b"").split(b"\0")):
            about, _, path = entry.partition(b"\t")
            mode, _, content = about.split(b" ")[:3]
            files.append(TreeFile(path.decode(errors="surrogateescape"), content.decode(), mode[:3] == b"100"))
        return files

    def folders(self, commit: str, objects: Sequence[Path]) -> list[str]:
        """The ids of a commit's folders, the uppermost first. Raises GitFailedError where they cannot be read."""
        listed = self._ask("ls-tree", "-r", "-d", "-z", "--full-tree", commit, objects=objects, must=True) or b""
        top = self._ask("rev-parse", f"{commit}^{{tree}}", objects=objects, must=True) or b""
        inner = (entry.split(b"\t")[0].split(b" ") for entry in listed.split(b"\0") if entry)
        return [top.decode().strip(), *dict.fromkeys(about[2].decode() for about in inner if about[1] == b"tree")]

    def missing(self, contents: Iterable[str], objects: Sequence[Path] = ()) -> list[str]:
        """Those of these ids that are not here. Raises GitFailedError where that cannot be told."""
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
    """The reference that keeps a commit, which is here with all its folders."""
    return f"refs/framedex/{commit}"

"""A small repository like XLA's: sources, other files, a link, and attributes that could change checked-out bytes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from framedex.base.progress import SilentProgress
from framedex.sources.fetching.cache import SourceCache
from framedex.sources.fetching.fetch import ObjectSource, fetch_sources
from framedex.sources.fetching.store import ObjectStore, ReportProgress
from framedex.sources.fetching.suppliers import Remote
from framedex.sources.fetching.wanted import WantedCommit
from tests.gitrepository import commit_all, git

SOURCES = {
    "xla/pjrt/pjrt_client.h": "class PjRtClient {};\n",
    "xla/client.cc": "int client() { return 1; }\r\n",
    "xla/tools/run.py": "def run():\n    return 'Grüße'\n",
    "xla/xla.proto": "message Options {}\n",
    "LICENSE": "The licence.\n",
}
OTHERS = {"README.md": "# XLA\n", "xla/BUILD": "cc_library()\n", "xla/tests/big.hlo": "HloModule x\n" * 1000}
ATTRIBUTES = "* text eol=crlf filter=stranger ident working-tree-encoding=UTF-16\n"


def make_repository(folder: Path) -> str:
    """Create the bare repository `folder` with one commit, on the branch `main` and the tag `jax-v1.2`."""
    work = folder.with_name(f"{folder.name}-work")
    for name, content in (SOURCES | OTHERS).items():
        file = work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode())
    (work / "xla" / "linked.py").symlink_to("/etc/hostname")
    git(work.parent, "init", "-q", "--initial-branch=main", work.name)
    commit_all(work)
    (work / ".gitattributes").write_text(ATTRIBUTES)
    (work / ".git" / "info" / "attributes").write_text("* -text -ident !eol !filter !working-tree-encoding\n")
    commit = commit_all(work)
    git(work, "tag", "-a", "-m", "a release", "jax-v1.2")
    git(work.parent, "clone", "-q", "--bare", work.name, folder.name)
    git(folder, "config", "uploadpack.allowFilter", "true")
    return commit


def add_commit(folder: Path, name: str, content: str) -> str:
    """Add a commit with one more file to such a repository."""
    work = folder.with_name(f"{folder.name}-work")
    (work / name).write_text(content)
    commit = commit_all(work)
    git(work, "push", "-q", str(folder), "main")
    return commit


def xla(commit: str, tag: str = "") -> WantedCommit:
    """The requested commit."""
    return WantedCommit("xla", commit, tag, "a test wants it")


def fetch(cache: SourceCache, wanted: WantedCommit, *suppliers: ObjectSource) -> Path:
    """Fetch without progress reports."""

    def waiting() -> None:
        raise AssertionError("nobody else fetches")

    return fetch_sources(cache, wanted, suppliers, SilentProgress(), waiting)


def written(checkout: Path) -> dict[str, bytes]:
    """The files of a checkout, without git's own."""
    files = (file for file in checkout.rglob("*") if file.is_file() and ".git" not in file.relative_to(checkout).parts)
    return {str(file.relative_to(checkout)): file.read_bytes() for file in files}


def contents() -> dict[str, bytes]:
    """The files of a checkout with their content."""
    return {name: text.encode() for name, text in (SOURCES | {".gitattributes": ATTRIBUTES}).items()}


def head(repository: Path) -> str:
    """The commit of the branch `main`."""
    return git(repository, "rev-parse", "main")


class RecordingRemote:
    """A remote, and the contents requested from it."""

    def __init__(self, remote: Remote, requested: list[list[str]]) -> None:
        self.address, self.fetch_commit = remote.address, remote.fetch_commit
        self._remote, self._requested = remote, requested

    def fetch_contents(
        self, store: ObjectStore, wanted: WantedCommit, contents: Sequence[str], report_progress: ReportProgress
    ) -> None:
        self._requested.append(list(contents))
        self._remote.fetch_contents(store, wanted, contents, report_progress)

"""The object store of a component: a bare repository with the objects of a few commits, without history.

It has no configured remote: only `git fetch` gets one (`suppliers.py`). So a missing object stays missing,
without a lazy fetch.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from framedex.sources.fetching.wanted import WantedCommit
from framedex.sources.files import find_language
from framedex.sources.git import Git, start_git
from framedex.sources.releases.builds import PIN_FILES

_LISTING_TIMEOUT_S = 120.0  # seconds to list files; XLA's files take 0.02
_BARE = ("--git-dir", ".")  # git neither searches for a repository nor checks the folder's owner
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
        """Each command keeps the descriptors `held` (the lock) open: its processes hold the lock even after a kill."""
        self.folder = folder
        self.repository = Repository(folder, _CONFIGURATION, held)

    def prepare(self) -> None:
        """Create the repository if missing, and delete the leftovers of killed commands."""
        self.folder.mkdir(parents=True, exist_ok=True)
        packs = self.folder / "objects" / "pack"
        for left in (*self.folder.glob("*.lock"), *(self.folder / "refs").rglob("*.lock"), *packs.glob("*tmp*")):
            left.unlink(missing_ok=True)
        self.run("init", "--quiet", "--bare", "--template=", "--object-format=sha1")

    def run(self, *arguments: str, input_bytes: bytes = b"") -> None:
        """Run a command that uses no network. Raises GitFailedError."""
        self.repository.run(*_BARE, *arguments, input_bytes=input_bytes)

    def commit_of(self, reference: str, objects: Sequence[Path] = ()) -> str | None:
        """Return the commit of a reference or an id; None if the store does not have it."""
        found = self._query("rev-parse", "--verify", "--quiet", f"{reference}^{{commit}}", objects=objects)
        return found.decode().strip() if found else None

    def mark_complete(self, commit: str) -> None:
        """Record that the store has a commit with all its folders."""
        self.run("update-ref", build_reference(commit), commit)

    def is_complete(self, commit: str) -> bool:
        """Whether the store has a commit with all its folders."""
        return self.commit_of(build_reference(commit)) == commit

    def delete_reference(self, reference: str) -> None:
        """Delete a reference."""
        with suppress(GitFailedError):
            self.run("update-ref", "-d", reference)

    def files(self, commit: str, objects: Sequence[Path] = ()) -> list[TreeFile]:
        """Return all files of a commit. Raises GitFailedError if its folders cannot be read."""
        listed = self._query("ls-tree", "-r", "-z", "--full-tree", commit, objects=objects, must=True)
        files = []
        for entry in filter(None, (listed or b"").split(b"\0")):
            about, _, path = entry.partition(b"\t")
            mode, _, content = about.split(b" ")[:3]
            files.append(TreeFile(path.decode(errors="surrogateescape"), content.decode(), mode[:3] == b"100"))
        return files

    def read_text(self, commit: str, path: str) -> str | None:
        """Return the text of a file of a commit; None if the store does not have it."""
        found = self._query("cat-file", "blob", f"{commit}:{path}")
        return None if found is None else found.decode(errors="replace")

    def folders(self, commit: str, objects: Sequence[Path]) -> list[str]:
        """Return the ids of a commit's folders, the top one first. Raises GitFailedError if they cannot be read."""
        listed = self._query("ls-tree", "-r", "-d", "-z", "--full-tree", commit, objects=objects, must=True) or b""
        top = self._query("rev-parse", f"{commit}^{{tree}}", objects=objects, must=True) or b""
        inner = (entry.split(b"\t")[0].split(b" ") for entry in listed.split(b"\0") if entry)
        return [top.decode().strip(), *dict.fromkeys(about[2].decode() for about in inner if about[1] == b"tree")]

    def find_missing(self, contents: Iterable[str], objects: Sequence[Path] = ()) -> list[str]:
        """Return the ids that the store does not have. Raises GitFailedError if git cannot check them."""
        names = "".join(f"{content}\n" for content in contents).encode()
        answer = (
            self._query("cat-file", "--batch-check=%(objectname)", input_bytes=names, objects=objects, must=True) or b""
        )
        return [line.split()[0] for line in answer.decode().splitlines() if line.endswith(" missing")]

    def _query(
        self, *arguments: str, input_bytes: bytes = b"", objects: Sequence[Path] = (), must: bool = False
    ) -> bytes | None:
        git = Git(self.folder, _LISTING_TIMEOUT_S, objects)
        found = git.output(*_BARE, *arguments, input_bytes=input_bytes)
        if found is None and must:
            raise GitFailedError(git.error or f"git {arguments[0]} failed")
        return found


def build_reference(commit: str) -> str:
    """Return the reference that marks a commit as complete with all its folders."""
    return f"refs/framedex/{commit}"


SILENCE_TIMEOUT_S = 90.0
"""Timeout for silence of a network command, in seconds. git reports progress every second."""

_PROGRESS = re.compile(r"(?:Receiving|Unpacking|Writing) objects:\s+\d+% \((\d+)/(\d+)\)")
_IGNORED_OUTPUT = re.compile(r".*: +\d+% \(|remote: (?:Enumerating|Counting|Compressing|Total)|warning: |hint: ")
_LINES = 6  # the last lines of output to keep

NOT_SERVED = re.compile(r"not our ref|unadvertised object|(?:find|such) remote ref|does not support shallow")
"""git's messages for objects that a server does not have or does not serve."""

ReportProgress = Callable[[int, int], None]
"""A progress callback: number of received objects, and total."""


class GitFailedError(Exception):
    """A failed git command; the text is its output on one line."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository created by framedex, the working folder of commands. They keep `open_descriptors` open."""

    folder: Path
    configuration: Mapping[str, str]
    open_descriptors: Sequence[int] = ()

    def run(
        self,
        *arguments: str,
        input_bytes: bytes = b"",
        read_from: IO[bytes] | None = None,
        into: IO[bytes] | None = None,
        configuration: Mapping[str, str] | None = None,
        protocols: str = "",
        objects: Sequence[Path] = (),
        timeout_s: float | None = None,
        report_progress: ReportProgress = lambda _done, _total: None,
    ) -> None:
        """Run a command with `input_bytes` or a file as input, and optionally a file as output.

        Raises GitFailedError, also after `timeout_s` seconds of silence. Any exception, such as an interruption,
        terminates the command.
        """
        with _open_input(input_bytes) as text:
            try:
                command = start_git(
                    self.folder,
                    *arguments,
                    stdin=read_from or text,
                    stdout=into or subprocess.DEVNULL,
                    overrides={**self.configuration, **(configuration or {})},
                    protocols=protocols,
                    objects=objects,
                    held=self.open_descriptors,
                )
            except OSError as error:
                raise GitFailedError(str(error)) from error
        try:
            messages = _read_output(command, timeout_s, report_progress)
        except BaseException:
            _terminate(command)
            raise
        finally:
            assert command.stderr is not None
            command.stderr.close()
        if command.wait() != 0:
            raise GitFailedError(messages or f"git {arguments[0]} ended with status {command.returncode}")


def _open_input(input_bytes: bytes) -> IO[bytes]:
    """Return a file in memory as the input of a command. A pipe would have to be filled while reading the output."""
    file = os.fdopen(os.memfd_create("given"), "w+b")
    file.write(input_bytes)
    file.seek(0)
    return file


def _read_output(command: subprocess.Popen[bytes], timeout_s: float | None, report_progress: ReportProgress) -> str:  # noqa: TID251
    """Read a command's output until it ends, and return all but the progress, on one line."""
    assert command.stderr is not None
    source = command.stderr.fileno()
    messages: deque[str] = deque(maxlen=_LINES)
    rest = b""
    with selectors.DefaultSelector() as ready:  # `select` does not support descriptors above 1,023
        ready.register(source, selectors.EVENT_READ)
        while True:
            if not ready.select(timeout_s):
                raise GitFailedError(f"nothing came for {timeout_s:.0f} s")
            piece = os.read(source, 1 << 16)
            *lines, rest = re.split(rb"[\r\n]", rest + piece)
            for line in [*lines, rest] if not piece else lines:
                text = line.decode(errors="replace").strip()
                if match := _PROGRESS.search(text):
                    report_progress(int(match[1]), int(match[2]))
                elif text and not _IGNORED_OUTPUT.match(text):
                    messages.append(text)
            if not piece:
                return " ".join(dict.fromkeys(messages))


def _terminate(command: subprocess.Popen[bytes]) -> None:  # noqa: TID251
    """Terminate a command and its whole process group."""
    for number, seconds in ((signal.SIGTERM, 5.0), (signal.SIGKILL, None)):
        try:
            os.killpg(command.pid, number)
            command.wait(seconds)
        except ProcessLookupError:
            command.wait()
        except subprocess.TimeoutExpired:
            continue
        return


_CHUNK = 400  # files; takes a tenth of a second
# Attributes of the commit could change files during checkout, even through programs that the user has configured.
_ATTRIBUTES = "* -text -ident !eol !crlf !filter !working-tree-encoding\n"
_WRITE_CONFIGURATION = """\
[core]
\trepositoryformatversion = 1
\tfilemode = true
\tbare = false
\tsymlinks = false
\tautocrlf = false
[extensions]
\tpartialClone = origin
[remote "origin"]
\turl = {address}
\tpromisor = true
\tpartialclonefilter = blob:none
[gc]
\tauto = 0
"""


def select_files_to_write(files: Sequence[TreeFile]) -> list[TreeFile]:
    """Return the files of a commit that framedex reads, the licence, and all `.gitattributes`, which git reads."""
    return [file for file in files if file.is_plain and _is_written(file.path)]


def write_checkout(
    folder: Path,
    store: Path,
    wanted: WantedCommit,
    tag: str,
    files: Sequence[TreeFile],
    held: Sequence[int],
    advance: Callable[[int], object],
) -> None:
    """Write the files of a known commit into a new folder beside the store.

    `files` are all files of the commit; `tag` is the tag that it was found by, or empty. Raises GitFailedError.
    """
    unfinished = folder.with_name("unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    git = Repository(unfinished, {"core.autocrlf": "false", "core.symlinks": "false", "gc.auto": "0"}, held)
    git.run("init", "--quiet", "--template=", "--object-format=sha1")
    inside = unfinished / ".git"
    (inside / "info").mkdir(exist_ok=True)
    (inside / "info" / "attributes").write_text(_ATTRIBUTES)
    (inside / "objects" / "info").mkdir(parents=True, exist_ok=True)
    # Relative to `objects`, so that the cache can be moved as a whole.
    (inside / "objects" / "info" / "alternates").write_text(f"../../../{store.name}/objects\n")
    (inside / "shallow").write_text(f"{wanted.commit}\n")
    (inside / "config").write_text(_WRITE_CONFIGURATION.format(address=wanted.repository))
    (inside / "HEAD").write_text(f"{wanted.commit}\n")
    if tag:
        (inside / "refs" / "tags" / tag).write_text(f"{wanted.commit}\n")
    git.run("read-tree", wanted.commit)
    written = select_files_to_write(files)
    kept = {file.path for file in written}
    left_out = [file.path for file in files if file.path not in kept]
    git.run("update-index", "-z", "--skip-worktree", "--stdin", input_bytes=_join_paths(left_out))
    for first in range(0, len(written), _CHUNK):
        chunk = [file.path for file in written[first : first + _CHUNK]]
        git.run("checkout-index", "--index", "--quiet", "-z", "--stdin", input_bytes=_join_paths(chunk))
        advance(len(chunk))
    os.rename(unfinished, folder)  # noqa: PTH104 - Path.replace would replace an empty folder


def _is_written(path: str) -> bool:
    name = path.rpartition("/")[2]
    is_source = find_language(path) is not None or path in PIN_FILES
    return is_source or name == ".gitattributes" or path.startswith("LICENSE")


def _join_paths(paths: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)

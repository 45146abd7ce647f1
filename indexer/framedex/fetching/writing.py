"""Write the files of a commit as a checkout that shares the objects of a store, byte for byte.

Only files that framedex reads, and those that a checkout needs, are written. The others are left out as in a sparse
checkout. No link is written, and no filter runs. The folder appears complete or not at all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from framedex.fetching.running import Repository
from framedex.fetching.store import TreeFile
from framedex.fetching.wanted import Wanted
from framedex.sources.files import language_of

_CHUNK = 400  # files; takes a tenth of a second
# Attributes of the commit could change files during checkout, even through programs that the user has configured.
_ATTRIBUTES = "* -text -ident !eol !crlf !filter !working-tree-encoding\n"
_CONFIGURATION = """\
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


def files_to_write(files: Sequence[TreeFile]) -> list[TreeFile]:
    """Return the files of a commit that framedex reads, the licence, and all `.gitattributes`, which git reads."""
    return [file for file in files if file.is_plain and _is_written(file.path)]


def write_checkout(
    folder: Path,
    store: Path,
    wanted: Wanted,
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
    (inside / "config").write_text(_CONFIGURATION.format(address=wanted.repository))
    (inside / "HEAD").write_text(f"{wanted.commit}\n")
    if tag:
        (inside / "refs" / "tags" / tag).write_text(f"{wanted.commit}\n")
    git.run("read-tree", wanted.commit)
    written = files_to_write(files)
    kept = {file.path for file in written}
    left_out = [file.path for file in files if file.path not in kept]
    git.run("update-index", "-z", "--skip-worktree", "--stdin", given=_listed(left_out))
    for first in range(0, len(written), _CHUNK):
        chunk = [file.path for file in written[first : first + _CHUNK]]
        git.run("checkout-index", "--index", "--quiet", "-z", "--stdin", given=_listed(chunk))
        advance(len(chunk))
    os.rename(unfinished, folder)  # noqa: PTH104 - Path.replace would replace an empty folder


def _is_written(path: str) -> bool:
    name = path.rpartition("/")[2]
    return language_of(path) is not None or name == ".gitattributes" or path.startswith("LICENSE")


def _listed(paths: Sequence[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)

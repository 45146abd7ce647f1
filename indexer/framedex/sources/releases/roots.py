"""Compare source folders with the recording: each folder's component, and whether it is at the recorded commit."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.sources.git import Git
from framedex.sources.releases.repository import REPOSITORIES

if TYPE_CHECKING:
    from framedex.model import SourceRoot
    from framedex.sources.releases.builds import Build

# The file that identifies a folder, or its working tree, as a component's sources.
_MARKS = {"xla": "xla/pjrt/pjrt_client.h", "jax": "jax/_src/api.py", "cpython": "Python/ceval.c"}
COMPONENTS: Mapping[str, str] = {"xla": "XLA", "jax": "JAX", "cpython": "CPython"}
"""The readable names of components that can have a source folder."""

_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class RootState:
    """The state of a source folder. `component` is the component of its sources, `build` the recorded build.

    `is_there`: the folder exists and is readable. `matches`: it is at the commit of `build`; None if unknown. `advice`
    is a sentence about a mismatch and its remedy.
    """

    path: Path
    files: int
    is_there: bool
    checkout: Checkout | None
    component: str | None
    build: Build | None
    matches: bool | None
    advice: str | None


def read_root_state(root: SourceRoot, builds: Sequence[Build]) -> RootState:
    """The current state of a source folder; `builds` are the recorded components, latest first."""
    path = Path(root.path)
    is_there = os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises without permission
    checkout = read_checkout(path) if is_there else None
    component = find_component(path, checkout)
    build = next((build for build in builds if build.component == component), None)
    matches = None
    if build is not None and build.revision and checkout is not None and checkout.commit:
        matches = _is_at(checkout, build.revision)
    advice = None
    if build is not None and is_there and matches is not True and not _is_recorded_itself(path, build):
        advice = _build_advice(path, checkout, build)
    return RootState(path, root.files, is_there, checkout, component, build, matches, advice)


def find_builds_without_root(states: Sequence[RootState], builds: Sequence[Build]) -> list[Build]:
    """The latest build of each recorded component without a source folder, except Python."""
    known = {state.component for state in states}
    latest = {build.component: build for build in reversed(builds)}
    return [build for component, build in latest.items() if component in ("xla", "jax") and component not in known]


def build_text(build: Build) -> str:
    """The commit of a build as text: `jaxlib 0.10.2 was built from XLA 5a9e73cbd929`."""
    package = "jaxlib" if build.component == "xla" else build.component
    built = f"{package} {build.version} was built from"
    if not build.revision:
        return (
            f"{built} a commit of {COMPONENTS.get(build.component, build.component)} that this framedex does not know"
        )
    return f"{built} {COMPONENTS.get(build.component, build.component)} {shorten_revision(build.revision)}"


def clone_command(build: Build) -> str:
    """The shell command that clones a component's sources at its commit."""
    repository = REPOSITORIES[build.component]
    name = repository.rpartition("/")[2]
    at = f" && git -C {name} checkout {shlex.quote(build.revision)}" if build.revision else ""
    return f"git clone {repository}{at}"


def shorten_revision(revision: str) -> str:
    """The first digits of a commit; a tag unchanged."""
    return revision[:12] if is_commit(revision) else revision


def is_commit(revision: str) -> bool:
    """Whether a revision is a full commit id, not a tag or empty."""
    return _COMMIT.fullmatch(revision) is not None


def find_component(path: Path, checkout: Checkout | None = None) -> str | None:
    """The component of the sources in a folder, or in its working tree; None if unknown."""
    for folder in (path, checkout.top if checkout else path):
        for component, mark in _MARKS.items():
            if os.path.isfile(folder / mark):  # noqa: PTH113 - Path.is_file raises without permission
                return component
    for component, mark in _MARKS.items():
        package, _, inside = mark.partition("/")
        if path.name == package and os.path.isfile(path / inside):  # noqa: PTH113
            return component
    return None


def _is_recorded_itself(path: Path, build: Build) -> bool:
    """Whether the recorded package ran from inside this folder, so that the folder is the recorded checkout."""
    return Path(os.path.realpath(build.folder)).is_relative_to(os.path.realpath(path))


def _is_at(checkout: Checkout, revision: str) -> bool:
    wanted = revision if is_commit(revision) else find_commit(checkout.top, revision)
    return wanted == checkout.commit


def _build_advice(path: Path, checkout: Checkout | None, build: Build) -> str | None:
    if checkout is not None and checkout.problem and not checkout.commit:
        return None  # the git problem is already reported
    if not build.revision:
        return f"{build_text(build)}: lines may be off."
    if checkout is None or not checkout.commit:
        return f"{build_text(build)}; this folder is not a git checkout: lines may be off."
    at, wanted = shlex.quote(str(path)), shlex.quote(build.revision)
    return (
        f"{build_text(build)}; this checkout is at {shorten_revision(checkout.commit)}: lines may be off."
        f" `git -C {at} fetch origin {wanted} && git -C {at} checkout FETCH_HEAD`"
    )


_FILTERS = r"^filter\..*\.(clean|smudge|process|required)$"


@dataclass(frozen=True, slots=True)
class Checkout:
    """The git working tree of a folder, with root `top`. `commit` is HEAD's, empty before the first commit.

    `is_changed`: tracked files differ from the commit; None if unknown. `problem` is a sentence with the reason for
    missing data, and a remedy.
    """

    top: Path
    commit: str
    is_changed: bool | None
    problem: str | None = None


def read_checkout(folder: Path) -> Checkout | None:
    """The state of a folder's git working tree. Never raises.

    None without a working tree or without git. Also None for a folder without tracked files inside a working tree, such
    as an ignored `.venv`. The root of a working tree is never None.
    """
    git = Git(folder)
    top = git.text("rev-parse", "--show-toplevel")
    if top is None:
        if "dubious ownership" not in git.error:
            return None
        advice = f"git config --global --add safe.directory {shlex.quote(str(folder))}"
        return Checkout(folder, "", None, f"git does not read it, as it belongs to another user; allow it: `{advice}`.")
    if git.output("ls-files") == b"" and git.text("rev-parse", "--show-prefix") != "\n":
        return None
    top_folder = Path(top.removesuffix("\n"))
    commit = (git.text("rev-parse", "--verify", "--quiet", "HEAD^{commit}") or "").strip()
    filters = git.text("config", "-z", "--name-only", "--get-regexp", _FILTERS) or ""
    git.overrides = dict.fromkeys(filter(None, filters.split("\0")), "")
    one = next(iter(git.overrides), None)
    if one is not None and (git.text("config", "--get", one) or "").strip():
        return Checkout(top_folder, commit, None, "this git is too old (before 2.31) to look for changes safely.")
    status = git.text("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    problem = None if status is not None else f"git cannot tell whether files were changed: {git.error}."
    return Checkout(top_folder, commit, None if status is None else bool(status), problem)


def find_commit(folder: Path, revision: str) -> str | None:
    """The commit of a tag or commit id in a checkout; None if missing."""
    found = Git(folder).text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    return found.strip() if found else None

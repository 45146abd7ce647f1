"""Compare source folders with the recording: each folder's component, and whether it is at the recorded commit."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from framedex.releases.checkout import Checkout, commit_of, read_checkout
from framedex.releases.repository import REPOSITORIES

if TYPE_CHECKING:
    from framedex.model import SourceRoot
    from framedex.releases.builds import Build

# The file that identifies a folder, or its working tree, as a component's sources.
_MARKS = {"xla": "xla/pjrt/pjrt_client.h", "jax": "jax/_src/api.py", "cpython": "Python/ceval.c"}
COMPONENTS: Mapping[str, str] = {"xla": "XLA", "jax": "JAX", "cpython": "CPython"}
"""The readable names of components that can have a source folder."""

_COMMIT = re.compile(r"[0-9a-f]{40}")


@dataclass(frozen=True, slots=True)
class RootState:
    """The state of a source folder. `component` is the component of its sources, `build` the recorded build.

    `is_there`: the folder exists and is readable. `matches`: it is at the commit of `build`; None if unknown. `advice`
    is a sentence with the mismatch and its remedy.
    """

    path: Path
    files: int
    is_there: bool
    checkout: Checkout | None
    component: str | None
    build: Build | None
    matches: bool | None
    advice: str | None


def state_of_root(root: SourceRoot, builds: Sequence[Build]) -> RootState:
    """The current state of a source folder; `builds` are the recorded components, latest first."""
    path = Path(root.path)
    is_there = os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises without permission
    checkout = read_checkout(path) if is_there else None
    component = component_of(path, checkout)
    build = next((build for build in builds if build.component == component), None)
    matches = None
    if build is not None and build.revision and checkout is not None and checkout.commit:
        matches = _is_at(checkout, build.revision)
    advice = None
    if build is not None and is_there and matches is not True and not _is_recorded_itself(path, build):
        advice = _advice(path, checkout, build)
    return RootState(path, root.files, is_there, checkout, component, build, matches, advice)


def without_root(states: Sequence[RootState], builds: Sequence[Build]) -> list[Build]:
    """The latest build of each recorded component without a source folder, except Python."""
    known = {state.component for state in states}
    latest = {build.component: build for build in reversed(builds)}
    return [build for component, build in latest.items() if component in ("xla", "jax") and component not in known]


def build_text(build: Build) -> str:
    """The commit of a build as text: `jaxlib 0.10.2 was built from XLA 5a9e73cbd929`."""
    made = "jaxlib" if build.component == "xla" else build.component
    said = f"{made} {build.version} was built from"
    if not build.revision:
        return f"{said} a commit of {COMPONENTS.get(build.component, build.component)} that this framedex does not know"
    return f"{said} {COMPONENTS.get(build.component, build.component)} {short(build.revision)}"


def pin_url(build: Build, builds: Sequence[Build]) -> str | None:
    """The JAX file that pins the XLA commit, for a jaxlib that is missing from framedex's table; else None."""
    if build.component != "xla" or build.revision:
        return None
    jaxlib = next((each for each in builds if (each.component, each.folder) == ("jaxlib", build.folder)), None)
    if jaxlib is None or not jaxlib.revision:
        return None
    return f"{REPOSITORIES['jaxlib']}/blob/{quote(jaxlib.revision)}/third_party/xla/revision.bzl"


def clone_command(build: Build) -> str:
    """The shell command that clones a component's sources at its commit."""
    repository = REPOSITORIES[build.component]
    name = repository.rpartition("/")[2]
    at = f" && git -C {name} checkout {shlex.quote(build.revision)}" if build.revision else ""
    return f"git clone {repository}{at}"


def short(revision: str) -> str:
    """The first digits of a commit; a tag unchanged."""
    return revision[:12] if is_commit(revision) else revision


def is_commit(revision: str) -> bool:
    """Whether a revision is a full commit id, not a tag or empty."""
    return _COMMIT.fullmatch(revision) is not None


def component_of(path: Path, checkout: Checkout | None = None) -> str | None:
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
    """Whether the recorded package ran from this folder or below it: no checkout could match better."""
    return Path(os.path.realpath(build.folder)).is_relative_to(os.path.realpath(path))


def _is_at(checkout: Checkout, revision: str) -> bool:
    wanted = revision if is_commit(revision) else commit_of(checkout.top, revision)
    return wanted == checkout.commit


def _advice(path: Path, checkout: Checkout | None, build: Build) -> str | None:
    if checkout is not None and checkout.problem and not checkout.commit:
        return None  # already reported
    if not build.revision:
        return f"{build_text(build)}: whether the lines are right is not known."
    if checkout is None or not checkout.commit:
        return f"{build_text(build)}; this folder is no git checkout: whether its lines are right is not known."
    at, wanted = shlex.quote(str(path)), shlex.quote(build.revision)
    return (
        f"{build_text(build)}; this checkout is at {short(checkout.commit)}: lines may be off."
        f" `git -C {at} fetch origin {wanted} && git -C {at} checkout FETCH_HEAD`"
    )

"""The commits to fetch: component, commit, and reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from framedex.base.errors import FramedexError
from framedex.sources.releases.builds import Build, pinning_jax_revision
from framedex.sources.releases.repository import REPOSITORIES
from framedex.sources.releases.roots import COMPONENTS, RootState, build_text, is_commit, shorten_revision

DEFAULT_COMPONENTS = ("xla", "jax")
"""The components fetched by default. Python's own sources are seldom needed."""

NAMES: Mapping[str, str] = {**{name: name for name in COMPONENTS}, "jaxlib": "jax"}
"""The accepted names, and the component whose repository has each."""

# MB to fetch, and on disk, at jaxlib 0.10.2 (benchmark source-fetch). jaxlib 0.8 takes a tenth less.
_SIZES = {"xla": (17, 110), "jax": (7, 37)}


@dataclass(frozen=True, slots=True)
class WantedCommit:
    """A commit of a component's repository. `commit` is empty if only the tag is known. `reason` is a sentence.

    `pinned_by` is the JAX commit or tag that pins the commit, if only JAX's sources have it and they are not fetched
    yet.
    """

    component: str
    commit: str
    tag: str
    reason: str
    pinned_by: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The component and the commit, or the tag or the JAX revision that leads to the commit."""
        return self.component, self.commit or self.tag or self.pinned_by

    @property
    def title(self) -> str:
        """Component and commit: `XLA 5a9e73cbd929`."""
        if self.pinned_by:
            return f"XLA at the commit that JAX {shorten_revision(self.pinned_by)} names"
        return f"{COMPONENTS[self.component]} {shorten_revision(self.commit) or self.tag}"

    @property
    def repository(self) -> str:
        """The public address of the repository."""
        return REPOSITORIES[self.component]

    def size(self, *, is_first: bool) -> str:
        """Return the approximate download and disk size as text; smaller unless it `is_first` of its component."""
        if self.component not in _SIZES:
            return "how much that is, is not known"
        fetched, written = _SIZES[self.component]
        if is_first:
            return f"about {fetched} MB to fetch, {written} MB on the disk"
        return f"less than {fetched} MB to fetch, as some of it is here; about {written - fetched} MB on the disk"


def find_wanted_sources(
    names: Sequence[str], builds: Sequence[Build], states: Iterable[RootState]
) -> tuple[list[WantedCommit], list[FramedexError]]:
    """Return the recorded commits of the named components that no source folder has.

    `names` default to `DEFAULT_COMPONENTS`. The second list has an error for each component with an unknown commit. A
    name may include a commit: `xla@5a9e73...`. Raises FramedexError for a name that cannot be fetched.
    """
    there = {state.component for state in states if state.matches}
    wanted: dict[tuple[str, str], WantedCommit] = {}
    unknown = []
    for name in names or DEFAULT_COMPONENTS:
        component, _, commit = name.partition("@")
        if component not in NAMES or (commit and not is_commit(commit)):
            raise FramedexError(
                f"{name} cannot be fetched.",
                f"Known names: {', '.join(NAMES)}; with a commit of 40 hexadecimal digits: xla@COMMIT.",
            )
        build = next((build for build in builds if build.component == component), None)
        if commit:
            one = parse_named_commit(NAMES[component], commit)
        elif build is None:
            if names:
                raise FramedexError(
                    f"No {name} code was recorded.", f"Name its commit: `framedex sources fetch {name}@COMMIT`."
                )
            continue
        elif NAMES[component] in there and not names:
            continue
        elif not build.revision:
            jax = pinning_jax_revision(build, builds)
            if not jax:
                unknown.append(_unknown_commit_error(build))
                continue
            source = build_wanted_jax(jax)
            wanted.setdefault(source.key, source)
            one = WantedCommit(
                "xla", "", "", f"{build_text(build)}; JAX {shorten_revision(jax)} names it", pinned_by=jax
            )
        else:
            one = _find_wanted_of_build(build)
        wanted.setdefault(one.key, one)
    return list(wanted.values()), unknown


def parse_named_commit(component: str, commit: str) -> WantedCommit:
    """Return the sources of a component at a commit that the user names."""
    return WantedCommit(component, commit, "", f"{COMPONENTS[component]} {shorten_revision(commit)}, as you name it")


def build_wanted_jax(revision: str) -> WantedCommit:
    """Return the JAX sources at a commit or tag."""
    commit, tag = (revision, "") if is_commit(revision) else ("", revision)
    return WantedCommit("jax", commit, tag, f"JAX {shorten_revision(revision)} names the XLA commit of jaxlib")


def _unknown_commit_error(build: Build) -> FramedexError:
    return FramedexError(
        f"{build_text(build)}.", f"Name the commit: `framedex sources fetch {build.component}@COMMIT`."
    )


def _find_wanted_of_build(build: Build) -> WantedCommit:
    component, why = NAMES[build.component], build_text(build)
    if not is_commit(build.revision):
        return WantedCommit(component, "", build.revision, why)
    is_release = component == "jax" and re.fullmatch(r"[\d.]+", build.version)
    return WantedCommit(component, build.revision, f"jax-v{build.version}" if is_release else "", why)

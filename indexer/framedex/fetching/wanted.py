"""The commits to fetch: component, commit, and reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from framedex.errors import FramedexError
from framedex.releases.builds import Build
from framedex.releases.repository import REPOSITORIES
from framedex.releases.roots import COMPONENTS, RootState, build_text, is_commit, pin_url, short

USUAL = ("xla", "jax")
"""The components fetched by default. Python's own sources are seldom needed."""

NAMES: Mapping[str, str] = {**{name: name for name in COMPONENTS}, "jaxlib": "jax"}
"""The accepted names, and the component whose repository has each."""

# MB to fetch, and on disk, at jaxlib 0.10.2 (benchmark source-fetch). jaxlib 0.8 takes a tenth less.
_SIZES = {"xla": (17, 110), "jax": (7, 37)}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A commit of a component's repository. `commit` is empty if only the tag is known. `why` is a sentence."""

    component: str
    commit: str
    tag: str
    why: str

    @property
    def title(self) -> str:
        """Component and commit: `XLA 5a9e73cbd929`."""
        return f"{COMPONENTS[self.component]} {short(self.commit) or self.tag}"

    @property
    def repository(self) -> str:
        """The public address of the repository."""
        return REPOSITORIES[self.component]

    def size(self, *, is_first: bool) -> str:
        """Return the approximate download and disk size, in words; less unless it `is_first` of its component."""
        if self.component not in _SIZES:
            return "how much that is, is not known"
        fetched, written = _SIZES[self.component]
        if is_first:
            return f"about {fetched} MB to fetch, {written} MB on the disk"
        return f"less than {fetched} MB to fetch, as some of it is here; about {written - fetched} MB on the disk"


def wanted_sources(
    names: Sequence[str], builds: Sequence[Build], states: Iterable[RootState]
) -> tuple[list[Wanted], list[FramedexError]]:
    """Return the recorded commits of the named components that no source folder has.

    `names` default to `USUAL`. The second list has an error for each component with an unknown commit. A name may
    include a commit: `xla@5a9e73...`. Raises FramedexError for a name that cannot be fetched.
    """
    there = {state.component for state in states if state.matches}
    wanted: dict[tuple[str, str], Wanted] = {}
    unknown = []
    for name in names or USUAL:
        component, _, commit = name.partition("@")
        if component not in NAMES or (commit and not is_commit(commit)):
            raise FramedexError(
                f"{name} cannot be fetched.",
                f"Known names: {', '.join(NAMES)}; with a commit of 40 hexadecimal digits: xla@COMMIT.",
            )
        build = next((build for build in builds if build.component == component), None)
        if commit:
            one = Wanted(
                NAMES[component], commit, "", f"{COMPONENTS[NAMES[component]]} {short(commit)}, as you name it"
            )
        elif build is None:
            if names:
                raise FramedexError(
                    f"No {name} code was recorded.", f"Name its commit: `framedex sources fetch {name}@COMMIT`."
                )
            continue
        elif NAMES[component] in there and not names:
            continue
        elif not build.revision:
            unknown.append(_unknown(build, builds))
            continue
        else:
            one = _of_build(build)
        wanted.setdefault((one.component, one.commit or one.tag), one)
    return list(wanted.values()), unknown


def _unknown(build: Build, builds: Sequence[Build]) -> FramedexError:
    url = pin_url(build, builds)
    where = f"JAX names it in {url}. " if url else ""
    return FramedexError(f"{build_text(build)}.", f"{where}Then: `framedex sources fetch {build.component}@COMMIT`.")


def _of_build(build: Build) -> Wanted:
    component, why = NAMES[build.component], build_text(build)
    if not is_commit(build.revision):
        return Wanted(component, "", build.revision, why)
    is_release = component == "jax" and re.fullmatch(r"[\d.]+", build.version)
    return Wanted(component, build.revision, f"jax-v{build.version}" if is_release else "", why)

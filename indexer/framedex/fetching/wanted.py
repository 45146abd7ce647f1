"""What is to be fetched: which commit of which component, and why."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from framedex.errors import FramedexError
from framedex.releases.builds import Build
from framedex.releases.repository import REPOSITORIES
from framedex.releases.roots import COMPONENTS, RootState, build_text, is_commit, pin_url, short

USUAL = ("xla", "jax")
"""The components that are fetched where none is named: Python's own sources are seldom what is looked for."""

NAMES: Mapping[str, str] = {**{name: name for name in COMPONENTS}, "jaxlib": "jax"}
"""What can be named, and the component whose repository has it."""

# MB to fetch, and on the disk, at jaxlib 0.10.2 (benchmark source-fetch). For jaxlib 0.8 it is a tenth less.
_SIZES = {"xla": (17, 110), "jax": (7, 37)}


@dataclass(frozen=True, slots=True)
class Wanted:
    """A commit of a component's repository. Where only its tag is known, `commit` is empty. `why` is a sentence."""

    component: str
    commit: str
    tag: str
    why: str

    @property
    def title(self) -> str:
        """`XLA 5a9e73cbd929`."""
        return f"{COMPONENTS[self.component]} {short(self.commit) or self.tag}"

    @property
    def repository(self) -> str:
        """The public address."""
        return REPOSITORIES[self.component]

    def size(self, *, is_first: bool) -> str:
        """About how much is fetched and written, in words; less where it is not the first commit of its component."""
        if self.component not in _SIZES:
            return "how much that is, is not known"
        fetched, written = _SIZES[self.component]
        if is_first:
            return f"about {fetched} MB to fetch, {written} MB on the disk"
        return f"less than {fetched} MB to fetch, as some of it is here; about {written - fetched} MB on the disk"


def wanted_sources(
    names: Sequence[str], builds: Sequence[Build], states: Iterable[RootState]
) -> tuple[list[Wanted], list[FramedexError]]:
    """What of these components, the usual ones without any, no source folder has at the commit that was recorded.

    And an error for each of which the commit is not known. A name may have a commit of its own: `xla@5a9e73...`. Raises
    FramedexError for a name that cannot be fetched.
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

"""XLA's and JAX's functions in the release maps that framedex ships, for texts that name them.

A function is theirs by the namespace that its name begins with: anybody else's `Foo::Run` is never looked for. It is
looked for in the release that its frame is of: the one that the text states, else the one that is installed where the
program ran, else the one that was recorded. Where nothing says it, and in a binary that is not jaxlib's, the newest or
the one beside it stands for it; what is found so has a path that says it (`+nearest`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from framedex.model import How, Location
from framedex.model.places import prefix_in
from framedex.patterns import compiled_on_use
from framedex.releases.builds import release_commits
from framedex.releases.origins import XLA_NAMESPACES
from framedex.releases.repository import compiled_from, public_url, url_template
from framedex.releases.stated import FileReleases, StatedReleases

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import SourceMapInfo
    from framedex.releasemaps import ReleaseMaps
    from framedex.releasemaps.combined import CombinedMaps
    from framedex.sourcemap import SourceMapError
    from framedex.sources.bodies import Bodies
    from framedex.sources.matching import Candidate

NAMESPACES = (*XLA_NAMESPACES, "jax", "jaxlib")
"""What names begin with that nobody has but XLA and JAX."""

_Answer = TypeVar("_Answer")
_BEGINNINGS = [(namespace,) for namespace in NAMESPACES]
_COMMITS = {"xla": "xla", "jaxlib": "jax"}  # the components of the maps, as the table of releases calls their commits
_NAMED = compiled_on_use(
    rf"(?<![\w:])(?:{'|'.join(NAMESPACES)})::"
    rf"|(?:{'|'.join(f'{len(namespace)}{namespace}' for namespace in NAMESPACES)})\d*[A-Z_a-z]"
)
# A name without templates, operators and scopes inside of functions: its last word is its short name.
_PLAIN = compiled_on_use(r"(?:\w+::)+(?!operator\b)(?P<short>\w+)(?<!_exec)(?:\([^()]*\)?)?")
# Its plug-ins for GPUs are of the same release, and made from the same commits.
_OF_JAXLIB = compiled_on_use(
    r"/jaxlib/|/jax_plugins/xla_(?:cuda|rocm)\d*/|/jax_(?:cuda|rocm)\d*_plugin/"
    r"|(?:^|/)(?:libjax_common|libjaxlib\w*|xla_extension|_jax|xla_(?:cuda|rocm)_plugin)[\w.-]*\.so"
)
_INSTALLED = compiled_on_use(r"(?P<site>.*/(?:site|dist)-packages)/jax(?:lib)?/")


class _Release(NamedTuple):
    """A release of jaxlib that a frame may be of; `is_known`: something says that it is."""

    version: str
    is_known: bool


class ReleasedSources:
    """What the release maps know of the frames of one text, which is of the `releases` that it has stated so far.

    `links` are the project's own templates of public addresses; by default the index's. The maps are opened for the
    first frame that they may know.
    """

    def __init__(
        self,
        index: Index | None,
        releases: StatedReleases,
        links: Mapping[str, str] | None = None,
        path: Path | None = None,
    ) -> None:
        """`path` is that of the maps; by default those that framedex comes with."""
        self._index, self._releases = index, releases
        self._links = links if links is not None else index.links if index is not None else {}
        self._opened = cache(lambda: _open(path))
        self._maps = cache(self._maps_of)
        self._recorded = cache(self._of_recording)
        self._of_files = FileReleases()
        self._installed = ""
        self._found_in: dict[str, SourceMapInfo] = {}
        self._bodies_of: dict[str, Bodies] = {}
        self.problem = ""
        """What is wrong with the maps, as sentences; empty as long as nothing was met."""
        self.assumed = ""
        """The release in which frames were found of which nothing says the release; empty where there are none."""

    def learn(self, path: str) -> None:
        """Take a path that a frame names for one of the program's, which then ran with the jaxlib that is beside it."""
        if "/jax" not in path or self._installed or not (found := _INSTALLED.match(path)):
            return
        if release := self._of_files.of(f"{found['site']}/jaxlib/"):
            self._installed = release.version

    def may_know(self, name: str) -> bool:
        """Whether a printed name can be that of a function of XLA's or JAX's; mangled names are read, too."""
        if _NAMED.search(name) is None:
            return False
        plain = _PLAIN.fullmatch(name)
        return plain is None or self._may_define(plain["short"])

    def is_stated(self) -> bool:
        """Whether the text says which jaxlib it is of: then that goes before what is known of others."""
        return len(self._releases.of("jaxlib")) == 1

    def state(self) -> object:
        """What is other when the same frame may be of another release."""
        return self._releases.count, self._installed

    def definitions(self, symbol: str, module: str) -> list[Candidate]:
        """The definitions that a function with this demangled name may have; of the binary that it was in, if known.

        Their paths are those of maps, to be given to `published`.
        """
        from framedex.binaries.names import parse_name  # few logs name a function
        from framedex.sourcemap import SourceMapError
        from framedex.sources.names import key_of, short_of

        key = key_of(parse_name(symbol))
        if key[:1] not in _BEGINNINGS or self.problem:
            return []
        try:
            return self._in_maps(short_of(key), key, self._release(module))
        except SourceMapError as error:
            self._tell(error)
            return []

    def bodies(self, path: str) -> Bodies | None:
        """The calls in the release that a path among those definitions is of; None of any other path."""
        return self._bodies_of.get(prefix_in(path))

    def published(self, location: Location) -> Location:
        """A location among those definitions with its public address."""
        info = self._found_in.get(prefix_in(location.path))
        if info is None or location.url is not None:
            return location
        templates = {info.component: url_template(info.repository)} if info.repository else {}
        inside = location.path.removeprefix(info.prefix)
        url = public_url(info.component, inside, location.line, info.commit, {**templates, **self._links})
        return replace(location, url=url)

    def at(self, path: str, line: int, how: How) -> Location | None:
        """The public place of a line by the path that a compiler was given, in the only release that a text states."""
        compiled = compiled_from(path)
        if compiled is None or compiled[0] not in _COMMITS or not self.is_stated():
            return None
        (version,) = self._releases.of("jaxlib")
        commit = release_commits(version).get(_COMMITS[compiled[0]])
        url = public_url(*compiled, line, commit, self._links) if commit else None
        return Location(path, line, how, url) if url else None

    def is_published(self, path: str) -> bool:
        """Whether a path is of a file of which some text may state a release that has it in public."""
        compiled = compiled_from(path)
        return compiled is not None and compiled[0] in _COMMITS

    def _may_define(self, short_name: str) -> bool:
        from framedex.sourcemap import SourceMapError

        try:
            return not self.problem and self._opened().define(short_name)
        except SourceMapError as error:
            self._tell(error)
            return False

    def _tell(self, error: SourceMapError) -> None:
        self.problem = f"{error.message} {error.remedy}".strip()

    def _in_maps(self, short_name: str, key: tuple[str, ...], release: _Release) -> list[Candidate]:
        found = self._maps(release).definitions(short_name, "cpp", key)
        if found and not release.version:
            self.assumed = self._opened().releases[-1]
        return found

    def _asked_of_maps(self, ask: Callable[[], _Answer]) -> _Answer | None:
        """What the maps answer; None where they are damaged, which is told."""
        from framedex.sourcemap import SourceMapError

        try:
            return ask()
        except SourceMapError as error:
            self._tell(error)
            return None

    def _maps_of(self, release: _Release) -> CombinedMaps:
        """The maps that stand for a release, as what they are for it."""
        from framedex.releasemaps.combined import CombinedMaps

        maps = self._opened()
        nearest = [maps.nearest(component, release.version or maps.releases[-1]) for component in _COMMITS]
        found = [
            (replace(each.info, is_nearest=each.is_nearest or not release.is_known), each) for each in nearest if each
        ]
        combined = CombinedMaps(found, self._asked_of_maps)
        bodies = combined.bodies()
        for info, _ in found:
            self._found_in[info.prefix], self._bodies_of[info.prefix] = info, bodies
        return combined

    def _release(self, module: str) -> _Release:
        """The release that a frame in a binary is of, as far as anything says it."""
        is_its = not module or _OF_JAXLIB.search(module) is not None
        if stated := self._releases.of("jaxlib"):
            return _Release(max(stated, key=_numbers), is_its and len(stated) == 1)
        if stated := self._releases.of("jax"):  # which runs with other releases of jaxlib, too
            return _Release(max(stated, key=_numbers), is_known=False)
        version = self._installed or self._recorded()
        return _Release(version, is_its and bool(version))

    def _of_recording(self) -> str:
        """The jaxlib of the latest recording."""
        if self._index is None:
            return ""
        builds = self._index.sources.builds()
        return next((build.version for build in builds if build.component == "jaxlib"), "")


def _open(path: Path | None) -> ReleaseMaps:
    from framedex.releasemaps import open_release_maps  # few texts need them

    return open_release_maps(path) if path is not None else _shipped()


@cache
def _shipped() -> ReleaseMaps:
    from framedex.releasemaps import open_release_maps

    return open_release_maps()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number[:9]) for number in re.findall(r"\d+", version))

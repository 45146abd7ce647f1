"""XLA's and JAX's functions in the release maps that framedex ships, for texts that name them.

A function is theirs by the namespace that its name begins with: anybody else's `Foo::Run` is never looked for. It is
looked for in the release that its frame is of: the one that the text states, else the one that is installed where the
program ran, else the one that was recorded. Where nothing says it, and in a binary that is not jaxlib's, the newest or
the one beside it stands for it; what is found so has a path that says it (`+nearest`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from framedex.model import How, Location, SourceMapInfo, is_local
from framedex.model.places import prefix_in
from framedex.patterns import compiled_on_use
from framedex.releases.builds import release_commits
from framedex.releases.origins import XLA_NAMESPACES
from framedex.releases.repository import compiled_from, installed_from, public_url, url_template
from framedex.releases.stated import FileReleases, StatedReleases

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.releasemaps import ReleaseMaps
    from framedex.releasemaps.combined import CombinedMaps
    from framedex.sourcemap import SourceMapError
    from framedex.sources.bodies import Bodies
    from framedex.sources.matching import Candidate

NAMESPACES = (*XLA_NAMESPACES, "jax", "jaxlib")
"""What names begin with that nobody has but XLA and JAX."""

_Answer = TypeVar("_Answer")
_BEGINNINGS = [(namespace,) for namespace in NAMESPACES]
_COMPONENTS = ("xla", "jaxlib", "jax")
_OF_MAPS = ("xla", "jaxlib")
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
_SOURCE_NAME = compiled_on_use(r"\w[\w.-]*\.(?:cc|cpp|h|cu\.cc|hpp)")
_MOST_FUNCTIONS = 256
_INSTALLED = compiled_on_use(r"(?P<site>.*/(?:site|dist)-packages)/jax(?:lib)?/")


class Basis(StrEnum):
    """What says of which release the frames of a text are."""

    TEXT = "text"
    INSTALLATION = "installation"
    RECORDING = "recording"


class PlacedRelease(NamedTuple):
    """A release that a frame may be of: `version` of `package`, empty if unknown.

    `is_known`: the frame is certainly of it. `basis` says where the version is from; None if that is ambiguous.
    """

    package: str
    version: str
    is_known: bool
    basis: Basis | None = None


class ReleasedLocation(NamedTuple):
    """A location in the public sources of a release."""

    location: Location
    release: PlacedRelease


class ReleasedDefinitions(NamedTuple):
    """The definitions of a function in the maps that stand for a release."""

    candidates: list[Candidate]
    release: PlacedRelease


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
        self._has_whole_text = False
        self._functions: tuple[str, ...] = ()  # that the frames of the text name
        self._files: tuple[object, frozenset[str]] | None = None  # that define those, and of which state that is
        self._found_in: dict[str, SourceMapInfo] = {}
        self._bodies_of: dict[str, Bodies] = {}
        self.problem = ""
        """What is wrong with the maps, as sentences; empty as long as nothing was met."""
        self.used: dict[str, tuple[str, Basis]] = {}
        """The release of each package, `jax` or `jaxlib`, in which frames were placed, and what says it."""
        self.conflicts: dict[str, tuple[str, ...]] = {}
        """The releases of each package of which the text states several, and has frames; the oldest first."""
        self.assumed = ""
        """The release in which frames were found of which nothing says the release; empty where there are none."""

    def learn_functions(self, names: Iterable[str]) -> None:
        """Take these for the names of functions in all frames of the text."""
        self._has_whole_text, self._files = True, None
        known = filter(self.may_know, dict.fromkeys(names))
        self._functions = tuple(islice(known, _MOST_FUNCTIONS))

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
        """Whether the text says of which releases it is: then those go before what is known of others."""
        return bool(self._releases.of("jaxlib") or self._releases.of("jax"))

    def state(self) -> object:
        """What is other when the same frame may be of another release."""
        return self._releases.count, self._installed

    def of_recording(self, locations: Sequence[Location]) -> tuple[Location, ...]:
        """Locations that the index knows, in sources of the recorded release: doubtful where the text states another.

        Those of files that are here are returned as they are. Where the text states nothing, the release counts as
        used.
        """
        if all(is_local(location.path) for location in locations):
            return tuple(locations)
        package = "jaxlib" if self._stated_versions("jaxlib") else "jax"
        stated, recorded = self._stated_versions(package), self._recorded_version(package)
        if stated and recorded and recorded not in stated:
            return tuple(each if is_local(each.path) else replace(each, how=How.DOUBTFUL) for each in locations)
        if not stated:
            self.record(self._release(""))
        return tuple(locations)

    def record(self, release: PlacedRelease) -> None:
        """Count a frame as placed in a release: in `used`, `conflicts` or `assumed`."""
        if release.basis is not None:
            self.used[release.package] = release.version, release.basis
        elif not release.version:
            self.assumed = self._opened().releases[-1]
        elif len(stated := self._stated_versions(release.package)) > 1:
            self.conflicts[release.package] = stated

    def definitions(self, symbol: str, module: str) -> ReleasedDefinitions:
        """The definitions that a function with this demangled name may have; of the binary that it was in, if known.

        Their paths are those of maps, to be given to `published`. A caller that places a frame in one of them gives
        the release to `record`.
        """
        from framedex.binaries.names import parse_name  # few logs name a function
        from framedex.sourcemap import SourceMapError
        from framedex.sources.names import key_of, short_of

        key, release = key_of(parse_name(symbol)), self._release(module)
        if key[:1] not in _BEGINNINGS or self.problem:
            return ReleasedDefinitions([], release)
        try:
            return ReleasedDefinitions(self._maps(release).definitions(short_of(key), "cpp", key), release)
        except SourceMapError as error:
            self._report_problem(error)
            return ReleasedDefinitions([], release)

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

    def location_of_path(self, path: str, line: int, how: How) -> ReleasedLocation | None:
        """The public place of a line in the release that a text states, by the path that a compiler was given, or at
        which jax or jaxlib was installed; of several releases in the newest, and doubtful.

        A caller that places a frame there gives the release to `record`.
        """
        found = _in_repository(path)
        if found is None:
            return None
        package = "jax" if found[1].startswith("jax/") else "jaxlib"
        version, is_certain = self._stated(package)
        commit = release_commits(version).get("xla" if found[0] == "xla" else "jax")
        url = public_url(*found, line, commit, self._links) if commit else None
        if not commit or not url:
            return None
        release = PlacedRelease(package, version, is_certain, Basis.TEXT if is_certain else None)
        prefix = SourceMapInfo(found[0], None, commit, is_dirty=False, tool="").prefix
        location = Location(f"{prefix}{found[1]}", line, how if is_certain else How.DOUBTFUL, url)
        return ReleasedLocation(location, release)

    def location_of_file_name(self, name: str, line: int) -> ReleasedLocation | None:
        """The place of a line in the file of this name, as logs of absl and glog print it without its folder.

        It is exact where a frame of the text is in that file at the text's own release, else doubtful.
        A caller that places a frame there gives the release to `record`.
        """
        if not self._has_whole_text or self.problem or not _SOURCE_NAME.fullmatch(name):
            return None
        release = self._release("")
        found = self._asked_of_maps(lambda: self._maps(release).files_named(name)) or ()
        of_frames = [path for path in found if path in self._files_of_frames()] if found else []
        likeliest = of_frames or (found if release.is_known else [])
        if len(likeliest) != 1:
            return None
        location = Location(likeliest[0], line, _how_of_name(release, bool(of_frames)))
        return ReleasedLocation(self.published(location), release)

    def _files_of_frames(self) -> frozenset[str]:
        """The files that define the functions of XLA's and JAX's that the text names."""
        from framedex.binaries.spellings import spelled

        if self._files is None or self._files[0] != self.state():
            named = [self.definitions(spelled(function).symbol, "").candidates for function in self._functions]
            self._files = self.state(), frozenset(path for defined in named for path, _ in defined)
        return self._files[1]

    def is_published(self, path: str) -> bool:
        """Whether a path is of a file of which some text may state a release that has it in public."""
        return _in_repository(path) is not None

    def _stated(self, package: str) -> tuple[str, bool]:
        """The newest release of a package that the text states, empty for none, and whether it is the only one."""
        stated = self._stated_versions(package)
        return stated[-1] if stated else "", len(stated) == 1

    def _stated_versions(self, package: str) -> tuple[str, ...]:
        """The releases of a package that the text states; the oldest first."""
        return tuple(sorted(self._releases.of(package), key=_numbers))

    def _may_define(self, short_name: str) -> bool:
        from framedex.sourcemap import SourceMapError

        try:
            return not self.problem and self._opened().define(short_name)
        except SourceMapError as error:
            self._report_problem(error)
            return False

    def _report_problem(self, error: SourceMapError) -> None:
        self.problem = f"{error.message} {error.remedy}".strip()

    def _asked_of_maps(self, ask: Callable[[], _Answer]) -> _Answer | None:
        """What the maps answer; None where they are damaged, which is told."""
        from framedex.sourcemap import SourceMapError

        try:
            return ask()
        except SourceMapError as error:
            self._report_problem(error)
            return None

    def _maps_of(self, release: PlacedRelease) -> CombinedMaps:
        """The maps that stand for a release, as what they are for it."""
        from framedex.releasemaps.combined import CombinedMaps

        maps = self._opened()
        nearest = [maps.nearest(component, release.version or maps.releases[-1]) for component in _OF_MAPS]
        found = [
            (replace(each.info, is_nearest=each.is_nearest or not release.is_known), each) for each in nearest if each
        ]
        combined = CombinedMaps(found, self._asked_of_maps)
        bodies = combined.bodies()
        for info, _ in found:
            self._found_in[info.prefix], self._bodies_of[info.prefix] = info, bodies
        return combined

    def _release(self, module: str) -> PlacedRelease:
        """The release that a frame in a binary is of, as far as anything says it."""
        is_its = not module or _OF_JAXLIB.search(module) is not None
        stated, is_certain = self._stated("jaxlib")
        if stated:
            return PlacedRelease("jaxlib", stated, is_its and is_certain, Basis.TEXT if is_certain else None)
        stated, _ = self._stated("jax")
        if stated:  # which runs with other releases of jaxlib, too
            return PlacedRelease("jax", stated, is_known=False)
        version = self._installed or self._recorded()
        basis = Basis.INSTALLATION if self._installed else Basis.RECORDING
        return PlacedRelease("jaxlib", version, is_its and bool(version), basis if version else None)

    def _of_recording(self) -> str:
        """The jaxlib of the latest recording."""
        return self._recorded_version("jaxlib")

    def _recorded_version(self, package: str) -> str:
        """The release of a package in the latest recording; empty without one."""
        builds = self._index.sources.builds() if self._index is not None else ()
        return next((build.version for build in builds if build.component == package), "")


def _how_of_name(release: PlacedRelease, is_of_frame: bool) -> How:
    return How.EXACT if release.is_known and is_of_frame else How.DOUBTFUL


def _in_repository(path: str) -> tuple[str, str] | None:
    """The component, xla, jax or jaxlib, and the path in its repository; None for a file of none of them."""
    found = compiled_from(path) or installed_from(path)
    return found if found is not None and found[0] in _COMPONENTS else None


def _open(path: Path | None) -> ReleaseMaps:
    from framedex.releasemaps import open_release_maps  # few texts need them

    return open_release_maps(path) if path is not None else _shipped()


@cache
def _shipped() -> ReleaseMaps:
    from framedex.releasemaps import open_release_maps

    return open_release_maps()


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number[:9]) for number in re.findall(r"\d+", version))

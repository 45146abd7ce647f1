"""Functions of XLA and JAX, looked up in the release maps shipped with framedex.

Only names in the namespaces of XLA and JAX are looked up: a `Foo::Run` of another project never is. The release is
the first known of: stated by the text, installed where the program ran, recorded. If the release is unknown, or the
binary is not jaxlib's, the newest or nearest map is used instead. Its paths are then marked with `+nearest`.
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

from framedex.base.lazy import compile_on_use
from framedex.model import Location, LocationEvidence, SourceMapInfo, is_local
from framedex.model.locations import MAP_PATH, map_prefix
from framedex.sources.releases.builds import XLA_NAMESPACES, read_release_commits
from framedex.sources.releases.repository import (
    build_public_url,
    find_compiled_source,
    find_installed_source,
    find_url_template,
)
from framedex.sources.releases.statements import FileReleases, StatedReleases

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.sources.bodies import FunctionBodies
    from framedex.sources.matching import Candidate
    from framedex.sources.release_maps import ReleaseMaps
    from framedex.sources.release_maps.reader import CombinedMaps
    from framedex.sources.source_map import SourceMapError

NAMESPACES = (*XLA_NAMESPACES, "jax", "jaxlib")
"""Namespaces used only by XLA and JAX."""

MAX_CANDIDATES = 16
"""Maximum number of locations of a frame."""

_Answer = TypeVar("_Answer")
_KEY_STARTS = [(namespace,) for namespace in NAMESPACES]
_COMPONENTS = ("xla", "jaxlib", "jax")
_MAPPED_COMPONENTS = ("xla", "jaxlib")
_NAMESPACE_NAME = compile_on_use(
    rf"(?<![\w:])(?:{'|'.join(NAMESPACES)})::"
    rf"|(?:{'|'.join(f'{len(namespace)}{namespace}' for namespace in NAMESPACES)})\d*[A-Z_a-z]"
)
# A name without templates, operators and function-local scopes: its last word is its short name.
_PLAIN_NAME = compile_on_use(r"(?:\w+::)+(?!operator\b)(?P<short>\w+)(?<!_exec)(?:\([^()]*\)?)?")
# The GPU plug-ins of jaxlib have the same release and are built from the same commits.
_JAXLIB_BINARY = compile_on_use(
    r"/jaxlib/|/jax_plugins/xla_(?:cuda|rocm)\d*/|/jax_(?:cuda|rocm)\d*_plugin/"
    r"|(?:^|/)(?:libjax_common|libjaxlib\w*|xla_extension|_jax|xla_(?:cuda|rocm)_plugin)[\w.-]*\.so"
)
_SOURCE_NAME = compile_on_use(r"\w[\w.-]*\.(?:cc|cpp|h|cu\.cc|hpp)")
_MAX_FUNCTIONS = 256
_INSTALLED = compile_on_use(r"(?P<site>.*/(?:site|dist)-packages)/jax(?:lib)?/")


class ReleaseBasis(StrEnum):
    """The evidence for the release of a text's frames."""

    TEXT = "text"
    INSTALLATION = "installation"
    RECORDING = "recording"


class PlacedRelease(NamedTuple):
    """A release of a frame: `version` of `package`, empty if unknown.

    `is_known`: the frame certainly belongs to the release. `basis` is the evidence for the version; None if ambiguous.
    """

    package: str
    version: str
    is_known: bool
    basis: ReleaseBasis | None = None


class ReleasedLocation(NamedTuple):
    """A location in the public sources of a release."""

    location: Location
    release: PlacedRelease


class ReleasedDefinitions(NamedTuple):
    """The definitions of a function in the maps used for a release."""

    candidates: list[Candidate]
    release: PlacedRelease


class ReleasedSources:
    """Release map look-ups for the frames of one text; `releases` are the releases stated so far.

    `links` are the project's templates of public addresses; default: those of the index. The maps are opened for the
    first frame that they may contain.
    """

    def __init__(
        self,
        index: Index | None,
        releases: StatedReleases,
        links: Mapping[str, str] | None = None,
        path: Path | None = None,
    ) -> None:
        """`path` is that of the maps; default: the maps shipped with framedex."""
        self._index, self._releases = index, releases
        self._links = links if links is not None else index.links if index is not None else {}
        self._all_maps = cache(lambda: _open_maps(path))
        self._maps = cache(self._open_maps_of)
        self._recorded = cache(self._recorded_version)
        self._file_releases = FileReleases()
        self._installed_version = ""
        self._has_whole_text = False
        self._functions: tuple[str, ...] = ()  # named by the frames of the text
        self._files: tuple[object, frozenset[str]] | None = None  # their files, with the state of the look-up
        self._map_infos: dict[str, SourceMapInfo] = {}
        self._map_bodies: dict[str, FunctionBodies] = {}
        self.problem = ""
        """The error of damaged maps, as sentences; empty if none occurred."""
        self.used: dict[str, tuple[str, ReleaseBasis]] = {}
        """The release used for each package, `jax` or `jaxlib`, and its evidence."""
        self.conflicts: dict[str, tuple[str, ...]] = {}
        """The releases, oldest first, of each package with frames for which the text states several."""
        self.assumed = ""
        """The release assumed for frames without any evidence; empty if there are no such frames."""

    def set_function_names(self, names: Iterable[str]) -> None:
        """Set the names of functions in all frames of the text."""
        self._has_whole_text, self._files = True, None
        known = filter(self.may_be_library_function, dict.fromkeys(names))
        self._functions = tuple(islice(known, _MAX_FUNCTIONS))

    def infer_release(self, path: str) -> None:
        """Infer the installed jaxlib from a path in a frame: the program ran with the jaxlib in the same folder."""
        if "/jax" not in path or self._installed_version or not (found := _INSTALLED.match(path)):
            return
        if release := self._file_releases.release_of(f"{found['site']}/jaxlib/"):
            self._installed_version = release.version

    def may_be_library_function(self, name: str) -> bool:
        """Whether a printed name, mangled or not, may be that of an XLA or JAX function."""
        if _NAMESPACE_NAME.search(name) is None:
            return False
        plain = _PLAIN_NAME.fullmatch(name)
        return plain is None or self._may_define(plain["short"])

    def states_release(self) -> bool:
        """Whether the text states its releases. Stated releases take precedence over evidence for others."""
        return bool(self._releases.versions_of("jaxlib") or self._releases.versions_of("jax"))

    def state(self) -> object:
        """Return a key that changes when the same frame may belong to another release."""
        return self._releases.count, self._installed_version

    def check_recorded_release(self, locations: Sequence[Location]) -> tuple[Location, ...]:
        """Return locations found in the index; doubtful in XLA or JAX if the text's program ran another release.

        Local locations and those in other sources are returned unchanged. If the text states no release, the recorded
        release is marked as used.
        """
        if not any(_is_of_release(location.path) for location in locations):
            return tuple(locations)
        release = self._release("")
        stated = self._stated_versions(release.package)
        own = stated or ((release.version,) if release.basis is ReleaseBasis.INSTALLATION else ())
        recorded = self._recorded(release.package)
        if recorded and own and recorded not in own:
            return tuple(
                replace(each, how=LocationEvidence.DOUBTFUL) if _is_of_release(each.path) else each
                for each in locations
            )
        if recorded and not stated:
            self.mark_used(release)
        return tuple(locations)

    def mark_used(self, release: PlacedRelease) -> None:
        """Mark the release of a placed frame in `used`, `conflicts` or `assumed`."""
        if release.basis is not None:
            self.used[release.package] = release.version, release.basis
        elif not release.version:
            self.assumed = self._all_maps().releases[-1]
        elif len(stated := self._stated_versions(release.package)) > 1:
            self.conflicts[release.package] = stated

    def definitions(self, symbol: str, module: str) -> ReleasedDefinitions:
        """Return the possible definitions of a function, given its demangled name and its binary, if known.

        Their paths are paths in maps: pass them to `add_address`. If a frame is placed in one of them, pass the release
        to `mark_used`.
        """
        from framedex.binaries.names import parse_name
        from framedex.sources.names import build_key, shorten
        from framedex.sources.source_map import SourceMapError

        key, release = build_key(parse_name(symbol)), self._release(module)
        if key[:1] not in _KEY_STARTS or self.problem:
            return ReleasedDefinitions([], release)
        try:
            return ReleasedDefinitions(self._maps(release).definitions(shorten(key), "cpp", key), release)
        except SourceMapError as error:
            self._report_problem(error)
            return ReleasedDefinitions([], release)

    def bodies(self, path: str) -> FunctionBodies | None:
        """Return the calls in the release that a definition's path belongs to; None for any other path."""
        return self._map_bodies.get(map_prefix(path))

    def add_address(self, location: Location) -> Location:
        """Return a location of a definition with its public address."""
        info = self._map_infos.get(map_prefix(location.path))
        if info is None or location.url is not None:
            return location
        templates = {info.component: find_url_template(info.repository)} if info.repository else {}
        repository_path = location.path.removeprefix(info.prefix)
        url = build_public_url(
            info.component, repository_path, location.line, info.commit, {**templates, **self._links}
        )
        return replace(location, url=url)

    def label_locations(self, locations: Iterable[Location]) -> tuple[Location, ...]:
        """Return the locations with public addresses; several locations are marked as candidates unless doubtful."""
        found = list(locations)[:MAX_CANDIDATES]
        if len(found) > 1:
            found = [
                place if place.how is LocationEvidence.DOUBTFUL else replace(place, how=LocationEvidence.CANDIDATES)
                for place in found
            ]
        return self.add_addresses(found)

    def add_addresses(self, locations: Iterable[Location]) -> tuple[Location, ...]:
        """Return the locations with public addresses."""
        published = locations if self._index is None else map(self._index.add_public_url, locations)
        return tuple(map(self.add_address, published))

    def location_of_path(self, path: str, line: int, how: LocationEvidence) -> ReleasedLocation | None:
        """Return the public location of a line in the stated release, given a build path or an installed path.

        Installed paths are those of jax or jaxlib. If several releases are stated, the newest is used and the location
        is doubtful. If a frame is placed there, pass the release to `mark_used`.
        """
        found = _in_repository(path)
        if found is None:
            return None
        package = "jax" if found[1].startswith("jax/") else "jaxlib"
        version, is_certain = self._stated_release(package)
        commit = read_release_commits(version).get("xla" if found[0] == "xla" else "jax")
        url = build_public_url(*found, line, commit, self._links) if commit else None
        if not commit or not url:
            return None
        release = PlacedRelease(package, version, is_certain, ReleaseBasis.TEXT if is_certain else None)
        prefix = SourceMapInfo(found[0], None, commit, is_dirty=False, tool="").prefix
        location = Location(f"{prefix}{found[1]}", line, how if is_certain else LocationEvidence.DOUBTFUL, url)
        return ReleasedLocation(location, release)

    def location_of_file_name(self, name: str, line: int) -> ReleasedLocation | None:
        """Return the location of a line in the file of this name; absl and glog log names without folders.

        It is exact if a frame of the text is in that file at the text's own release, else doubtful. If a frame is
        placed there, pass the release to `mark_used`.
        """
        if not self._has_whole_text or self.problem or not _SOURCE_NAME.fullmatch(name):
            return None
        release = self._release("")
        found = self._query_maps(lambda: self._maps(release).files_named(name)) or ()
        of_frames = [path for path in found if path in self._files_of_frames()] if found else []
        likeliest = of_frames or (found if release.is_known else [])
        if len(likeliest) != 1:
            return None
        location = Location(likeliest[0], line, _file_name_how(release, bool(of_frames)))
        return ReleasedLocation(self.add_address(location), release)

    def _files_of_frames(self) -> frozenset[str]:
        """Return the files that define the XLA and JAX functions in the text."""
        from framedex.binaries.demangle import parse_printed_name

        if self._files is None or self._files[0] != self.state():
            named = [
                self.definitions(parse_printed_name(function).symbol, "").candidates for function in self._functions
            ]
            self._files = self.state(), frozenset(path for defined in named for path, _ in defined)
        return self._files[1]

    def is_published(self, path: str) -> bool:
        """Whether some release has the file of this path in a public repository."""
        return _in_repository(path) is not None

    def _stated_release(self, package: str) -> tuple[str, bool]:
        """Return the newest release of a package stated by the text, empty if none, and whether it is the only one."""
        stated = self._stated_versions(package)
        return stated[-1] if stated else "", len(stated) == 1

    def _stated_versions(self, package: str) -> tuple[str, ...]:
        """Return the releases of a package stated by the text, oldest first."""
        return tuple(sorted(self._releases.versions_of(package), key=_parse_version_key))

    def _may_define(self, short_name: str) -> bool:
        from framedex.sources.source_map import SourceMapError

        try:
            return not self.problem and self._all_maps().may_define(short_name)
        except SourceMapError as error:
            self._report_problem(error)
            return False

    def _report_problem(self, error: SourceMapError) -> None:
        self.problem = f"{error.message} {error.remedy}".strip()

    def _query_maps(self, query: Callable[[], _Answer]) -> _Answer | None:
        """Return the answer of the maps; None if they are damaged, which is reported in `problem`."""
        from framedex.sources.source_map import SourceMapError

        try:
            return query()
        except SourceMapError as error:
            self._report_problem(error)
            return None

    def _open_maps_of(self, release: PlacedRelease) -> CombinedMaps:
        """Return the maps used for a release, marked as nearest if they are not exact."""
        from framedex.sources.release_maps.reader import CombinedMaps

        maps = self._all_maps()
        nearest = [maps.nearest(component, release.version or maps.releases[-1]) for component in _MAPPED_COMPONENTS]
        found = [
            (replace(each.info, is_nearest=each.is_nearest or not release.is_known), each) for each in nearest if each
        ]
        combined = CombinedMaps(found, self._query_maps, is_release_known=release.is_known)
        bodies = combined.bodies()
        for info, _ in found:
            for each in (info, replace(info, is_unchanged=info.is_nearest)):
                self._map_infos[each.prefix], self._map_bodies[each.prefix] = each, bodies
        return combined

    def _release(self, module: str) -> PlacedRelease:
        """Return the release of a frame in a binary, from the best evidence."""
        is_its = not module or _JAXLIB_BINARY.search(module) is not None
        stated, is_certain = self._stated_release("jaxlib")
        if stated:
            return PlacedRelease("jaxlib", stated, is_its and is_certain, ReleaseBasis.TEXT if is_certain else None)
        stated, _ = self._stated_release("jax")
        if stated:  # jax also runs with other releases of jaxlib
            return PlacedRelease("jax", stated, is_known=False)
        version = self._installed_version or self._recorded("jaxlib")
        basis = ReleaseBasis.INSTALLATION if self._installed_version else ReleaseBasis.RECORDING
        return PlacedRelease("jaxlib", version, is_its and bool(version), basis if version else None)

    def _recorded_version(self, package: str) -> str:
        """Return the version of a package in the latest recording; empty if there is none."""
        builds = self._index.sources.builds() if self._index is not None else ()
        return next((build.version for build in builds if build.component == package), "")


def _is_of_release(path: str) -> bool:
    """Whether a path of the index, in a source map or of a build machine, is in the sources of XLA or JAX."""
    mapped = MAP_PATH.fullmatch(path)
    if mapped is not None:
        return mapped["component"] in _COMPONENTS
    return not is_local(path) and _in_repository(path) is not None


def _file_name_how(release: PlacedRelease, is_of_frame: bool) -> LocationEvidence:
    return LocationEvidence.EXACT if release.is_known and is_of_frame else LocationEvidence.DOUBTFUL


def _in_repository(path: str) -> tuple[str, str] | None:
    """Return the component (xla, jax or jaxlib) and the path in its repository; None for any other file."""
    found = find_compiled_source(path) or find_installed_source(path)
    return found if found is not None and found[0] in _COMPONENTS else None


def _open_maps(path: Path | None) -> ReleaseMaps:
    from framedex.sources.release_maps import open_release_maps

    return open_release_maps(path) if path is not None else _read_shipped_maps()


@cache
def _read_shipped_maps() -> ReleaseMaps:
    from framedex.sources.release_maps import open_release_maps

    return open_release_maps()


def _parse_version_key(version: str) -> tuple[int, ...]:
    return tuple(int(number[:9]) for number in re.findall(r"\d+", version))

"""The sources from which a capture's packages and interpreter were built.

A version comes from the launcher's record in the capture (`packages`). Without one, it is the version installed at the
recorded path, unless installed after the recording. A commit comes from the package itself (`_git_hash` in its
version.py), else from commits.json for its version (scripts/make_release_commits.py), else it is the release tag.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.base.errors import raise_if_limit
from framedex.base.regularfile import open_regular
from framedex.sources.releases.statements import parse_release_version

if TYPE_CHECKING:
    from framedex.model import Capture, Metadata

_PACKAGE = re.compile(r"(?P<site>/.*/(?:site|dist)-packages)/(?P<package>jaxlib|jax)/")
# The other distributions of jaxlib's releases, for GPUs: `jax-cuda12-pjrt` and `jax-cuda12-plugin`.
_GPU = re.compile(
    r"(?P<site>/.*/(?:site|dist)-packages)/"
    r"(?P<folder>jax_plugins/xla_(?P<runtime>(?:cuda|rocm)\d*)|jax_(?P<kernels>(?:cuda|rocm)\d*)_plugin)/"
)
_LIBRARY = re.compile(r"(/.*/lib(?:64)?/python\d+\.\d+)/(?!(?:site|dist)-packages/)")
_INTERPRETER = re.compile(
    r"(?P<prefix>/.*)/(?:bin|lib(?:64)?(?:/[\w-]+)?)/(?:lib)?python(?P<version>\d+\.\d+)[a-z]*(?:\.so[\d.]*)?"
)
_GIT_HASH = re.compile(r"^_git_hash\b[^=\n]*=\s*['\"]([0-9a-f]{40})['\"]", re.MULTILINE)
_RELEASED = re.compile(r"\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?")
_MAX_VERSION_FILE_BYTES = 1 << 16  # bytes


@dataclass(frozen=True, slots=True)
class Build:
    """A component of a capture: `xla` (inside jaxlib or its GPU plug-ins), `jaxlib`, `jax` or `cpython`.

    `version` is the version of its release; for `xla`, the version of jaxlib or of the plug-in. `revision` is a commit
    or tag of the component's repository; empty if unknown. `folder` is its installation folder on the recorded machine.
    """

    component: str
    version: str
    revision: str
    folder: str


def read_release_commits(version: str) -> Mapping[str, str]:
    """The commits of `jax` and `xla` from which a release of jaxlib was built; empty for an unknown version."""
    return _read_known_commits().get(parse_release_version(version), {})


def list_known_releases() -> Sequence[str]:
    """The versions of jaxlib with known commits, oldest first."""
    return tuple(_read_known_commits())


def find_builds(capture: Capture) -> list[Build]:
    """The components with recorded code in a capture."""
    return find_builds_of_paths(_read_recorded_paths(capture), capture.metadata)


def find_builds_of_paths(recorded_paths: Iterable[str], metadata: Metadata) -> list[Build]:
    """The components of code files, from the files' paths on the recorded machine."""
    paths = dict.fromkeys(recorded_paths)
    versions = metadata.launch.packages if metadata.launch else {}
    builds: dict[Build, None] = {}
    for site, package in _find_packages(paths):
        version = versions.get(package) or find_installed_version(Path(site), package, metadata.started_unix_ns)
        if version:
            builds |= dict.fromkeys(_find_package_builds(site, package, version))
    builds |= dict.fromkeys(_find_gpu_builds(paths, metadata.started_unix_ns))
    if python := find_release_of_python(metadata.python or ""):
        builds |= dict.fromkeys(Build("cpython", *python, folder) for folder in _find_libraries(paths))
    return list(builds)


def list_python_libraries(capture: Capture) -> Collection[str]:
    """The folders of the standard library of a capture's interpreter; several if ambiguous."""
    return _find_libraries(_read_recorded_paths(capture))


def _read_recorded_paths(capture: Capture) -> Mapping[str, None]:
    return dict.fromkeys([*(module.path for module in capture.modules), *(code.filename for code in capture.codes)])


def _find_libraries(paths: Mapping[str, None]) -> Mapping[str, None]:
    """The folders of the standard library; if none was recorded, those that belong to Python's binaries."""
    seen = dict.fromkeys(match[1] for path in paths if (match := _LIBRARY.match(path)))
    if seen:
        return seen
    binaries = filter(None, map(_INTERPRETER.fullmatch, paths))
    return dict.fromkeys(f"{match['prefix']}/lib/python{match['version']}" for match in binaries)


def find_release_of_python(described: str) -> tuple[str, str] | None:
    """The version and tag of CPython in a description (`sys.version`); None if it has none."""
    found = _RELEASED.match(described)
    return (found[0], f"v{found[0]}") if found else None


def _find_packages(paths: Mapping[str, None]) -> dict[tuple[str, str], None]:
    return dict.fromkeys((match["site"], match["package"]) for path in paths if (match := _PACKAGE.match(path)))


def _find_gpu_builds(paths: Mapping[str, None], started_unix_ns: int | None) -> Iterator[Build]:
    for match in filter(None, map(_GPU.match, paths)):
        package = f"jax_{match['runtime']}_pjrt" if match["runtime"] else f"jax_{match['kernels']}_plugin"
        if version := find_installed_version(Path(match["site"]), package, started_unix_ns):
            commit = read_release_commits(version).get("xla", "")
            yield Build("xla", version, commit, f"{match['site']}/{match['folder']}")


def _find_package_builds(site: str, package: str, version: str) -> Iterator[Build]:
    folder = f"{site}/{package}"
    known = read_release_commits(version)
    tag = f"jax-v{version}" if _RELEASED.fullmatch(version) else ""
    yield Build(package, version, _read_commit_in_package(Path(folder), version) or known.get("jax", tag), folder)
    if package == "jaxlib":
        yield Build("xla", version, known.get("xla", ""), folder)


def find_installed_version(site: Path, package: str, started_unix_ns: int | None) -> str | None:
    """The version installed at the recorded path; None if missing or installed after the recording."""
    try:
        for info in site.iterdir():
            is_named = info.name.startswith(f"{package}-") and info.suffix == ".dist-info"
            if is_named and (started_unix_ns is None or info.stat().st_mtime_ns <= started_unix_ns):
                return info.name.removeprefix(f"{package}-").removesuffix(".dist-info")
    except OSError as error:
        raise_if_limit(error)
    except ValueError:
        pass
    return None


def _read_commit_in_package(folder: Path, version: str) -> str | None:
    """The commit in a package's version.py, if that file is of this version; else None."""
    try:
        with open_regular(folder / "version.py") as file:
            text = file.read(_MAX_VERSION_FILE_BYTES).decode(errors="replace")
    except (OSError, ValueError):
        return None
    match = _GIT_HASH.search(text)
    is_same = re.search(rf"['\"]{re.escape(version)}['\"]", text) is not None
    return match[1] if match and is_same else None


@cache
def _read_known_commits() -> Mapping[str, Mapping[str, str]]:
    text = Path(__file__).with_name("commits.json").read_text(encoding="utf-8")
    commits: Mapping[str, Mapping[str, str]] = json.loads(text)["jaxlib"]
    return commits


XLA_NAMESPACES = ("xla", "tsl", "stream_executor", "pjrt")
"""The namespaces that only XLA uses."""


@dataclass(frozen=True, slots=True)
class BinaryOrigin:
    """The jaxlib release that contains a function's binary (`is_known`), or else that ran with it; empty if unknown."""

    release: str = ""
    is_known: bool = False


NO_ORIGIN = BinaryOrigin()


class FunctionOrigins:
    """Maps the functions of one capture to their origins; `builds` are the recorded components."""

    def __init__(self, builds: Sequence[Build] = ()) -> None:
        self._packages = [(f"{build.folder}/", build.version) for build in builds if build.component == "xla"]
        self._jaxlib_version = next((build.version for build in builds if build.component == "jaxlib"), "")

    def origin_of(self, binary: str, symbol: str) -> BinaryOrigin:
        """The origin of the function with this demangled name in the binary at this path."""
        for folder, release in self._packages:
            if binary.startswith(folder):
                return BinaryOrigin(release, is_known=True)
        return BinaryOrigin(self._jaxlib_version) if is_named_by_xla(symbol) else NO_ORIGIN


def is_named_by_xla(symbol: str) -> bool:
    """Whether a function's demangled name is in one of XLA's own namespaces."""
    if not any(f"{namespace}::" in symbol for namespace in XLA_NAMESPACES):
        return False
    from framedex.binaries.names import parse_name

    return parse_name(symbol).key[:1] in [(namespace,) for namespace in XLA_NAMESPACES]


PIN_FILES = ("third_party/xla/revision.bzl", "third_party/xla/workspace.bzl", "WORKSPACE", "MODULE.bazel")
"""The files of JAX that have pinned the XLA commit, newest first. The first file that pins one counts."""

_PIN = re.compile(r'^XLA_COMMIT = "([0-9a-f]{40})"|/openxla/xla/archive/([0-9a-f]{40})', re.MULTILINE)


def find_pinned_xla_commit(read_file: Callable[[str], str | None]) -> str | None:
    """Return the XLA commit that a JAX checkout pins; None if no known file names one.

    `read_file` returns the text of a file of the checkout, by its path from the top; None if it is missing.
    """
    for file in PIN_FILES:
        if match := _PIN.search(read_file(file) or ""):
            return match[1] or match[2]
    return None


def pinning_jax_revision(build: Build, builds: Sequence[Build]) -> str:
    """Return the JAX commit or tag that pins an `xla` build: the revision of its jaxlib. Empty if unknown."""
    jaxlibs = [other for other in builds if other.component == "jaxlib" and other.revision]
    found = [jaxlib for jaxlib in jaxlibs if jaxlib.folder == build.folder]
    found += [jaxlib for jaxlib in jaxlibs if jaxlib.version == build.version]  # of a GPU plug-in
    return found[0].revision if found else ""


def add_pinned_commits(builds: Sequence[Build], xla_commit_of: Callable[[str], str | None]) -> list[Build]:
    """Return the builds, and add the commits of `xla` builds that framedex's table of releases lacks.

    `xla_commit_of` returns the XLA commit that a JAX commit or tag pins; None if its files are missing.
    """
    return [
        replace(build, revision=xla_commit_of(jax) or "")
        if build.component == "xla" and not build.revision and (jax := pinning_jax_revision(build, builds))
        else build
        for build in builds
    ]

"""Map recorded paths to paths in public repositories, and to URLs at the commit that was built.

The repository of a path comes from one of these:

- its component's installation folder
- Bazel's repository names (`external/xla/`, `external/+repositories+xla/`)
- the name of a folder of CPython's sources

Generated files have no repository.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

if TYPE_CHECKING:
    from framedex.releases.builds import Build

TEMPLATES: Mapping[str, str] = {
    "xla": "https://github.com/openxla/xla/blob/{commit}/{path}#L{line}",
    "jax": "https://github.com/jax-ml/jax/blob/{commit}/{path}#L{line}",
    "jaxlib": "https://github.com/jax-ml/jax/blob/{commit}/{path}#L{line}",
    "cpython": "https://github.com/python/cpython/blob/{commit}/{path}#L{line}",
}
"""The URL template of each component's sources."""

REPOSITORIES: Mapping[str, str] = {
    "xla": "https://github.com/openxla/xla",
    "jax": "https://github.com/jax-ml/jax",
    "jaxlib": "https://github.com/jax-ml/jax",
    "cpython": "https://github.com/python/cpython",
}
"""The repository to clone for each component."""

_EXTERNAL = re.compile(r"(?:.*/)?external/([^/]+)/(.+)")
_WORKSPACE = re.compile(r"(?:/proc/self/cwd/|\./)?((?:jaxlib|jax|xla)/.+)")
_BAZEL_REPOSITORIES = {"xla": "xla", "org_xla": "xla", "jax": "jaxlib", "org_jax": "jaxlib"}
_SITE = re.compile(r"(?P<folder>.*/(?:site|dist)-packages/(?P<package>jaxlib|jax))/.+")
_OF_WINDOWS = re.compile(r"[A-Za-z]:\\|\\\\")
_CPYTHON = re.compile(r".*/c?python[^/]*/((?:Include|Modules|Objects|Parser|Programs|Python)/.+\.[ch])", re.IGNORECASE)
_GENERATED = re.compile(r"(?:^|/)bazel-out/|\.pb\.(?:cc|h)$|\.inc$")


@dataclass(frozen=True, slots=True)
class Published:
    """A file in a component's repository, at a commit or tag."""

    component: str
    path: str
    revision: str


def published(recorded: str, builds: Sequence[Build]) -> Published | None:
    """The public repository file of a recorded path, from the components that were recorded with it.

    None if it belongs to none of the components, or if the commit is unknown.
    """
    found = _installed(recorded, builds) or compiled_from(recorded)
    if found is None:
        return None
    component, path = found
    build = next((build for build in builds if build.component == component and build.revision), None)
    return Published(component, path, build.revision) if build else None


def compiled_from(recorded: str) -> tuple[str, str] | None:
    """The component and the repository path of a C or C++ file, from its path at compile time.

    None if the path is not recognised.
    """
    if _GENERATED.search(recorded):
        return None
    if match := _EXTERNAL.fullmatch(recorded):
        name = re.split(r"[+~]", match[1].rstrip("+~"))[-1]
        component = _BAZEL_REPOSITORIES.get(name)
        return (component, match[2]) if component else None
    if match := _WORKSPACE.fullmatch(recorded):
        return ("xla" if match[1].startswith("xla/") else "jaxlib"), match[1]
    if match := _CPYTHON.fullmatch(recorded):
        return "cpython", match[1]
    return None


def installed_from(path: str) -> tuple[str, str] | None:
    """The component and the repository path of a Python file of jax or jaxlib, from its installation path.

    Windows paths are supported. None for any other file and for generated files.
    """
    path = path.replace("\\", "/") if _OF_WINDOWS.match(path) else path
    found = _SITE.fullmatch(path)
    return _inside(found["package"], found["folder"], path) if found else None


def public_url(
    component: str, path: str, line: int, revision: str, templates: Mapping[str, str] | None = None
) -> str | None:
    """The URL of a line in a component's repository; `templates` override the default templates.

    None if the component has no template, or if path or revision would lead outside its repository.
    """
    template = (templates or {}).get(component) or TEMPLATES.get(component)
    path = posixpath.normpath(path)
    if template is None or path.startswith("../") or ".." in revision.split("/"):
        return None
    # Not str.format: it would let untrusted templates access attributes and indices.
    values = {"path": quote(path, errors="replace"), "line": str(line), "commit": quote(revision, errors="replace")}
    return re.sub(r"\{(path|line|commit)\}", lambda match: values[match[1]], template)


def url_template(repository: str) -> str:
    """The URL template of a repository's site; `repository` is its public address without the ending `.git`."""
    host = urlsplit(repository).hostname or ""
    base = repository.replace("{", "%7B").replace("}", "%7D")
    if host.endswith("googlesource.com"):
        return f"{base}/+/{{commit}}/{{path}}#{{line}}"
    if host.startswith("bitbucket."):
        return f"{base}/src/{{commit}}/{{path}}#lines-{{line}}"
    return f"{base}{'/-' if host.startswith('gitlab.') else ''}/blob/{{commit}}/{{path}}#L{{line}}"


def _installed(recorded: str, builds: Sequence[Build]) -> tuple[str, str] | None:
    """The component and the repository path of a Python file in the component's installation folder."""
    for build in builds:
        if build.component == "xla" or not recorded.startswith(f"{build.folder}/"):
            continue
        return _inside(build.component, build.folder, recorded)
    return None


def _inside(component: str, folder: str, path: str) -> tuple[str, str] | None:
    """The component and the repository path of a Python file below the component's folder."""
    inside = path[len(folder) + 1 :]
    is_generated = component == "jaxlib" and inside.startswith("mlir/")
    if not inside.endswith(".py") or "-packages/" in inside or is_generated:
        return None
    return component, f"{'Lib' if component == 'cpython' else component}/{inside}"

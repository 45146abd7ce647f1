"""Map recorded paths to paths in public repositories, build URLs at the built commit, and parse such URLs.

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
from urllib.parse import quote, unquote, urlsplit

from framedex.model.locations import MAP_PATH, is_safe_relative_path

if TYPE_CHECKING:
    from framedex.sources.releases.builds import Build

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
_WINDOWS_PATH = re.compile(r"[A-Za-z]:\\|\\\\")
_CPYTHON = re.compile(r".*/c?python[^/]*/((?:Include|Modules|Objects|Parser|Programs|Python)/.+\.[ch])", re.IGNORECASE)
_GENERATED = re.compile(r"(?:^|/)bazel-out/|\.pb\.(?:cc|h)$|\.inc$")


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A file in a component's repository, at a commit or tag."""

    component: str
    path: str
    revision: str


def find_published_file(recorded: str, builds: Sequence[Build]) -> PublishedFile | None:
    """The public repository file of a recorded path, from the components that were recorded with it.

    None if no component contains the path, or if the commit is unknown.
    """
    found = _find_installed_path(recorded, builds) or find_compiled_source(recorded)
    if found is None:
        return None
    component, path = found
    build = next((build for build in builds if build.component == component and build.revision), None)
    return PublishedFile(component, path, build.revision) if build else None


def find_compiled_source(recorded: str) -> tuple[str, str] | None:
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


def find_installed_source(path: str) -> tuple[str, str] | None:
    """The component and the repository path of a Python file of jax or jaxlib, from its installation path.

    Windows paths are supported. None for any other file and for generated files.
    """
    path = path.replace("\\", "/") if _WINDOWS_PATH.match(path) else path
    found = _SITE.fullmatch(path)
    return _path_inside(found["package"], found["folder"], path) if found else None


def build_public_url(
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


def find_url_template(repository: str) -> str:
    """The URL template of a repository's site; `repository` is its public address without the ending `.git`."""
    host = urlsplit(repository).hostname or ""
    base = repository.replace("{", "%7B").replace("}", "%7D")
    if host.endswith("googlesource.com"):
        return f"{base}/+/{{commit}}/{{path}}#{{line}}"
    if host.startswith("bitbucket."):
        return f"{base}/src/{{commit}}/{{path}}#lines-{{line}}"
    return f"{base}{'/-' if host.startswith('gitlab.') else ''}/blob/{{commit}}/{{path}}#L{{line}}"


def _find_installed_path(recorded: str, builds: Sequence[Build]) -> tuple[str, str] | None:
    """The component and the repository path of a Python file in the component's installation folder."""
    for build in builds:
        if build.component == "xla" or not recorded.startswith(f"{build.folder}/"):
            continue
        return _path_inside(build.component, build.folder, recorded)
    return None


def _path_inside(component: str, folder: str, path: str) -> tuple[str, str] | None:
    """The component and the repository path of a Python file below the component's folder."""
    inside = path[len(folder) + 1 :]
    is_generated = component == "jaxlib" and inside.startswith("mlir/")
    if not inside.endswith(".py") or "-packages/" in inside or is_generated:
        return None
    return component, f"{'Lib' if component == 'cpython' else component}/{inside}"


_REVISION = r"(?P<revision>(?:refs/(?:heads|tags)/)?[\w.][\w.+-]*)"
_FORMS = tuple(
    re.compile(rf"(?P<repository>/.+?)/{marks}/{_REVISION}/(?P<path>.+)")
    for marks in (
        r"-/(?:blob|blame|raw|edit)",  # GitLab
        r"(?:blob|blame|raw|edit)",  # GitHub and compatible sites
        r"src/(?:commit|branch|tag)",  # Gitea, Forgejo
        r"src",  # Bitbucket
        r"\+",  # Gitiles
    )
)
_RAW_HOST = "raw.githubusercontent.com"
_RAW = re.compile(rf"(?P<repository>/[^/]+/[^/]+)/{_REVISION}/(?P<path>.+)")
_LINE = re.compile(r"(?:L|l|lines-)?(?P<line>\d{1,9})(?!\d)")
_PLACEHOLDER = re.compile(r"\{(path|line|commit)\}")
_PLACEHOLDER_PATTERNS = {"path": r".+?", "line": r"\d{1,9}", "commit": r"[\w.][\w.+-]*"}
_CHANGED = "+changes"
_MAX_ADDRESS_LENGTH = 8192


@dataclass(frozen=True, slots=True)
class PublicLine:
    """A line of a file in a public repository: 1-based, or None for the whole file.

    `path` is relative to the repository's root. `names` are the lower-case names of the repository: its own and its
    component's. `revision` is a commit, possibly shortened, a branch or a tag. `url` is its public page; None if
    unknown.
    """

    names: frozenset[str]
    revision: str
    path: str
    line: int | None
    url: str | None


def parse_address(url: str, links: Mapping[str, str] | None = None) -> PublicLine | None:
    """Parse the public address of a line; None for any other address.

    Recognises the addresses of repository sites, and the addresses of `links`, URL templates by component.
    """
    if len(url) > _MAX_ADDRESS_LENGTH or not url.startswith(("http://", "https://")):
        return None
    for component, template in (links or {}).items():
        match = None if "/" in component else _compile_template(template).fullmatch(url)
        if match is not None and is_safe_relative_path(path := unquote(match["path"])):
            groups = match.groupdict()
            return _build_public_line(component, groups.get("commit") or "", path, groups.get("line"), url)
    try:
        parts = urlsplit(url)
    except ValueError:  # malformed brackets in the host
        return None
    if "@" in parts.netloc:  # a password, or a name that looks like another host: no public page has one
        return None
    forms = (_RAW,) if parts.hostname == _RAW_HOST else _FORMS
    match = next(filter(None, (form.fullmatch(parts.path) for form in forms)), None)
    if match is None or not is_safe_relative_path(path := unquote(match["path"])):
        return None
    line = _LINE.match(parts.fragment)
    repository = match["repository"].rstrip("/").removesuffix(".git").rpartition("/")[2]
    return _build_public_line(unquote(repository), match["revision"], path, line["line"] if line else None, url)


def parse_source_map_path(path: str, line: int | None, links: Mapping[str, str] | None = None) -> PublicLine | None:
    """Parse a path of a source map, `xla@5a9e73cbd925:xla/shape.cc`; None for any other path.

    Without the map, the address is known only for the default components and those in `links`.
    """
    match = MAP_PATH.fullmatch(path)
    if match is None or not is_safe_relative_path(match["path"]):
        return None
    component, revision = match["component"], match["revision"]
    url = None
    if _CHANGED not in match["state"]:
        url = build_public_url(component, match["path"], line or 1, revision, links)
    return _build_public_line(component, revision, match["path"], str(line) if line else None, url)


def _build_public_line(name: str, revision: str, path: str, line: str | None, url: str | None) -> PublicLine:
    names = {name.lower()}
    if (repository := REPOSITORIES.get(name)) is not None:  # jaxlib's sources are in the repository of jax
        names.add(repository.rpartition("/")[2])
    return PublicLine(frozenset(names), revision, path, int(line) if line and int(line) else None, url)


def _compile_template(template: str) -> re.Pattern[str]:
    """A pattern of the addresses that a template generates."""
    pieces, seen, end = [], set(), 0
    for match in _PLACEHOLDER.finditer(template):
        pieces.append(re.escape(template[end : match.start()]))
        name, end = match[1], match.end()
        pieces.append(
            f"(?P<{name}>{_PLACEHOLDER_PATTERNS[name]})" if name not in seen else f"(?:{_PLACEHOLDER_PATTERNS[name]})"
        )
        seen.add(name)
    return re.compile("".join(pieces) + re.escape(template[end:]))

"""Parse lines of public repositories: web addresses, and the paths in source maps.

`repository` builds such addresses from recorded paths. This module parses them, including pasted ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from framedex.model.places import OF_A_MAP, leads_inside
from framedex.releases.repository import REPOSITORIES, public_url

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
_OF_PLACEHOLDERS = {"path": r".+?", "line": r"\d{1,9}", "commit": r"[\w.][\w.+-]*"}
_CHANGED = "+changes"
_LONGEST = 8192


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


def read_address(url: str, links: Mapping[str, str] | None = None) -> PublicLine | None:
    """Parse the public address of a line; None for any other address.

    Recognises the address forms of repository sites, and those of `links`, URL templates by component.
    """
    if len(url) > _LONGEST or not url.startswith(("http://", "https://")):
        return None
    for component, template in (links or {}).items():
        match = None if "/" in component else _pattern(template).fullmatch(url)
        if match is not None and leads_inside(path := unquote(match["path"])):
            groups = match.groupdict()
            return _line(component, groups.get("commit") or "", path, groups.get("line"), url)
    try:
        parts = urlsplit(url)
    except ValueError:  # brackets without a host
        return None
    if "@" in parts.netloc:  # a password, or a name that looks like another host: no public page has one
        return None
    forms = (_RAW,) if parts.hostname == _RAW_HOST else _FORMS
    match = next(filter(None, (form.fullmatch(parts.path) for form in forms)), None)
    if match is None or not leads_inside(path := unquote(match["path"])):
        return None
    line = _LINE.match(parts.fragment)
    repository = match["repository"].rstrip("/").removesuffix(".git").rpartition("/")[2]
    return _line(unquote(repository), match["revision"], path, line["line"] if line else None, url)


def read_mapped(path: str, line: int | None, links: Mapping[str, str] | None = None) -> PublicLine | None:
    """Parse a path of a source map, `xla@5a9e73cbd925:xla/shape.cc`; None for any other path.

    Without the map, the address is known only for the default components and those in `links`.
    """
    match = OF_A_MAP.fullmatch(path)
    if match is None or not leads_inside(match["path"]):
        return None
    component, revision = match["component"], match["revision"]
    url = None
    if _CHANGED not in match["state"]:
        url = public_url(component, match["path"], line or 1, revision, links)
    return _line(component, revision, match["path"], str(line) if line else None, url)


def _line(name: str, revision: str, path: str, line: str | None, url: str | None) -> PublicLine:
    names = {name.lower()}
    if (repository := REPOSITORIES.get(name)) is not None:  # jaxlib's sources are in the repository of jax
        names.add(repository.rpartition("/")[2])
    return PublicLine(frozenset(names), revision, path, int(line) if line and int(line) else None, url)


def _pattern(template: str) -> re.Pattern[str]:
    """A pattern of the addresses that a template generates."""
    pieces, seen, end = [], set(), 0
    for match in _PLACEHOLDER.finditer(template):
        pieces.append(re.escape(template[end : match.start()]))
        name, end = match[1], match.end()
        pieces.append(f"(?P<{name}>{_OF_PLACEHOLDERS[name]})" if name not in seen else f"(?:{_OF_PLACEHOLDERS[name]})")
        seen.add(name)
    return re.compile("".join(pieces) + re.escape(template[end:]))

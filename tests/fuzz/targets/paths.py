"""Recorded paths: their local files, their packages, and their public addresses."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from framedex.path_resolution.files import PathMap, PathRule
from framedex.path_resolution.moved_files import TreeFiles, find_files_below
from framedex.path_resolution.precedence import find_local_file
from framedex.sources.names import find_likely_files
from framedex.sources.releases import Build, build_public_url, find_published_file, find_url_template
from framedex.sources.source_map import is_address
from tests.fuzz.inputs import Input, scratch

MAX_SIZE = 4096
_BUILDS = [
    Build("xla", "0.10.2", "5a9e73cb", "/env/site-packages/jaxlib"),
    Build("jax", "0.10.2", "jax-v0.10.2", "/env/site-packages/jax"),
    Build("cpython", "3.12.1", "v3.12.1", "/usr/lib/python3.12"),
]


def run(data: bytes) -> None:
    """Lines: a recorded path, the `from` of a rule, a repository's address, a symbol; then paths of a tree."""
    taken = Input(data)
    recorded, before, repository, symbol = (taken.line() for _ in range(4))
    tree = TreeFiles([line for line in (taken.line() for _ in range(16)) if line])
    rules = PathMap([PathRule(before, scratch()), PathRule("/build", Path("/nowhere"))])
    find_local_file(recorded, rules, tree)
    find_files_below(recorded, [str(scratch())])
    find_likely_files(tree, symbol, recorded)
    if (found := find_published_file(recorded, _BUILDS)) is not None:
        url = build_public_url(found.component, found.path, 1, found.revision)
        assert url is not None and urlsplit(url).hostname == "github.com" and url.isprintable()
    _check_template(repository, recorded)


def _check_template(repository: str, path: str) -> None:
    """Addresses that a source map may contain, which are checked in advance."""
    if is_address(repository):
        url = build_public_url("own", path, 1, "abc", {"own": find_url_template(repository)})
        assert url is not None and url.startswith(("https://", "http://"))

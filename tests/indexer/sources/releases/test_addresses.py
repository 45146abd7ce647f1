"""Lines of public repositories, parsed from addresses and from the paths of source maps."""

from __future__ import annotations

import pytest

from framedex.sources.releases.repository import (
    build_public_url,
    find_url_template,
    parse_address,
    parse_source_map_path,
)

COMMIT = "5a9e73cbd92530cac2ac36f4736a774b2412afe2"
GITHUB = "https://github.com/openxla/xla"


@pytest.mark.parametrize(
    ("address", "revision", "line"),
    [
        (f"{GITHUB}/blob/{COMMIT}/xla/shape.cc#L12", COMMIT, 12),
        (f"{GITHUB}/blob/{COMMIT}/xla/shape.cc#L12-L20", COMMIT, 12),
        (f"{GITHUB}/blob/{COMMIT}/xla/shape.cc#L12C3-L20C7", COMMIT, 12),
        (f"{GITHUB}/blob/main/xla/shape.cc?plain=1#L12", "main", 12),
        (f"{GITHUB}/blame/v1.2.3/xla/shape.cc#L12", "v1.2.3", 12),
        (f"{GITHUB}/blob/{COMMIT}/xla/shape.cc", COMMIT, None),
        (f"{GITHUB}/blob/{COMMIT}/xla/shape.cc#readme", COMMIT, None),
        (f"https://raw.githubusercontent.com/openxla/xla/{COMMIT}/xla/shape.cc", COMMIT, None),
        (f"https://gitlab.example.org/some/group/xla/-/blob/{COMMIT}/xla/shape.cc?ref_type=heads#L12-20", COMMIT, 12),
        (f"https://code.example.org/a/b/c/xla/blob/{COMMIT}/xla/shape.cc#L12", COMMIT, 12),
        (f"https://bitbucket.org/openxla/xla/src/{COMMIT}/xla/shape.cc#lines-12", COMMIT, 12),
        (f"https://codeberg.org/openxla/xla/src/commit/{COMMIT}/xla/shape.cc#L12", COMMIT, 12),
        (f"https://xla.googlesource.com/xla/+/{COMMIT}/xla/shape.cc#12", COMMIT, 12),
        ("https://xla.googlesource.com/xla/+/refs/heads/main/xla/shape.cc#12", "refs/heads/main", 12),
    ],
)
def test_addresses_of_the_usual_hosts_are_parsed_into_lines(address: str, revision: str, line: int | None) -> None:
    found = parse_address(address)

    assert found is not None
    assert (found.names, found.revision, found.path, found.line) == (frozenset({"xla"}), revision, "xla/shape.cc", line)
    assert found.url == address


@pytest.mark.parametrize("repository", [GITHUB, "https://gitlab.com/a/b/xla", "https://x.googlesource.com/xla"])
def test_generated_addresses_are_parsed_back(repository: str) -> None:
    path = "xla/a b#1?%41;ü.cc"
    url = build_public_url("xla", path, 7, COMMIT, {"xla": find_url_template(repository)})

    found = parse_address(url or "")

    assert found is not None and (found.path, found.line, found.revision) == (path, 7, COMMIT)


def test_addresses_of_project_templates_are_parsed() -> None:
    links = {"kernels": "https://git.example.org/browse/{path}?at={commit}&line={line}"}
    url = build_public_url("kernels", "a/b.cc", 7, COMMIT, links)

    found = parse_address(url or "", links)

    assert found is not None
    assert (found.names, found.path, found.line, found.revision) == (frozenset({"kernels"}), "a/b.cc", 7, COMMIT)
    assert parse_address("https://git.example.org/browse/../../b?at=x&line=1", links) is None


@pytest.mark.parametrize(
    "address",
    [
        "https://example.com/a.cc#L1",
        GITHUB,
        f"{GITHUB}/issues/12",
        f"{GITHUB}/blob/{COMMIT}/../../etc/passwd#L1",
        f"{GITHUB}/blob/{COMMIT}/%2e%2e/%2e%2e/etc/passwd#L1",
        f"{GITHUB}/blob/{COMMIT}/a%00b.cc",
        f"{GITHUB}/blob/--filters/a.cc#L1",
        f"file://github.com/openxla/xla/blob/{COMMIT}/a.cc",
        f"javascript:{GITHUB}/blob/{COMMIT}/a.cc",
        "https://[/blob/main/a.cc",
        f"https://github.com@example.org/openxla/xla/blob/{COMMIT}/a.cc#L1",
        f"https://me:secret@example.org/openxla/xla/blob/{COMMIT}/a.cc#L1",
    ],
)
def test_other_addresses_are_not_lines(address: str) -> None:
    assert parse_address(address) is None


def test_a_source_map_path_is_a_line_of_its_commit() -> None:
    found = parse_source_map_path("xla@5a9e73cbd925:xla/shape.cc", 12)
    assert found is not None and (found.revision, found.path, found.line) == ("5a9e73cbd925", "xla/shape.cc", 12)
    assert found.url == f"{GITHUB}/blob/5a9e73cbd925/xla/shape.cc#L12"

    nearest = parse_source_map_path("xla@5a9e73cbd925+nearest:xla/shape.cc", 12)
    assert nearest is not None and nearest.url == found.url
    changed = parse_source_map_path("xla@5a9e73cbd925+changes:xla/shape.cc", 12)
    assert changed is not None and changed.url is None
    jaxlib = parse_source_map_path("jaxlib@990e6a0b8413:jaxlib/py_array.cc", None)
    assert jaxlib is not None and jaxlib.names == {"jaxlib", "jax"}
    for path in (
        "/src/xla@5a9e73cbd925:xla/shape.cc",
        "xla@5a9e73cbd925:/etc/passwd",
        "xla@5a9e73cbd925:../a",
        "me@x:y",
    ):
        assert parse_source_map_path(path, 1) is None

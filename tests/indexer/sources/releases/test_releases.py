"""The component, version and commit of recorded paths, and their public addresses."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from framedex.model import Capture, CodeObject, LaunchInfo, Metadata, Module
from framedex.sources.releases import Build, build_public_url, find_builds, find_published_file, read_release_commits
from tests.gitrepository import git, make_checkout
from tests.indexer.recorded import Project

XLA_0_10_2 = "5a9e73cbd92530cac2ac36f4736a774b2412afe2"
JAX_0_10_2 = "990e6a0b84138346e6a38785412f36356e0e5dc3"
SITE = "/other/lib/python3.11/site-packages"


def _capture(project: Project, paths: list[str], metadata: Metadata) -> Capture:
    codes = tuple(CodeObject(path, "f", 1, b"") for path in paths)
    return replace(project.capture, codes=codes, modules=(), metadata=metadata)


def test_every_release_has_two_commits() -> None:
    assert read_release_commits("0.10.2") == {"xla": XLA_0_10_2, "jax": JAX_0_10_2}
    assert read_release_commits("99.0") == {}


def test_the_table_is_generated_from_the_tags_of_a_jax_checkout(tmp_path: Path) -> None:
    checkout = tmp_path / "jax"
    old, new = "a" * 40, "b" * 40
    workspace = f'    urls = tf_mirror_urls("https://github.com/openxla/xla/archive/{old}.tar.gz"),\n'
    first = make_checkout(checkout, {"WORKSPACE": workspace})
    git(checkout, "tag", "jaxlib-v0.4.9")
    git(checkout, "tag", "nightly-jax-v0.5")
    second = make_checkout(checkout, {"third_party/xla/revision.bzl": f'# pinned\nXLA_COMMIT = "{new}"\n'})
    git(checkout, "tag", "-a", "jax-v0.4.10", "-m", "released together")
    released = [("0.4.9", {"jax": first, "xla": old}), ("0.4.10", {"jax": second, "xla": new})]
    assert _table(checkout) == released
    make_checkout(checkout, {"jax/version.py": '_version = "0.4.10"\n'})
    assert _table(checkout) == released


def test_a_development_version_has_the_name_that_jax_gives_it(tmp_path: Path) -> None:
    checkout = tmp_path / "jax"
    pinned = {"third_party/xla/revision.bzl": f'XLA_COMMIT = "{"b" * 40}"\n'}
    make_checkout(checkout, {**pinned, "jax/version.py": '_version = "0.11.0"\n'})
    git(checkout, "tag", "jax-v0.11.0")
    commit = make_checkout(checkout, {"jax/version.py": '_version = "0.11.1"\n'})
    *_, (version, commits) = _table(checkout)
    assert re.fullmatch(rf"0\.11\.1\.dev\d{{8}}\+{commit[:9]}", version)
    assert commits == {"jax": commit, "xla": "b" * 40}


def _table(checkout: Path) -> list[tuple[str, dict[str, str]]]:
    script = Path(__file__).parents[4] / "scripts" / "make_release_commits.py"
    target = checkout.with_name("commits.json")
    subprocess.run([sys.executable, script, checkout, target], check=True)
    return list(json.loads(target.read_text())["jaxlib"].items())


def test_the_installed_jaxlib_states_its_own_version(project: Project) -> None:
    spec = importlib.util.find_spec("jaxlib")
    assert spec is not None and spec.origin is not None
    folder = Path(spec.origin).parent
    version = importlib.metadata.version("jaxlib")
    library = next(folder.glob("*.so"))
    modules = (Module(str(library), 0, 1, None, ""),)
    metadata = Metadata(started_unix_ns=4_000_000_000_000_000_000)
    builds = find_builds(replace(project.capture, codes=(), modules=modules, metadata=metadata))
    assert [(build.component, build.version, build.folder) for build in builds] == [
        ("jaxlib", version, str(folder)),
        ("xla", version, str(folder)),
    ]
    if known := read_release_commits(version):
        assert [build.revision for build in builds] == [known["jax"], known["xla"]]


def test_packages_installed_after_the_recording_are_ignored(project: Project, tmp_path: Path) -> None:
    site = tmp_path / "site-packages"
    (site / "jax-0.10.2.dist-info").mkdir(parents=True)
    code = f"{site}/jax/_src/api.py"
    assert find_builds(_capture(project, [code], Metadata(started_unix_ns=1))) == []
    (build,) = find_builds(_capture(project, [code], Metadata(started_unix_ns=4_000_000_000_000_000_000)))
    assert build == Build("jax", "0.10.2", JAX_0_10_2, f"{site}/jax")


def test_the_launchers_versions_apply_to_a_foreign_capture(project: Project) -> None:
    launch = LaunchInfo(packages={"jax": "0.12.0.1", "jaxlib": "0.10.2"})
    paths = [f"{SITE}/jax/_src/api.py", f"{SITE}/jaxlib/xla_client.py", "/other/lib/python3.11/json/decoder.py"]
    python = "3.11.7 (main, May  9 2026, 07:35:25) [GCC 12.2.0]"
    assert find_builds(_capture(project, paths, Metadata(launch=launch, python=python))) == [
        Build("jax", "0.12.0.1", "jax-v0.12.0.1", f"{SITE}/jax"),
        Build("jaxlib", "0.10.2", JAX_0_10_2, f"{SITE}/jaxlib"),
        Build("xla", "0.10.2", XLA_0_10_2, f"{SITE}/jaxlib"),
        Build("cpython", "3.11.7", "v3.11.7", "/other/lib/python3.11"),
    ]


def test_odd_paths_do_not_raise(project: Project) -> None:
    assert find_builds(_capture(project, ["", "\0/site-packages/jax/b.py"], Metadata())) == []


BUILDS = [
    Build("jax", "0.10.2", "jaxcommit", f"{SITE}/jax"),
    Build("jaxlib", "0.10.2", "libcommit", f"{SITE}/jaxlib"),
    Build("xla", "0.10.2", "xlacommit", f"{SITE}/jaxlib"),
    Build("cpython", "3.11.7", "v3.11.7", "/other/lib/python3.11"),
]


@pytest.mark.parametrize(
    ("recorded", "where"),
    [
        (f"{SITE}/jax/_src/api.py", "jax jaxcommit jax/_src/api.py"),
        (f"{SITE}/jaxlib/xla_client.py", "jaxlib libcommit jaxlib/xla_client.py"),
        (f"{SITE}/jaxlib/mlir/ir.py", None),
        (f"{SITE}/numpy/core.py", None),
        ("/other/lib/python3.11/json/decoder.py", "cpython v3.11.7 Lib/json/decoder.py"),
        ("/proc/self/cwd/external/xla/xla/pjrt/x.cc", "xla xlacommit xla/pjrt/x.cc"),
        ("external/+_repo_rules+xla/xla/pjrt/x.cc", "xla xlacommit xla/pjrt/x.cc"),
        ("external/xla~/xla/pjrt/x.cc", "xla xlacommit xla/pjrt/x.cc"),
        ("external/com_google_absl/absl/log/log.h", None),
        ("external/xla/xla/service/hlo.pb.h", None),
        ("/proc/self/cwd/bazel-out/k8-opt/bin/external/xla/xla/x.h", None),
        ("jaxlib/py_array.cc", "jaxlib libcommit jaxlib/py_array.cc"),
        ("/tmp/build/Python-3.11.7/Python/ceval.c", "cpython v3.11.7 Python/ceval.c"),
        ("/home/me/xla/mine.cc", None),
        ("/home/me/program.py", None),
        ("", None),
    ],
)
def test_a_recorded_path_is_converted_to_a_repository_path(recorded: str, where: str | None) -> None:
    found = find_published_file(recorded, BUILDS)
    assert (f"{found.component} {found.revision} {found.path}" if found else None) == where


def test_without_a_known_commit_there_is_no_public_url() -> None:
    assert find_published_file("external/xla/xla/x.cc", [Build("xla", "99", "", "/x")]) is None
    assert find_published_file("external/xla/xla/x.cc", []) is None


def test_urls_are_safe_and_setting_templates_come_first() -> None:
    assert build_public_url("xla", "xla/a b#\n\udcff.cc", 3, "c0ffee") == (
        "https://github.com/openxla/xla/blob/c0ffee/xla/a%20b%23%0A%3F.cc#L3"
    )
    mine = {"xla": "https://example.org/{path}?l={line}"}
    assert (
        build_public_url("xla", "{commit}{0.x}", 3, "c0ffee", mine) == "https://example.org/%7Bcommit%7D%7B0.x%7D?l=3"
    )
    assert build_public_url("unknown", "x", 1, "c") is None
    assert build_public_url("xla", "xla/a/../b.cc", 3, "c0ffee") == (
        "https://github.com/openxla/xla/blob/c0ffee/xla/b.cc#L3"
    )
    for path, revision in (("xla/../../../../evil/x", "c0ffee"), ("x.cc", "../../../evil/x/blob/main")):
        assert build_public_url("xla", path, 3, revision) is None

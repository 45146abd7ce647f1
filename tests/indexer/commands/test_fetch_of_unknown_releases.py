"""`framedex sources fetch` of a jaxlib newer than framedex: the fetched JAX pins the XLA commit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Index
from framedex.model import CodeObject, LaunchInfo
from tests.gitrepository import git, make_checkout
from tests.gitserver import served
from tests.indexer.recorded import Project

MODULE = """\
bazel_dep(name = "xla")
archive_override(
    module_name = "xla",
    urls = ["https://github.com/openxla/xla/archive/{commit}.tar.gz"],
)
"""
PINS = {
    "MODULE.bazel": MODULE,
    "third_party/xla/revision.bzl": 'XLA_COMMIT = "{commit}"\n',
    "WORKSPACE": 'urls = tf_mirror_urls("https://github.com/openxla/xla/archive/{commit}.tar.gz"),\n',
}


@dataclass(frozen=True)
class Release:
    """A recorded project with jaxlib 99.1.0, and the served commits of its JAX and XLA."""

    folder: Path
    jax: str
    xla: str

    def checkout(self, component: str) -> Path:
        return Path(os.environ["XDG_CACHE_HOME"], "framedex", "sources", component, getattr(self, component))


def sources(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["sources", *arguments])


def _serve(folder: Path, name: str, files: Mapping[str, str]) -> str:
    commit = make_checkout(folder / name, files)
    git(folder, "clone", "-q", "--bare", str(folder / name), str(folder / "served" / f"{name}.git"))
    git(folder / "served" / f"{name}.git", "config", "uploadpack.allowFilter", "true")
    return commit


@pytest.fixture
def release(
    request: pytest.FixtureRequest, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Release]:
    """The test's marker names the file that pins XLA: a key of `PINS`, or None."""
    pin: str | None = request.param
    (tmp_path / "served").mkdir()
    xla = _serve(tmp_path, "xla", {"xla/pjrt/pjrt_client.h": "int run() { return 1; }\n", "WORKSPACE": "# of XLA\n"})
    pins = {pin: PINS[pin].format(commit=xla)} if pin else {}
    jax = _serve(tmp_path, "jax", {"jax/_src/api.py": "def jit(): pass\n", **pins})
    site = tmp_path / "site-packages" / "jaxlib"
    site.mkdir(parents=True)
    (site / "version.py").write_text(f'__version__ = "99.1.0"\n_git_hash: str = "{jax}"\n')
    capture = project.capture
    codes = (*capture.codes, CodeObject(f"{site}/xla_client.py", "unused", 1, b""))
    metadata = replace(capture.metadata, launch=LaunchInfo(packages={"jaxlib": "99.1.0"}))
    replace(project, capture=replace(capture, codes=codes, metadata=metadata)).ingest().close()
    monkeypatch.chdir(project.folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with served(tmp_path / "served") as server:
        mirrors = "".join(f'{name} = "{server.address}/{name}.git"\n' for name in ("jax", "xla"))
        (project.folder / "framedex.toml").write_text(f"[mirrors]\n{mirrors}")
        yield Release(project.folder, jax, xla)


@pytest.mark.parametrize("release", PINS, indirect=True)
def test_xla_is_fetched_at_the_commit_that_jax_names(release: Release) -> None:
    plan = sources("fetch")
    assert plan.exit_code == 1 and "Nothing was fetched" in plan.stderr
    assert f"JAX {release.jax[:12]} names" in plan.stdout
    assert not release.checkout("jax").exists()

    done = sources("fetch", "--yes", "--mirrors")
    assert done.exit_code == 0, done.stderr
    assert (release.checkout("xla") / "xla" / "pjrt" / "pjrt_client.h").is_file()
    with Index.open(release.folder / ".framedex" / "index.db") as index:
        assert {root.path for root in index.sources.roots()} >= {str(release.checkout(each)) for each in ("jax", "xla")}


@pytest.mark.parametrize("release", ["MODULE.bazel"], indirect=True)
def test_the_commit_is_known_once_jax_is_fetched(release: Release) -> None:
    assert f"JAX {release.jax[:12]} pins the commit" in sources().stdout
    sources("fetch", "--yes", "--mirrors")
    shown = sources().stdout
    assert "does not know" not in shown and "pins the commit" not in shown
    again = sources("fetch")
    assert again.exit_code == 0 and "at the recorded commits" in again.stderr


@pytest.mark.parametrize("release", ["third_party/xla/revision.bzl"], indirect=True)
def test_maps_replace_the_fetched_trees(release: Release) -> None:
    done = sources("fetch", "--map", "--yes", "--mirrors")
    assert done.exit_code == 0, done.stderr
    for component in ("jax", "xla"):
        assert not release.checkout(component).exists()
        assert release.checkout(component).with_name(f"{getattr(release, component)}.fdmap").is_file()
    with Index.open(release.folder / ".framedex" / "index.db") as index:
        known = {(each.component, each.commit, each.is_dirty) for each in index.sources.maps()}
        assert known == {("jax", release.jax, False), ("xla", release.xla, False)}
        assert index.sources.roots() == []
    again = sources("fetch", "--map")
    assert again.exit_code == 0 and f"XLA {release.xla[:12]} is here already: " in again.stdout
    assert sources("fetch", "--list").stdout.count(".fdmap") == 2
    refused = sources("fetch")  # trees need another step, and the XLA commit is still known
    assert refused.exit_code == 1 and f"XLA {release.xla[:12]}" in refused.stdout
    assert sources("fetch", "--yes", "--mirrors").exit_code == 0 and release.checkout("xla").is_dir()
    assert "replaces" in sources("fetch", "--map", "xla").stderr and release.checkout("xla").is_dir()


@pytest.mark.parametrize("release", [None], indirect=True)
def test_a_jax_without_a_pin_is_reported_with_its_files(release: Release) -> None:
    result = sources("fetch", "--yes", "--mirrors")
    assert result.exit_code == 1
    assert release.checkout("jax").is_dir() and not release.checkout("xla").parent.exists()
    assert "names no XLA commit in third_party/xla/revision.bzl" in result.stderr
    assert "`framedex sources fetch xla@COMMIT`" in result.stderr


@pytest.mark.parametrize("release", ["MODULE.bazel"], indirect=True)
def test_a_jax_that_cannot_be_fetched_leaves_the_commit_unknown(release: Release) -> None:
    (release.folder / "framedex.toml").write_text('[mirrors]\njax = "/nowhere/jax"\nxla = "/nowhere/xla"\n')
    result = sources("fetch", "--yes", "--mirrors")
    assert result.exit_code == 1 and "/nowhere/" in result.stderr
    assert not release.checkout("xla").exists()

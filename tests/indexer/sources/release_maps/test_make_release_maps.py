"""The script that builds the release maps, with synthetic repositories; and the shipped maps."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from framedex.sources.release_maps import open_release_maps
from framedex.sources.release_maps.reader import SHIPPED
from framedex.sources.releases import list_known_releases, read_release_commits
from tests.gitrepository import git, make_checkout

SCRIPT = Path(__file__).parents[4] / "scripts" / "make_release_maps.py"
XLA = {
    "xla/client.cc": "#define MAYBE(x) x\nnamespace xla { void Client::Run() { Execute(); } }\n",
    "xla/client_test.cc": "void Test() {}\n",
    "xla/tests/run.cc": "void Test() {}\n",
    "xla/shape.proto": 'syntax = "proto3";\nmessage Shape {}\n',
    "xla/build.py": "def build(): pass\n",
    **{
        f"xla/many/file_{number}.cc": f"static Registered r{number} = F();\nint f{number}() {{ return g(); }}\n"
        for number in range(40)
    },
}
JAX = {
    "jaxlib/ffi.cc": "namespace jax { void Call() { MAYBE(Run()); } }\n",
    "jaxlib/cuda/plugin.h": "inline int Plugin() { return Load(); }\n",
    "examples/ffi/example.cc": "void Example() {}\n",
    "jax/api.py": "def jit(): pass\n",
}


@pytest.fixture
def repositories(tmp_path: Path) -> Path:
    """A folder with `xla`, `jax`, and `commits.json` with three releases, one of which is no longer supported."""
    commits = {}
    for version, line in (("0.5.0", "// old\n"), ("0.8.0", ""), ("0.8.1", "// new\n")):
        xla = make_checkout(tmp_path / "xla", {**XLA, "xla/client.cc": line + XLA["xla/client.cc"]})
        jax = make_checkout(tmp_path / "jax", {**JAX, "jaxlib/version.h": f"// {version}\n"})
        commits[version] = {"jax": jax, "xla": xla}
    (tmp_path / "commits.json").write_text(json.dumps({"jaxlib": commits}))
    return tmp_path


def make(folder: Path, output: Path, **process: object) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        SCRIPT,
        folder / "xla",
        folder / "jax",
        "--commits",
        folder / "commits.json",
        "-o",
        output,
    ]
    return subprocess.run(command, capture_output=True, text=True, **process)  # type: ignore[call-overload, no-any-return]


@pytest.mark.exhaustive
def test_equal_repositories_give_equal_bytes_however_they_are_read(repositories: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.fdmaps", tmp_path / "second.fdmaps"
    assert make(repositories, first).returncode == 0
    other = tmp_path / "elsewhere"
    other.mkdir()
    for name in ("jax", "xla"):
        git(tmp_path, "clone", "-q", "--bare", str(repositories / name), str(other / name))
    (other / "commits.json").write_bytes((repositories / "commits.json").read_bytes())
    one_processor = {min(os.sched_getaffinity(0))}
    made = make(
        other,
        second,
        cwd=other,
        env={**os.environ, "LC_ALL": "C", "TZ": "Asia/Tokyo", "PYTHONHASHSEED": "7", "TMPDIR": str(other)},
        preexec_fn=lambda: os.sched_setaffinity(0, one_processor),
    )
    assert made.returncode == 0, made.stderr
    assert second.read_bytes() == first.read_bytes()
    assert second.with_suffix(".json").read_bytes() == first.with_suffix(".json").read_bytes()


def test_files_outside_any_library_are_omitted(repositories: Path, tmp_path: Path) -> None:
    output = tmp_path / "made.fdmaps"
    assert make(repositories, output).returncode == 0
    maps = open_release_maps(output)
    assert maps.releases == ("0.8.0", "0.8.1")
    xla, jaxlib = maps.nearest("xla", "0.8.0"), maps.nearest("jaxlib", "0.8.0")
    assert xla is not None and jaxlib is not None
    assert [path for path in xla.paths() if "many" not in path] == ["xla/client.cc", "xla/shape.proto"]
    assert jaxlib.paths() == ["jaxlib/cuda/plugin.h", "jaxlib/ffi.cc"]
    assert xla.info.repository == "https://github.com/openxla/xla"
    assert [row[0] for row in xla.file("xla/many/file_7.cc").definitions][:1] == ["_GLOBAL__sub_I_file_7.cc"]


def test_a_clone_without_its_files_is_refused_with_their_names(repositories: Path, tmp_path: Path) -> None:
    content = git(repositories / "xla", "rev-parse", "HEAD:xla/shape.proto")
    (repositories / "xla" / ".git" / "objects" / content[:2] / content[2:]).unlink()
    made = make(repositories, tmp_path / "made.fdmaps")
    assert made.returncode == 1
    assert "lacks the contents of 1 files" in made.stderr and "shape.proto" in made.stderr
    assert not (tmp_path / "made.fdmaps").exists()


def test_the_shipped_maps_have_the_commits_of_their_releases() -> None:
    maps = open_release_maps()
    assert maps.releases[0] == "0.4.13"
    assert {version for version in list_known_releases() if int(version.split(".")[1]) >= 8} == {*maps.releases[1:]}
    for version in maps.releases:
        for component, repository in (("xla", "xla"), ("jaxlib", "jax")):
            found = maps.nearest(component, version)
            assert found is not None and not found.is_nearest
            assert found.info.commit == read_release_commits(version)[repository]


def test_the_shipped_maps_match_their_provenance() -> None:
    told = json.loads(SHIPPED.with_suffix(".json").read_text())
    data = SHIPPED.read_bytes()
    assert (told["bytes"], told["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
    assert len(data) < 12_000_000


def update(folder: Path, output: Path) -> subprocess.CompletedProcess[str]:
    paths = {"jax": folder / "jax", "xla": folder / "xla", "commits": folder / "commits.json", "maps": output}
    options = [str(word) for name, path in paths.items() for word in (f"--{name}", path)]
    command = [sys.executable, str(SCRIPT.with_name("update_release_maps.py")), str(folder / "clones"), *options]
    environment = os.environ | {"GITHUB_OUTPUT": str(folder / "output")}
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_only_a_new_jax_tag_creates_new_maps(repositories: Path, tmp_path: Path) -> None:
    output = tmp_path / "made.fdmaps"
    before = (repositories / "commits.json").read_bytes()
    for version in ("0.8.0", "0.8.1"):
        git(repositories / "jax", "tag", f"jax-v{version}")
    unchanged = update(repositories, output)
    assert unchanged.returncode == 0 and unchanged.stdout == "No release of jaxlib is new.\n"
    assert (repositories / "commits.json").read_bytes() == before
    assert not output.exists() and not (repositories / "clones").exists()

    xla = git(repositories / "xla", "rev-parse", "HEAD")
    make_checkout(repositories / "jax", {**JAX, "third_party/xla/revision.bzl": f'XLA_COMMIT = "{xla}"\n'})
    git(repositories / "jax", "tag", "-a", "jaxlib-v0.9.0", "-m", "released")
    (repositories / "clones").mkdir()
    done = update(repositories, output)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("New: 0.9.0.\n") and (repositories / "output").read_text() == "releases=0.9.0\n"
    found = open_release_maps(output).nearest("xla", "0.9.0")
    assert found is not None and (found.is_nearest, found.info.commit) == (False, xla)

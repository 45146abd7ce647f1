"""Builds of a tag with the real build back end: files of its version, and their version when installed.

Without native code, as on a platform without a wheel of its own: the version comes from the same source.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.gitrepository import git

REPOSITORY = Path(__file__).parents[2]
BUILD = """
import sys
from scikit_build_core.build import build_sdist, build_wheel
form, folder = sys.argv[1:]
build_sdist(folder) if form == "sdist" else build_wheel(folder, {"wheel.cmake": "false"})
"""

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(not (REPOSITORY / ".git").exists(), reason="these sources are no checkout"),
]


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution of this commit, tagged v97.0.1, and the wheel built from its unpacked files."""
    folder = tmp_path_factory.mktemp("release")
    # The copy has its tags, which may be of this commit: this one is higher.
    git(folder, "-c", "safe.directory=*", "clone", "-q", str(REPOSITORY), "checkout")
    git(folder / "checkout", "tag", "v97.0.1")
    build("sdist", folder / "checkout", folder / "dist")
    with tarfile.open(folder / "dist" / "framedex-97.0.1.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    build("wheel", folder / "framedex-97.0.1", folder / "dist")
    return folder / "dist"


def build(form: str, sources: Path, into: Path) -> None:
    done = subprocess.run([sys.executable, "-c", BUILD, form, into], cwd=sources, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def check(dist: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """The result of the tagged checkout's own check on a folder of files."""
    script = dist.parent / "checkout" / "scripts" / "release" / "check_dist.py"
    return subprocess.run([sys.executable, script, folder], capture_output=True, text=True)


def test_source_distribution_and_wheel_have_the_version_of_the_tag(dist: Path) -> None:
    assert {file.name for file in dist.iterdir()} == {"framedex-97.0.1-py3-none-any.whl", "framedex-97.0.1.tar.gz"}
    done = check(dist, dist)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_wheel_knows_its_version_without_metadata(dist: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(dist / "framedex-97.0.1-py3-none-any.whl") as wheel:
        wheel.extractall(tmp_path)
        assert b"\nVersion: 97.0.1\n" in wheel.read("framedex-97.0.1.dist-info/METADATA")
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); from framedex.base.version import VERSION;"
        "print(VERSION, 'importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-I", "-S", "-c", program, tmp_path], capture_output=True, text=True)
    assert done.stdout == "97.0.1 False\n", done.stderr


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("framedex-96.0.0-py3-none-any.whl", "is not of version 97.0.1, the version of these sources"),
        ("framedex-97.0.1.dev3+g1a2b3c4d.tar.gz", "is not of version 97.0.1, the version of these sources"),
        ("framedex.vsix", "is neither a source distribution nor a wheel of framedex"),
        ("other-97.0.1-py3-none-any.whl", "is neither a source distribution nor a wheel of framedex"),
    ],
)
def test_unexpected_files_are_refused_before_publishing(dist: Path, tmp_path: Path, name: str, problem: str) -> None:
    for file in (*(file.name for file in dist.iterdir()), name):
        (tmp_path / file).touch()
    done = check(dist, tmp_path)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert done.stderr.startswith(f"{tmp_path.name}: {name} {problem}")


def test_an_incomplete_release_is_refused(dist: Path, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nowhere"):
        done = check(dist, folder)
        assert done.returncode == 1 and "make sdist" in done.stderr and "make wheels" in done.stderr

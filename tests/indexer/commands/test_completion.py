"""TAB in real shells: the offers, hostile names as plain words, and the installed files."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.completing.shells import find_matching_files
from framedex.commands.main import cli
from tests.indexer.privileges import dropping_privileges
from tests.indexer.recorded import Project
from tests.running import plain_environment

FRAMEDEX = str(Path(sys.executable).with_name("framedex"))
SHELLS = ("bash", "zsh", "fish")
# Names that a shell must treat as plain words; names with a line break are never offered.
HOSTILE = (
    "evil1$(touch pwned)",
    "evil2`touch pwned`",
    "evil3;touch pwned",
    "evil4'q\"uote",
    "evil5::scope(int*)",
    "evil6 *",
)
UNSEEN = ("evil7\ntouch pwned", "evil8\x1b[31m", "evil9\u202e")
_PATIENCE = 60.0  # seconds


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A user's home."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def indexed(project: Project) -> Project:
    """An indexed project with hostile names."""
    project.ingest().close()
    connection = sqlite3.connect(project.folder / ".framedex" / "index.db")
    (function,) = connection.execute("SELECT max(id) FROM functions").fetchone()
    columns = [
        row[1] for row in connection.execute("PRAGMA table_info(functions)") if row[1] not in ("id", "short_name")
    ]
    for number, name in enumerate((*HOSTILE, *UNSEEN), 1):
        values = ", ".join("?1" if column == "name" else column for column in columns)
        connection.execute(
            f"INSERT INTO functions (id, short_name, {', '.join(columns)})"
            f" SELECT {function + number}, ?1, {values} FROM functions WHERE id = {function}",
            (name,),
        )
    connection.commit()
    connection.close()
    return project


def shell_or_skip(shell: str) -> str:
    """The path of a shell."""
    found = shutil.which(shell)
    if found is None:
        pytest.skip(f"there is no {shell} here: `apt-get install {shell}` brings it")
    return found


def environment(home: Path, **more: str) -> dict[str, str]:
    """A user with all folders below a home folder."""
    kept = {
        name: value for name, value in plain_environment().items() if not name.startswith(("XDG_", "ZDOTDIR", "BASH_"))
    }
    path = os.pathsep.join([str(Path(FRAMEDEX).parent), kept["PATH"]])
    return kept | {"HOME": str(home), "PATH": path, "TERM": "xterm", "PS1": "> ", "LC_ALL": "C.UTF-8"} | more


def framedex(*arguments: str, home: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run framedex as this user in this process."""
    variables = environment(home, **more)
    hidden = dict.fromkeys(os.environ.keys() - variables.keys())
    with contextlib.chdir(home):
        done = CliRunner(env=hidden | variables).invoke(cli, arguments, prog_name="framedex")
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


# Replaces framedex: it prints its arguments and exits. TAB calls the real one by its path.
INSTEAD = {
    "bash": "framedex() { printf '%s\\0' \"$@\" > ~/words; echo '[''end'']'; }\n",
    "zsh": "framedex() { printf '%s\\0' \"$@\" > ~/words; echo '[''end'']' }\n",
    "fish": "function framedex; printf '%s\\0' $argv > ~/words; echo '[''end'']'; end\n",
}


class Typist:
    """A shell in a folder, with completion installed."""

    def __init__(self, shell: str, home: Path, folder: Path) -> None:
        program = shell_or_skip(shell)
        assert framedex("completion", "install", shell, home=home).returncode == 0
        self._words = home / "words"
        self._child, self._terminal = pty.fork()
        if self._child == 0:
            os.chdir(folder)
            os.execve(program, [shell, "-i"], environment(home))
        os.write(self._terminal, INSTEAD[shell].encode())

    def types(self, keys: str) -> list[str]:
        """The arguments that framedex receives for these keys and Enter."""
        os.write(self._terminal, f"{keys}\n".encode())
        shown, until = "", time.monotonic() + _PATIENCE
        while "[end]" not in shown:
            ready, _, _ = select.select([self._terminal], [], [], max(until - time.monotonic(), 0))
            assert ready, f"it shows {shown!r} only"
            shown += os.read(self._terminal, 65_536).decode(errors="replace")
        return self._words.read_text().split("\0")[:-1]

    def __enter__(self) -> Typist:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._terminal)
        os.kill(self._child, signal.SIGKILL)
        os.waitpid(self._child, 0)


def offered(*words: str) -> list[str]:
    """The completions offered to the shell for the last word after `framedex`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["framedex", *words])
        told = CliRunner(env={"_FRAMEDEX_COMPLETE": "fish_complete"}).invoke(cli).stdout
    return [line.partition("\t")[0] for line in told.splitlines() if line]


def test_completion_offers_values_of_the_current_option(indexed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (indexed.folder / "a file.py").write_text("")
    monkeypatch.chdir(indexed.folder)
    expected = {
        ("calle",): ["callers", "callees"],
        ("sources", "exp"): ["export"],
        ("calls", "--functi"): ["--function"],
        ("calls", "--capture", ""): ["1", "latest", "all"],
        ("fleet", "pull", "--capture", "la"): [],  # for stores, not the index
        ("captures", "rm", ""): ["1"],
        ("share", "1"): ["1"],
        ("calls", "--through", "trans"): ["transfer"],
        ("calls", "--through", "dem"): ["demo.py"],
        ("callees", "trans"): ["transfer"],
        ("where", "dem"): ["demo.py"],
        ("trace", "PJRT_Cl"): ["PJRT_Client_BufferFromHostBuffer"],
        ("run", "a f"): ["a file.py"],
    }
    assert {words: offered(*words) for words in expected} == expected


@pytest.mark.parametrize("shell", SHELLS)
def test_a_tab_completes_an_option_and_quotes_a_name(shell: str, indexed: Project, home: Path) -> None:
    with Typist(shell, home, indexed.folder) as typist:
        assert typist.types("framedex calls --functi\tx") == ["calls", "--function", "x"]
        for name in (HOSTILE[0], HOSTILE[3]):
            assert typist.types(f"framedex callees {name[:5]}\t") == ["callees", name]
    assert not list(indexed.folder.glob("*pwned*"))


@pytest.mark.exhaustive
@pytest.mark.parametrize("shell", SHELLS)
def test_tab_completes_in_a_real_shell(shell: str, indexed: Project, home: Path) -> None:
    (indexed.folder / "a file.py").write_text("")
    typed = {
        "framedex calle\te\t x": ["callees", "x"],
        "framedex summ\t": ["summary"],
        "framedex sources exp\tx": ["sources", "export", "x"],
        "framedex calls --functi\tx": ["calls", "--function", "x"],
        "framedex calls --capture 1\t": ["calls", "--capture", "1"],
        "framedex calls --capture la\t": ["calls", "--capture", "latest"],
        "framedex fleet pull --capture la\t": ["fleet", "pull", "--capture", "la"],  # for stores, not the index
        "framedex captures rm \t": ["captures", "rm", "1"],
        "framedex share 1\t": ["share", "1"],
        "framedex calls --through trans\t": ["calls", "--through", "transfer"],
        "framedex calls --through dem\t": ["calls", "--through", "demo.py"],
        "framedex callees trans\t": ["callees", "transfer"],
        "framedex where dem\t": ["where", "demo.py"],
        "framedex trace PJRT_Cl\t": ["trace", "PJRT_Client_BufferFromHostBuffer"],
        "framedex run 'a f\t": ["run", "a file.py"],
        "framedex run a\\ f\t": ["run", "a file.py"],
    }
    with Typist(shell, home, indexed.folder) as typist:
        assert {keys: typist.types(keys) for keys in typed} == typed


@pytest.mark.exhaustive
@pytest.mark.parametrize("shell", SHELLS)
def test_a_hostile_name_stays_one_word(shell: str, indexed: Project, home: Path) -> None:
    """Functions named as commands are completed and entered as single words."""
    with Typist(shell, home, indexed.folder) as typist:
        assert [typist.types(f"framedex callees {name[:5]}\t") for name in HOSTILE] == [
            ["callees", name] for name in HOSTILE
        ]
    assert not list(indexed.folder.glob("*pwned*"))


@pytest.mark.exhaustive(keep=["bash"])
@pytest.mark.parametrize("shell", SHELLS)
def test_invisible_names_are_not_offered(shell: str, indexed: Project) -> None:
    asked = ["framedex callees evil", ":="] if shell == "bash" else ["callees", "evil"]
    done = subprocess.run(
        [FRAMEDEX, *asked], env=plain_environment() | {"_FRAMEDEX_COMPLETE": f"{shell}_complete"}, cwd=indexed.folder,
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (0, "", len(HOSTILE))


@pytest.mark.parametrize("shell", SHELLS)
def test_installing_twice_and_removing_restores_everything(shell: str, home: Path) -> None:
    before = {".bashrc": b"alias ll='ls -l'\n# no line break at the end: \xff", ".zshrc": b"setopt autocd\n"}
    for name, content in before.items():
        (home / name).write_bytes(content)
        (home / name).chmod(0o640)
    done = framedex("completion", "install", shell, home=home)
    assert done.returncode == 0, done.stderr
    after = _contents(home)
    assert framedex("completion", "install", shell, home=home).returncode == 0
    assert _contents(home) == after
    for name, content in before.items():
        assert after[name].startswith(content) and (home / name).stat().st_mode & 0o777 == 0o640
    removed = framedex("completion", "remove", home=home)
    assert removed.returncode == 0
    left = _contents(home)
    assert {name: content.rstrip(b"\n") for name, content in left.items()} == {
        name: content.rstrip(b"\n") for name, content in before.items()
    }
    assert "No completion is installed." in framedex("completion", "remove", home=home).stderr


@pytest.mark.parametrize("shell", SHELLS)
def test_removing_deletes_a_start_up_file_that_installing_created(shell: str, home: Path) -> None:
    assert framedex("completion", "install", shell, home=home).returncode == 0
    assert _contents(home)
    assert framedex("completion", "remove", home=home).returncode == 0
    assert not _contents(home)


def test_a_linked_start_up_file_stays_a_link(home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "zshrc").write_text("setopt autocd\n")
    (home / ".zshrc").symlink_to("dotfiles/zshrc")
    assert framedex("completion", "install", "zsh", home=home).returncode == 0
    assert (home / ".zshrc").is_symlink()
    assert "# completion of framedex" in (home / "dotfiles" / "zshrc").read_text()


def test_an_unwritable_start_up_file_has_a_remedy_for_its_shell(home: Path) -> None:
    (home / ".zshrc").write_text("setopt autocd\n")
    (home / ".zshrc").chmod(0o400)
    command = [*dropping_privileges(), FRAMEDEX, "completion", "install", "zsh"]
    done = subprocess.run(command, env=environment(home), cwd=home, capture_output=True, text=True, timeout=_PATIENCE)
    assert done.returncode == 1 and "`framedex completion show zsh`" in done.stderr


def test_the_default_shell_is_the_users(home: Path) -> None:
    assert "fish" in framedex("completion", "install", home=home, SHELL="/usr/bin/fish").stderr
    done = framedex("completion", "install", home=home, SHELL="/bin/tcsh")
    assert (done.returncode, "Your shell, tcsh, is not supported." in done.stderr) == (1, True)


@pytest.mark.parametrize("shell", SHELLS)
def test_the_displayed_script_is_valid_in_its_shell(shell: str, home: Path) -> None:
    shown = framedex("completion", "show", shell, home=home).stdout
    checked = subprocess.run([shell_or_skip(shell), "-n"], input=shown, capture_output=True, text=True)
    assert (checked.returncode, checked.stderr) == (0, "")


@pytest.mark.exhaustive(keep=["damaged", "locked"])
@pytest.mark.parametrize("index", ["none", "damaged", "newer", "locked"])
def test_an_unreadable_index_completes_nothing_silently(index: str, project: Project, home: Path) -> None:
    path = project.folder / ".framedex" / "index.db"
    if index != "none":
        project.ingest().close()
    if index == "damaged":
        path.write_bytes(path.read_bytes()[:5000])
    connection = sqlite3.connect(path) if index in ("newer", "locked") else None
    if connection is not None:
        connection.execute("PRAGMA user_version = 999" if index == "newer" else "BEGIN EXCLUSIVE")
    before = _contents(project.folder)
    done = subprocess.run(
        [FRAMEDEX, "callees", ""], env=environment(home, _FRAMEDEX_COMPLETE="zsh_complete"), cwd=project.folder,
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert {name for name in _contents(project.folder) if not name.endswith("-shm")} <= set(before)
    if connection is not None:
        connection.close()


def test_files_are_completed_as_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "folder" / ".hidden").mkdir(parents=True)
    (tmp_path / "folder" / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    assert list(find_matching_files("f", only_folders=False)) == ["folder/"]
    assert list(find_matching_files("./folder/", only_folders=False)) == ["./folder/file"]
    assert list(find_matching_files("folder/.", only_folders=True)) == ["folder/.hidden/"]
    assert list(find_matching_files(f"{tmp_path}/nowhere/", only_folders=False)) == []


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}

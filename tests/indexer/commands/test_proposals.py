"""Every suggested command can be typed literally and works: checked by form, and in real situations."""

from __future__ import annotations

import ast
import functools
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

import framedex_server
from framedex.base.plaintext import quote_shell_word
from framedex.commands.inputs.selection import CaptureChoice
from framedex.commands.main import VERBS, cli
from framedex.commands.output.proposals import PROPOSAL
from tests.indexer.commands.small_captures import unpack_capture, write_put
from tests.indexer.recorded import Project
from tests.pythons import ROOT
from tests.running import TIMEOUT, plain_environment

SOURCES = sorted((ROOT / "indexer" / "framedex").rglob("*.py")) + sorted(
    Path(framedex_server.__path__[0]).rglob("*.py")
)
# Texts that are not suggestions: names of formats, marks, and code that prints a heading.
NAMES = {"framedex share", "framedex trace, format 1", "framedex trace", "# Written by `framedex cmake`"}
# A verb outside backquotes that is not part of a path, a name or the beginning of a message.
BARE = re.compile(rf"(?<![`/\w.-])(?<!a )(?<!no )framedex (?:{'|'.join(verb for verb in VERBS if ' ' not in verb)})\b")

# The user's replacement for a word in capitals.
FILLED_IN = {
    "SCRIPT": "program.py",
    "DIR": "sources",
    "FOLDER": "sources",
    "FILE": "other.db",
    "NAME": "main",
    "PATH": sys.executable,
    "PLACE": "program.py:1",
    "ID": "1",
    "FUNCTION": "PJRT_Client_BufferFromHostBuffer",
}
FRAMEDEX = Path(sys.executable).with_name("framedex")


@dataclass(frozen=True)
class Typed:
    """A shell command and its result."""

    command: str
    status: int
    said: str

    @property
    def proposals(self) -> list[str]:
        """The suggested commands in order, with placeholders filled in."""
        told = re.findall(r"`([^`]*\bframedex (?:[^`]+))`|Next: ([^`\n]*\bframedex .+)$", self.said, re.MULTILINE)
        return [" ".join(FILLED_IN.get(word, word) for word in "".join(each).split(" ")) for each in told]


@functools.cache
def texts() -> tuple[tuple[Path, str], ...]:
    """The strings of all files that may suggest a command, except those in NAMES."""
    files = [path for path in SOURCES if "framedex " in path.read_text()]
    return tuple((path, text) for path in files for text in texts_of(path) if text not in NAMES)


def texts_of(path: Path) -> Iterator[str]:
    """The strings of a file except docstrings; placeholders become X, or nothing directly after a word."""
    tree = ast.parse(path.read_text())
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, documented)]
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    docstrings |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = ""
            for part in node.values:
                is_text = isinstance(part, ast.Constant)
                text += str(part.value) if is_text else "X" if text.endswith((" ", "`")) else ""  # type: ignore[attr-defined]
            yield text
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings | inner:
            yield node.value


def test_every_proposed_command_has_valid_verb_options_and_arguments() -> None:
    found = [(path, match["words"]) for path, text in texts() for match in PROPOSAL.finditer(text)]
    wrong = [(str(path), words) for path, words in found if not _is_accepted(words)]

    assert len(found) > 60
    assert wrong == []


def test_every_proposed_command_is_in_backquotes() -> None:
    bare = [(str(path), text) for path, text in texts() if BARE.search(text)]
    summaries = {verb.summary for verb in VERBS.values()}

    assert [each for each in bare if each[1] not in summaries] == []


def _is_accepted(words: str) -> bool:
    """Whether the command line accepts the verb and the options, and requires no further arguments."""
    with pytest.MonkeyPatch.context() as patch:
        # `X` stands for a placeholder.
        for kind in (click.Path, click.types.IntParamType, click.Choice, CaptureChoice):
            patch.setattr(kind, "convert", lambda _self, value, _parameter, _context: value)
        try:
            context = cli.make_context("framedex", shlex.split(words.replace("...", "")))
            command: click.Command = cli
            while isinstance(command, click.Group) and context._protected_args:
                name, below, rest = command.resolve_command(context, context._protected_args + context.args)
                assert below is not None
                command, context = below, below.make_context(name, rest, parent=context)
        except click.exceptions.Exit:  # --help
            return True
        except click.UsageError:
            return False
        return command is not cli and not (command.name == "run" and not context.params["program"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a program and a text, without any framedex files."""
    here = tmp_path / "a folder"
    here.mkdir()
    (here / "program.py").write_text("import jax\n\n\ndef main():\n    jax.device_put(1.0)\n\n\nmain()\n")
    (here / "sources").mkdir()
    (here / "sources" / "some.cc").write_text("int some() { return 1; }\n")
    return here


# The command that starts framedex, and whether it is on the PATH.
WAYS = {
    "on the PATH": ("framedex", True),
    "by a path": ("venv/bin/framedex", False),
    "as a module": (f"{quote_shell_word(sys.executable)} -m framedex", False),
}


@pytest.mark.exhaustive(keep=["on the PATH"])
@pytest.mark.parametrize("way", WAYS)
def test_proposed_commands_alone_lead_to_a_first_stack(folder: Path, way: str) -> None:
    """In a folder without an index, following each verb's suggestions leads to a visible stack."""
    (folder / "venv").symlink_to(FRAMEDEX.parents[1])
    called, is_on_path = WAYS[way]
    first = _typed(f"{called} calls", folder, is_on_path)
    assert (first.status, len(first.proposals)) == (1, 2)
    recorded, indexed = (_typed(each, folder, is_on_path) for each in first.proposals)
    shown = [_typed(each, folder, is_on_path) for each in indexed.proposals]

    assert all(each.startswith(called) for each in (*first.proposals, *recorded.proposals, *indexed.proposals))
    assert recorded.proposals == [f"{called} index"]
    assert [each.status for each in (recorded, indexed, *shown)] == [0, 0, 0, 0]
    assert "main" in shown[1].said and "device_put" in shown[1].said


@pytest.mark.exhaustive(keep=["my caps"])
@pytest.mark.parametrize("output", ["my caps", "it's `$(echo x)`", "-o", "a\nb", "../beside"])
def test_external_captures_are_indexed_by_the_proposed_command(folder: Path, output: str) -> None:
    """For captures in a named folder, the suggestions name them, and later captures are indexed from there."""
    write_put(folder / "program.py")
    recorded = _typed(f"framedex run --output={quote_shell_word(output)} program.py", folder)
    (proposed,) = recorded.proposals
    if not output.startswith(".."):
        asked = _typed("framedex index", folder)  # users of the usual command get a hint
        assert (asked.status, asked.proposals) == (1, [proposed])
        assert not (folder / ".framedex").exists()

    assert _typed(proposed, folder).status == 0
    assert _typed("framedex calls", folder).status == 0
    if not output.startswith(".."):
        unpack_capture(folder / output / "20990101-000000-1")
        assert _typed("framedex index", folder).proposals == [proposed]


def test_a_named_index_is_repeated_in_proposals(folder: Path) -> None:
    write_put(folder / "program.py")
    typed = _typed("framedex run program.py; framedex --index 'an index.db' calls", folder)
    assert typed.proposals[-1] == "framedex --index 'an index.db' index"
    indexed = _typed(typed.proposals[-1], folder)

    assert [_typed(each, folder).status for each in indexed.proposals] == [0, 0]
    assert all("--index 'an index.db' " in each for each in indexed.proposals)


def test_rows_have_short_commands_and_stderr_explains_them_once(folder: Path) -> None:
    (folder / "venv").symlink_to(FRAMEDEX.parents[1])
    write_put(folder / "program.py", "put(2)")
    _typed("framedex run program.py; framedex index", folder)
    asked = _typed("venv/bin/framedex where program.py", folder, is_on_path=False)

    assert len(re.findall(r"  framedex trace \d+$", asked.said, re.MULTILINE)) > 1
    assert asked.said.count("Type `venv/bin/framedex` for `framedex` in these rows.") == 1


def test_a_failed_index_creation_does_not_hide_another_index(folder: Path) -> None:
    """If indexing in a subfolder fails, no empty index there hides the one above."""
    below = folder / "below"
    (below / "capture").mkdir(parents=True)
    (below / "capture" / "capture.json").write_text("no capture")
    assert _typed("framedex index capture", below).status == 1
    assert not (below / ".framedex").exists()


# Commands that find nothing, or suggest a next step, in an indexed project.
SITUATIONS = (
    *("captures", "calls", "summary", "check", "ffi", "sources", "doctor", "index", "trace 1", "where demo.py:2"),
    *(
        "trace 999",
        "trace nonsense",
        "calls --capture 9",
        "cals",
        "calls --object nonsense",
        "calls --object buffer#99",
    ),
    *("where nonsense.py", "find ''", "find nonsense", "callers nonsense", "callees nonsense", "open nonsense"),
    *(
        "open /nonsense/x.cc:1",
        "ffi nonsense",
        "sources remove nonsense",
        "sources add sources",
        "index --source sources",
    ),
    *("index --source sources", "index sources", "index --lazy --rebuild", "summary --capture 7"),
    *("--index none.db calls", "trace nonsense.txt"),
)
# Commands that need a network, or wait for an editor.
NOT_HERE = re.compile(r"framedex (?:--index \S+ )?(?:sources fetch|serve|open|demo)\b")


@pytest.mark.exhaustive
def test_proposed_commands_work_in_a_project(project: Project, folder: Path) -> None:
    project.ingest().close()
    for name in ("program.py", "sources"):
        shutil.move(folder / name, project.folder / name)
    proposed: dict[str, str] = {}
    for situation in SITUATIONS:
        for each in _typed(f"framedex {situation}", project.folder).proposals:
            proposed.setdefault(each, situation)
    ended = [_typed(each, project.folder) for each in proposed if not NOT_HERE.match(each)]

    assert len(ended) >= 8
    assert [(each.command, proposed[each.command], each.said) for each in ended if each.status] == []


def _typed(command: str, folder: Path, is_on_path: bool = True) -> Typed:
    """Run a shell command."""
    environment = plain_environment()
    others = [each for each in environment["PATH"].split(":") if each != str(FRAMEDEX.parent)]
    environment["PATH"] = ":".join([str(FRAMEDEX.parent), *others] if is_on_path else others)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return Typed(command, done.returncode, done.stdout + done.stderr)

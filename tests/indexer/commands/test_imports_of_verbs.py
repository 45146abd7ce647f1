"""Modules that reading verbs must not import: nearly all of their time is start-up, and most of that is imports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from framedex.commands.main import VERBS, cli
from tests.indexer.recorded import Project, build_project

# Packages for recording, indexing and serving, and slow modules of the standard library.
NEVER = {
    *("jax", "elftools", "symbolic", "tree_sitter", "sqlite_utils", "lsprotocol", "pygls", "iced_x86"),
    *("framedex.ingest", "framedex.index.write", "framedex.captures", "framedex.dispatch", "framedex.model.capture"),
    *("asyncio", "email", "importlib.metadata", "importlib.resources", "tempfile", "tomllib", "zipfile"),
}
# Packages that some verbs need, and the others must not load.
OF_SOME = {
    *(
        "numpy",
        "socket",
        "subprocess",
        "framedex_native",
        "framedex.binaries",
        "framedex.programs.ffi",
        "framedex.text_stacks",
    ),
    *("framedex.sources.releases", "framedex.sources", "framedex.model.lines", "framedex.model.sources"),
    *("framedex.model.source_trees", "framedex.model.traces"),
}
FRAMES_OF_TEXTS = {
    *("framedex_native", "framedex.binaries", "framedex.text_stacks", "framedex.sources.releases", "framedex.sources"),
    *("framedex.model.sources", "framedex.model.source_trees", "framedex.model.traces"),
}
# For a line without frames, the statement around it must be parsed. The last two are imports of the grammar wheels.
PARSING = {"framedex_native", "framedex.model.sources", "framedex.sources", "importlib.resources", "tempfile"}
NEEDS: dict[str, set[str]] = {
    "--version": set(),
    "--help": set(),
    "run --help": {
        *("framedex.binaries", "framedex.captures", "framedex.model.capture", "framedex_native", "subprocess"),
        *("importlib.metadata", "importlib.resources", "email", "tempfile", "zipfile"),
    },
    "captures": set(),
    "calls": set(),
    "calls --group": set(),
    "calls --json": set(),
    "calls --stack line": set(),
    "summary": {"numpy"},
    "transfers": set(),
    "memory": set(),
    "waits": set(),
    "check": set(),
    "compiles": set(),
    "compiles --startup": {"framedex.sources"},
    "diff 1": {"numpy", "framedex.sources", "framedex.sources.releases"},
    "report -o -": {"numpy", "asyncio", "socket", "subprocess", "tempfile"},
    "export --format csv -o -": set(),
    "export --format speedscope -o -": set(),
    "trace 1": {"framedex.model.traces"},
    "trace 1 --json": {"framedex.model.traces"},
    "where demo.py": {"framedex.model.lines"},
    "where demo.py:2": {"framedex.model.lines"},
    "where demo.py:5": {"framedex.model.lines"} | PARSING,
    "find transfer": {"framedex.model.sources"},
    "callers transfer": set(),
    "callees transfer": set(),
    "open demo.py:1": {"socket", "subprocess"},
    "live": {"framedex.captures", "framedex_native"},
    "hang": {"framedex.captures", "framedex_native"},
    "ranks --job demo": {"framedex.captures", "framedex_native"},
    "ffi": {"framedex.programs.ffi", "framedex.model.traces"},
    "explain log.txt": FRAMES_OF_TEXTS,
    "resolve log.txt": FRAMES_OF_TEXTS,
    "sources": {"subprocess", "framedex.sources", "framedex.sources.releases", "framedex.model.source_trees"},
}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory, library: Path) -> Project:
    """An indexed project, with a log beside it."""
    project = build_project(tmp_path_factory.mktemp("project"), library)
    project.ingest(library.parent).close()
    (project.folder / "log.txt").write_text(f'  File "{project.program}", line 1, in <module>\n')
    return project


@pytest.mark.exhaustive(keep=["--version", "run --help", "calls", "trace 1", "where demo.py:5", "resolve log.txt"])
@pytest.mark.parametrize("verb", NEEDS)
def test_a_verb_imports_only_the_modules_it_uses(indexed: Project, verb: str) -> None:
    imported = _imported_by(indexed, *verb.split())

    assert (NEVER | OF_SOME) & imported <= NEEDS[verb]


def test_the_verb_list_uses_the_first_line_of_each_help() -> None:
    assert {verb: VERBS[verb].summary for verb in VERBS} == {verb: _first_of_help(verb) for verb in VERBS}


def _first_of_help(verb: str) -> str:
    group, _, below = verb.partition(" ")
    command = cli.get_command(click.Context(cli), group)
    if below:
        assert isinstance(command, click.Group)
        command = command.commands[below]
    assert command is not None and command.help is not None
    return " ".join(command.help.split("\n\n")[0].split())


def _imported_by(project: Project, *arguments: str) -> set[str]:
    """The modules that a verb has imported by its end, and their packages."""
    script = (
        "import sys; from framedex.commands.main import cli; cli(sys.argv[1:], standalone_mode=False);"
        " print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=project.folder,
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"FRAMEDEX_EDITOR": "true {file}"},
    )
    return set(done.stderr.splitlines()[-1].split())

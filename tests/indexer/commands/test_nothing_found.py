"""Exit codes of every verb: 1 if nothing was found, 0 if something was, 2 for wrong usage."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framedex.commands.main import VERBS, cli
from tests.indexer.recorded import Project, build_project

Run = Callable[..., Result]

# Arguments that exist and that do not, for each verb; verbs without a search are listed below.
FOUND_AND_NOT = {
    "calls": (("--function", "Buffer"), ("--function", "no_such")),
    "summary": (("--function", "Buffer"), ("--function", "no_such")),
    "trace": (("1",), ("no_such",)),
    "where": (("demo.py:2",), ("demo.py:7",)),
    "find": (("transfer",), ("no_such",)),
    "callers": (("transfer",), ("no_such",)),
    "callees": (("transfer",), ("no_such",)),
    "export": (("--format", "csv", "-o", "-"), ("--format", "csv", "-o", "-", "--function", "no_such")),
    "explain": (("stack.txt",), ("demo.py",)),
}
# These list, create, remove or forward data; `ffi` and `memory` need data that no fixture here has.
LOOK_FOR_NOTHING = {
    *("demo", "run", "index", "import", "ffi", "compiles", "transfers", "memory", "waits", "check", "resolve", "open"),
    *(
        "conform",
        "diff",
        "replay",
        "reduce",
        "share",
        "report",
        "guidebook",
        "cmake",
        "doctor",
        "completion",
        "serve",
        "mcp",
        "core",
        "live",
        "hang",
        "ranks",
    ),
    *(verb for verb in VERBS if verb.startswith(("captures", "fleet", "sources"))),
}
WITH_JSON = ("calls", "summary", "where", "find", "explain")


@pytest.fixture(scope="module")
def asked(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project that is indexed, with a log. Tests only read it."""
    project = build_project(tmp_path_factory.mktemp("asked"), library)
    project.ingest(library.parent).close()
    (project.folder / "stack.txt").write_text(
        f'Traceback (most recent call last):\n  File "{project.program}", line 2, in transfer\n'
    )
    return project.folder


@pytest.fixture
def run(asked: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a verb in that folder."""
    monkeypatch.chdir(asked)
    return lambda *arguments: CliRunner().invoke(cli, arguments)


def test_every_verb_is_tested_for_empty_results() -> None:
    assert FOUND_AND_NOT.keys() | LOOK_FOR_NOTHING == VERBS.keys()


@pytest.mark.parametrize("verb", FOUND_AND_NOT)
def test_the_exit_status_reports_empty_results(run: Run, verb: str) -> None:
    found, missed = (run(verb, *arguments) for arguments in FOUND_AND_NOT[verb])

    assert found.exit_code == 0, found.output
    assert missed.exit_code == 1
    assert missed.stderr.strip()


@pytest.mark.exhaustive(keep=["calls", "where"])
@pytest.mark.parametrize("verb", WITH_JSON)
def test_json_output_has_a_document_and_the_status(run: Run, verb: str) -> None:
    result = run(verb, *FOUND_AND_NOT[verb][1], "--json")

    assert result.exit_code == 1
    assert isinstance(json.loads(result.stdout), dict)
    assert result.stderr.strip()


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("calees", "f"), "'callees'"),
        (("SUMARY",), "'summary'"),
        (("calls", "--captrue", "1"), "--capture"),
        (("summary", "--sort", "mena"), "'mean'"),
        (("check", "--only", "Leek"), "'leak'"),
        (("demo.py",), "`framedex run demo.py`"),
        (("xyzzy",), "`framedex --help`"),
    ],
)
def test_a_mistyped_name_proposes_the_intended_one(run: Run, arguments: tuple[str, ...], meant: str) -> None:
    result = run(*arguments)

    assert result.exit_code == 2
    assert meant in result.stderr


@pytest.mark.parametrize("options", [(), ("--function", "PJRT")])
def test_captures_without_calls_are_named(project: Project, options: tuple[str, ...]) -> None:
    project.ingest().close()
    calls = project.capture.calls
    none = replace(calls, **{each.name: getattr(calls, each.name)[:0] for each in fields(calls)})
    project.ingest(capture=project.again("silent", calls=none)).close()
    for verb in ("calls", "summary"):
        done = CliRunner().invoke(cli, ["--index", str(project.index), verb, "--capture", "2", *options])
        assert done.exit_code == 1 and "Capture 2 has no calls." in done.stderr


def test_a_thread_without_calls_is_reported_with_the_threads_that_have_some(run: Run) -> None:
    done = run("calls", "--thread", "nobody")
    assert done.exit_code == 1
    assert "No calls on a thread nobody. There are calls on MainThread (100), " in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("{}",),
        ("calls", "--{}"),
        ("waits", "--capture", "{}"),
        ("diff", "{}", "1"),
        ("captures", "rm", "{}"),
        ("check", "--max-compiles", "{}"),
        ("run", "--device", "{}", "p.py"),
    ],
)
def test_command_line_errors_escape_control_characters(arguments: tuple[str, ...]) -> None:
    """A file name with terminal sequences that a shell pattern put on the command line."""
    result = CliRunner().invoke(cli, [each.format("\x1b]0;title\x07\u202e") for each in arguments])
    assert result.exit_code in (1, 2)
    assert result.output.replace("\n", "").isprintable(), result.output

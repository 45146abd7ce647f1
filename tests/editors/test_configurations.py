"""The ready-made configurations agree with the server on names that only strings connect."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

from framedex_server.documents.open_documents import TRACE_LANGUAGE, TRACE_SUFFIX
from tests.editors.sessions import EDITORS

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
COMMAND = ["framedex", "serve"]


def test_vscode() -> None:
    manifest = json.loads((EDITORS / "vscode" / "package.json").read_text())
    (language,) = manifest["contributes"]["languages"]
    assert (language["id"], language["extensions"]) == (TRACE_LANGUAGE, [TRACE_SUFFIX])
    assert f'"{TRACE_LANGUAGE}"' in (EDITORS / "vscode" / "src" / "server" / "client.ts").read_text()


def test_helix() -> None:
    configuration = tomllib.loads((EDITORS / "helix" / "languages.toml").read_text())
    server = configuration["language-server"]["framedex"]
    assert [server["command"], *server["args"]] == COMMAND
    languages = {language["name"]: language for language in configuration["language"]}
    assert languages[TRACE_LANGUAGE]["file-types"] == [TRACE_SUFFIX.removeprefix(".")]
    assert all("framedex" in language["language-servers"] for language in languages.values())


def test_the_command_they_start_exists() -> None:
    assert COMMAND[0] in PROJECT["scripts"]

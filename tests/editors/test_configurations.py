"""The ready-made configurations match the server's names, which no compiler checks."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from framedex_server import settings
from framedex_server.documents.open_documents import TRACE_LANGUAGE, TRACE_SUFFIX
from tests.editors.sessions import EDITORS

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
COMMAND = ["framedex", "serve"]


def test_vscode_configuration() -> None:
    manifest = json.loads((EDITORS / "vscode" / "package.json").read_text())
    (language,) = manifest["contributes"]["languages"]
    assert (language["id"], language["extensions"]) == (TRACE_LANGUAGE, [TRACE_SUFFIX])
    assert f'"{TRACE_LANGUAGE}"' in (EDITORS / "vscode" / "src" / "server" / "client.ts").read_text()


def test_vscode_has_every_server_setting_with_cost_settings_first() -> None:
    manifest = json.loads((EDITORS / "vscode" / "package.json").read_text())
    groups = manifest["contributes"]["configuration"]
    shown = {key: each for group in groups for key, each in group["properties"].items()}
    prefix = "framedex.editor."
    keys = {field.name.replace("_", "-"): field.name for field in fields(settings.EditorSettings)}
    assert {key.removeprefix(prefix) for key in shown if key.startswith(prefix)} == set(keys)
    for key, name in keys.items():
        values = shown[prefix + key].get("enum")
        choices = settings._CHOICES.get(name)
        if choices is not None:
            assert [value for value in values if value is not None] == _same_kind(values, choices)
    assert groups[0]["title"] == "Costs of lines"
    assert all(key.startswith(prefix) for key in groups[0]["properties"])


def _same_kind(values: Sequence[bool | str | None], choices: Sequence[bool | str]) -> list[bool | str]:
    """The server's choices in the editor's order, without repetition."""
    assert len(values) == len(choices) + 1
    return sorted(choices, key=lambda choice: values.index(choice))


def test_helix_configuration() -> None:
    configuration = tomllib.loads((EDITORS / "helix" / "languages.toml").read_text())
    server = configuration["language-server"]["framedex"]
    assert [server["command"], *server["args"]] == COMMAND
    languages = {language["name"]: language for language in configuration["language"]}
    assert languages[TRACE_LANGUAGE]["file-types"] == [TRACE_SUFFIX.removeprefix(".")]
    assert all("framedex" in language["language-servers"] for language in languages.values())


def test_configured_commands_exist() -> None:
    assert COMMAND[0] in PROJECT["scripts"]

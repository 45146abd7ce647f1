"""The LSP4IJ template holds only keys that LSP4IJ reads, and matches the server.

The keys are those of LSP4IJ 0.20.2: docs/UserDefinedLanguageServerTemplate.md, and the classes that read templates
(ServerTemplate, LanguageServerTemplate) and installers (InstallerTaskRegistry and the factories of its tasks).
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterator
from dataclasses import Field, fields
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import click

from framedex.commands.main import cli
from framedex.settings import Settings, list_setting_keys
from framedex.sources.files import LANGUAGES
from framedex_server.documents.open_documents import TRACE_LANGUAGE, TRACE_SUFFIX
from framedex_server.settings import EditorSettings
from tests.editors.sessions import EDITORS
from tests.editors.test_configurations import COMMAND

JETBRAINS = EDITORS / "jetbrains"
TEMPLATE = JETBRAINS / "framedex"

FILES = {
    *("template.json", "settings.json", "settings.schema.json", "initializationOptions.json", "experimental.json"),
    *("clientSettings.json", "workspaceFolderSettings.json", "installer.json", "README.md"),
}
TEMPLATE_KEYS = {
    *("id", "name", "url", "programArgs", "workingDir", "env", "expandConfiguration", "disablePromotionFor"),
    *("languageMappings", "fileTypeMappings"),
}
SYSTEMS = {"default", "windows", "mac", "unix"}
TASK_KEYS = {
    "exec": {"id", "name", "command", "timeout", "workingDir", "ignoreStderr", "onFail", "onSuccess"},
    "configureServer": {"id", "name", "command", "update", "onFail", "onSuccess"},
}
MACROS = {"$PROJECT_DIR$", "$USER_HOME$"}


def load(name: str) -> Any:
    return json.loads((TEMPLATE / name).read_text())


def test_every_template_file_is_read_by_the_plugin() -> None:
    assert {"template.json"} <= {path.name for path in TEMPLATE.iterdir()} <= FILES


def test_the_template_has_only_known_keys() -> None:
    template = load("template.json")

    assert set(template) <= TEMPLATE_KEYS
    assert template["id"] and template["name"] and set(template["programArgs"]) <= SYSTEMS
    assert set(template["env"]) <= {"includeSystemEnvironmentVariables", "variables"}
    assert isinstance(template["expandConfiguration"], bool)
    for mapping in template["fileTypeMappings"]:
        assert set(mapping) == {"fileType", "languageId"}
        # IDEs silently drop unknown file types together with their patterns.
        assert set(mapping["fileType"]) == {"patterns"}


def test_the_template_starts_the_server() -> None:
    assert load("template.json")["programArgs"]["default"].split() == COMMAND


def test_the_template_covers_every_file_type_of_the_server() -> None:
    patterns = {
        pattern: mapping["languageId"]
        for mapping in load("template.json")["fileTypeMappings"]
        for pattern in mapping["fileType"]["patterns"]
    }
    suffixes = {suffix: "c" if suffix == ".c" else language for suffix, language in LANGUAGES.items()}

    assert patterns == {
        f"*{suffix}": language for suffix, language in suffixes.items() if language in {"cpp", "c", "python"}
    } | {f"*{TRACE_SUFFIX}": TRACE_LANGUAGE}
    assert all(len(fnmatch.filter([f"a{pattern[1:]}" for pattern in patterns], pattern)) == 1 for pattern in patterns)


def test_the_server_accepts_all_settings() -> None:
    values = load("settings.json")

    settings, problems = Settings.from_mapping(values["framedex"], Path("/"), "the template")
    editor, more = EditorSettings.from_settings(settings)

    assert [*problems, *more] == []
    assert editor.code_lens, "it stands in for the call hierarchy in C++ files"


def test_the_schema_has_every_server_setting_with_type_and_default() -> None:
    section = load("settings.schema.json")["properties"]["framedex"]
    editor = section["properties"]["editor"]
    types = {bool: "boolean", int: "integer"}

    def type_of(setting: Field[object]) -> str | None:
        """The schema lists the allowed values if there are any."""
        return types.get(type(setting.default)) if setting.type in ("bool", "int") else None

    assert sorted(section["properties"]) == list_setting_keys()
    assert {key: (each.get("type"), each["default"]) for key, each in editor["properties"].items()} == {
        each.name.replace("_", "-"): (type_of(each), each.default) for each in fields(EditorSettings)
    }
    assert not section["additionalProperties"] and not editor["additionalProperties"]


def tasks(installer: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The tasks of an installer with their kinds, each before its successors."""
    pending = [installer["check"], installer["run"]]
    while pending:
        ((kind, task),) = pending.pop().items()
        yield kind, task
        pending += [task[key] for key in ("onFail", "onSuccess") if key in task]


def test_the_installer_uses_only_supported_tasks_and_keys() -> None:
    installer = load("installer.json")

    assert set(installer) <= {"id", "name", "executeOnStartServer", "properties", "check", "run"}
    for kind, task in tasks(installer):
        assert set(task) <= TASK_KEYS[kind], task
        assert task["name"]


def test_installer_commands_survive_shell_quoting() -> None:
    """LSP4IJ splits commands at spaces regardless of quotes, and treats any output on stderr as a failure."""
    for kind, task in tasks(load("installer.json")):
        words = task["command"] if kind == "exec" else [task["command"]]
        assert isinstance(words, list)
        assert set(re.findall(r"\$[^$]*\$", " ".join(words))) <= MACROS
        assert kind != "exec" or task["ignoreStderr"]


def test_every_installer_path_sets_up_the_same_server() -> None:
    commands = [task["command"] for kind, task in tasks(load("installer.json")) if kind == "configureServer"]

    assert len(commands) == 3
    assert all(command.rpartition("/")[2].split() == COMMAND for command in commands)


def test_external_tools_run_existing_verbs_on_the_current_file() -> None:
    for tool in ElementTree.parse(JETBRAINS / "tools" / "framedex.xml").getroot().findall("tool"):
        options = {option.get("name"): option.get("value", "") for option in tool.findall("exec/option")}
        filters = [each.get("value", "") for each in tool.findall("filter/option") if each.get("name") == "REGEXP"]

        assert options["COMMAND"] == COMMAND[0]
        assert cli.get_command(click.Context(cli), options["PARAMETERS"].split()[0])
        assert '"$FilePath$' in options["PARAMETERS"], "paths may have spaces"
        assert filters and all("$FILE_PATH$" in each and "$LINE$" in each for each in filters)

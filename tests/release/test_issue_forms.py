"""GitHub accepts the issue forms: it does not show malformed ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from framedex.commands.main import VERBS

FOLDER = Path(__file__).parents[2] / ".github" / "ISSUE_TEMPLATE"
FORMS = [file for file in sorted(FOLDER.glob("*.yml")) if file.name != "config.yml"]
NEEDED = {"markdown": {"value"}, "input": {"label"}, "textarea": {"label"}, "dropdown": {"label", "options"}}
ALLOWED = {
    "markdown": {"value"},
    "input": {"label", "description", "placeholder", "value"},
    "textarea": {"label", "description", "placeholder", "value", "render"},
    "dropdown": {"label", "description", "options", "multiple", "default"},
}


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.stem)
def test_a_form_meets_the_requirements_of_github(form: Path) -> None:
    content: dict[str, Any] = yaml.safe_load(form.read_text())

    assert content.keys() <= {"name", "description", "title", "labels", "body"}
    assert content["name"] and content["description"]
    parts = content["body"]
    assert any(part["type"] != "markdown" for part in parts)
    for part in parts:
        kind, attributes = part["type"], part["attributes"]
        assert NEEDED[kind] <= attributes.keys() <= ALLOWED[kind], part
        assert ("id" in part) == (kind != "markdown")
    ids = [part["id"] for part in parts if "id" in part]
    labels = [part["attributes"]["label"] for part in parts if "id" in part]
    assert len(set(ids)) == len(ids) and len(set(labels)) == len(labels)


def test_security_problems_are_directed_away_from_public_issues() -> None:
    chooser = yaml.safe_load((FOLDER / "config.yml").read_text())
    assert chooser.keys() <= {"blank_issues_enabled", "contact_links"}
    for form in FORMS:
        assert "SECURITY.md" in form.read_text()


def test_commands_in_forms_exist() -> None:
    bug = (FOLDER / "bug.yml").read_text()
    assert "framedex doctor --json" in bug and "doctor" in VERBS

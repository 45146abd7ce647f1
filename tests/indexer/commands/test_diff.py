"""`framedex diff` of captures of programs other than JAX: hostile names, and imported stacks."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from framedex.commands.main import cli
from framedex.model import CodeObject
from tests.indexer.commands.report.pages import Page
from tests.indexer.recorded import Project

HOSTILE = "</script><img src=x onerror=alert(1)>\"'`{{ 7 * 7 }}{% raw %}\u202eevil\x1b[31m\r\n"


def test_names_are_escaped(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names with markup, template or terminal sequences are shown as text."""
    codes = tuple(
        CodeObject(code.filename, f"{HOSTILE}{code.qualname}", code.first_line, code.line_table)
        for code in project.capture.codes
    )
    functions = tuple(replace(each, name=f"{each.name}{HOSTILE}") for each in project.capture.functions)
    project.ingest().close()
    project.ingest(capture=project.again("hostile", codes=codes, functions=functions)).close()
    monkeypatch.chdir(project.folder)

    text = CliRunner().invoke(cli, ["diff", "1", "2"])
    page = CliRunner().invoke(cli, ["diff", "1", "2", "--format", "html", "-o", "-"])

    assert text.exit_code == page.exit_code == 0, (text.output, page.output)
    assert "alert(1)" in text.stdout and "\x1b" not in text.stdout and "\u202e" not in text.stdout
    parsed = Page.of(page.stdout)
    assert parsed.problems == []
    assert not parsed.all("img")
    assert not [name for element in parsed.elements for name in element.attributes if name.startswith("on")]


def test_out_is_only_valid_for_pages(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """-o with a format for stdout is refused instead of ignored."""
    project.ingest().close()
    monkeypatch.chdir(project.folder)
    for form in ("text", "json"):
        result = CliRunner().invoke(cli, ["diff", "1", "1", "--format", form, "-o", "diff.txt"])
        assert result.exit_code == 2 and "-o works with --format html only" in result.stderr
        assert CliRunner().invoke(cli, ["diff", "1", "1", "--format", form]).exit_code == 0


def test_imported_stacks_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, stacks in (("before", "main;put;copy 2\nmain;run 1\n"), ("after", "main;put;cached;copy 2\n")):
        Path(f"{name}.collapsed").write_text(stacks)
        taken = CliRunner().invoke(cli, ["import", f"{name}.collapsed"])
        assert taken.exit_code == 0, taken.output

    result = CliRunner().invoke(cli, ["diff", "1", "2", "--format", "json"])

    assert result.exit_code == 0, result.output
    (nowhere,) = json.loads(result.stdout)["lines"]
    assert (nowhere["before"], nowhere["after"]) == (None, None)
    marked = {(road["function"], bool(road["before"]), bool(road["after"])) for road in nowhere["roads"]}
    assert {("cached", False, True), ("run", True, False), ("put", True, True)} <= marked

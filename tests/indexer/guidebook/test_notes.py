"""The hand-written notes on functions and objects."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from framedex.guidebook.api_functions import read_api_functions
from framedex.guidebook.notes import FOLDER, read_note, read_object_note
from framedex.model.guidebook import Kind
from framedex.programs.objects.table import find_boundary_function

FUNCTIONS = {function.name: function for function in read_api_functions()}
NOTES = sorted(FOLDER.glob("*.md"))
OBJECT_NOTES = sorted((FOLDER / "objects").glob("*.md"))
MAX_CHARACTERS = 1_000
"""Maximum number of characters: one screen."""


def test_each_function_of_the_table_has_a_note_under_its_name() -> None:
    assert {path.stem for path in NOTES} <= FUNCTIONS.keys()
    assert [name for name, function in FUNCTIONS.items() if function.kind is Kind.API and read_note(name) is None] == []


def test_object_notes_describe_types_that_calls_create() -> None:
    every = (find_boundary_function(name) for name in FUNCTIONS)
    types = {each.type for function in every for each in function.objects}
    assert {path.stem for path in OBJECT_NOTES} <= types
    assert read_object_note("buffer") is not None


@pytest.mark.parametrize("folder", [NOTES, OBJECT_NOTES], ids=["functions", "objects"])
def test_notes_are_short_and_name_existing_functions(folder: list[Path]) -> None:
    for path in folder:
        text = path.read_text("utf-8")
        assert 0 < len(text) <= MAX_CHARACTERS, path.name
        assert not re.search(r"^#|<|\t", text, re.MULTILINE), path.name
        for code in re.findall(r"`((?:PJRT|PLUGIN|Tpu|TfTpu)_?\w+)`", text):
            assert code in FUNCTIONS, f"{path.name}: {code}"
        for url in re.findall(r"\]\(([^)]*)\)", text):
            assert re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+", url), f"{path.name}: {url}"


@pytest.mark.parametrize("name", ["PJRT_No_Such", "../described", "", "a/b", "x\0y", "objects", "n" * 300])
def test_names_without_a_function_have_no_note(name: str) -> None:
    assert read_note(name) is None
    assert read_object_note(name) is None

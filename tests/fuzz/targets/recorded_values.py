"""The recorded values of a call, formatted for display."""

from __future__ import annotations

import json
import unicodedata

from framedex.base.plaintext import make_printable, restore
from framedex.texts.calls import format_arguments_briefly, format_recorded_arguments
from tests.fuzz.inputs import text_of

MAX_SIZE = 4096


def run(data: bytes) -> None:
    """A JSON object, or any text."""
    text = text_of(data)
    shown = make_printable(text)
    assert _is_plain(shown) and restore(shown) == text
    restore(text)
    try:
        values = json.loads(text)
    except (ValueError, RecursionError):
        return
    if isinstance(values, dict):
        for words in (format_arguments_briefly(values), format_recorded_arguments(values)):
            assert _is_plain(words), words


def _is_plain(text: str) -> bool:
    """Whether a text has no hidden or terminal control characters. Wide spaces are allowed."""
    return all(character.isprintable() or unicodedata.category(character) == "Zs" for character in text)

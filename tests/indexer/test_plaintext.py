"""Names from captures may hold anything; what is printed must not."""

from __future__ import annotations

import pytest

from framedex.plaintext import printable, restore, visible

HOSTILE = [
    "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "two\nlines\r\n",
    "tab\there",
    "\u202egnp.exe",
    "\u2066isolated\u2069",
    "zero\u200bwidth",
    "nul\0",
    "\x9b31m",
    "lone \ud800 surrogate",
    "line\u2028separator",
    "private \ue000 use",
    "tag \U000e0041",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_terminal_would_obey_is_escaped_and_can_be_restored(text: str) -> None:
    shown = printable(text)

    assert shown.isprintable()
    assert restore(shown) == text


@pytest.mark.parametrize("text", ["plain", "xla::PjRtClient::Make(int)", "größe/模块.py", "a b", "📈", "C:\\new"])
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert printable(text) == text


@pytest.mark.parametrize("text", ["\\x1b", "\\u202e and \u202e", "\\\\x41", "\\U0001f600", "C:\\users"])
def test_text_that_looks_like_an_escape_comes_back_as_it_was(text: str) -> None:
    assert restore(printable(text)) == text


@pytest.mark.parametrize("text", [*HOSTILE, "\\x1b", "plain"])
def test_a_message_can_be_of_parts_that_are_escaped_already(text: str) -> None:
    assert visible(printable(text)) == printable(text)
    assert visible(text).isprintable()

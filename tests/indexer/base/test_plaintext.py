"""Names from captures may contain any characters; printed text may not."""

from __future__ import annotations

from framedex.base.plaintext import make_printable, make_visible, restore, truncate

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


def test_terminal_escapes_are_escaped_and_can_be_restored() -> None:
    for text in HOSTILE:
        shown = make_printable(text)

        assert shown.isprintable()
        assert restore(shown) == text


def test_ordinary_text_is_unchanged() -> None:
    cases: list[str] = ["plain", "xla::PjRtClient::Make(int)", "größe/模块.py", "a b", "📈", "C:\\new"]
    for text in cases:
        assert make_printable(text) == text


def test_text_that_looks_like_an_escape_is_restored() -> None:
    cases: list[str] = ["\\x1b", "\\u202e and \u202e", "\\\\x41", "\\U0001f600", "C:\\users"]
    for text in cases:
        assert restore(make_printable(text)) == text


def test_a_message_may_contain_escaped_parts() -> None:
    for text in [*HOSTILE, "\\x1b", "plain"]:
        assert make_visible(make_printable(text)) == make_printable(text)
        assert make_visible(text).isprintable()


def test_a_longer_text_ends_in_an_ellipsis() -> None:
    assert [truncate("framedex", most) for most in (0, 1, 5, 7, 8, 9)] == [
        "…",
        "…",
        "fram…",
        "framed…",
        "framedex",
        "framedex",
    ]

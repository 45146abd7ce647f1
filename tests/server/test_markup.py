"""Names from captures cannot leave their code spans."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from framedex.base.plaintext import make_printable
from framedex_server.markup import MAX_NAME_CHARACTERS, Markup

HOSTILE = [
    "`",
    "``",
    "a`b``c",
    "`a",
    "a`",
    "[x](command:y)",
    "<img src=x>",
    "a\n\n# b",
    "**b**",
    " ",
    "",
    "\\`",
    "|",
    "$x$",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_one_code_span(name: str) -> None:
    (paragraph,) = (token for token in MarkdownIt().parse(Markup(True).code(name) + " after") if token.type == "inline")
    assert paragraph.children is not None
    kinds = [child.type for child in paragraph.children]
    assert kinds == (["code_inline", "text"])


def test_a_long_name_keeps_both_ends() -> None:
    shown = Markup(False).code("first" + "x" * 5000 + "last")
    assert len(shown) <= MAX_NAME_CHARACTERS
    assert shown.startswith("first")
    assert shown.endswith("last")


def test_plain_text_has_no_markup() -> None:
    plain = Markup(False)
    assert plain.lines([plain.strong("a"), plain.code("b")]) == "a\nb"


@pytest.mark.parametrize(
    "text", [*filter(str.strip, HOSTILE), "![a](http://b/c.png)", "_a_ *b* ~~c~~", "&lt;", "1. a", "- a"]
)
def test_text_is_escaped(text: str) -> None:
    for shown in (Markup(True).text(text), Markup(True).strong(text)):
        tokens = MarkdownIt("js-default").parse(f"{shown} after")
        inline = [child for token in tokens if token.type == "inline" for child in token.children or ()]
        assert {token.type for token in tokens} == {"paragraph_open", "inline", "paragraph_close"}
        assert {child.type for child in inline} <= {"text", "text_special", "strong_open", "strong_close"}
        assert "".join(child.content for child in inline).startswith(make_printable(text))


@pytest.mark.parametrize(
    "url", ["command:x", "javascript:x", "data:text/html,x", "vscode://x", "https:x", "//host/x", ""]
)
def test_links_lead_to_web_pages_and_files_only(url: str) -> None:
    assert Markup(True).link("`a`", url) == Markup(False).link("`a`", url) == "`a`"


def test_no_address_ends_its_link() -> None:
    shown = Markup(True).link("a", "https://b/)> [c](command:x)\n")
    (paragraph,) = (token for token in MarkdownIt().parse(shown) if token.type == "inline")
    assert [child.type for child in paragraph.children or ()] == ["link_open", "text", "link_close"]


def test_our_own_words_are_unchanged() -> None:
    assert Markup(True).strong("framedex: 3 recorded calls of jit_step (the latest)") == (
        "**framedex: 3 recorded calls of jit_step (the latest)**"
    )

"""Names from captures cannot leave the code spans they are shown in."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from framedex_server.markup import LONGEST_NAME, Markup

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
def test_a_name_is_one_code_span_and_nothing_else(name: str) -> None:
    (paragraph,) = (token for token in MarkdownIt().parse(Markup(True).code(name) + " after") if token.type == "inline")
    assert paragraph.children is not None
    kinds = [child.type for child in paragraph.children]
    assert kinds == (["code_inline", "text"])


def test_a_long_name_keeps_both_ends() -> None:
    shown = Markup(False).code("first" + "x" * 5000 + "last")
    assert len(shown) <= LONGEST_NAME
    assert shown.startswith("first")
    assert shown.endswith("last")


def test_plain_text_has_no_marks() -> None:
    plain = Markup(False)
    assert plain.lines([plain.strong("a"), plain.code("b")]) == "a\nb"

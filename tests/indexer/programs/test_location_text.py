"""Locations as MLIR prints them."""

from __future__ import annotations

import pytest

from framedex.programs.location_text import find_op_in_text


@pytest.mark.parametrize(
    ("text", "name", "lines"),
    [
        ('loc("jit(f)/sin"("f"("a.py":3:4 to :9)))', "jit(f)/sin", [("a.py", 3, "f")]),
        (
            'loc("add"(callsite("g"("a.py":3:4 to 5:9) at callsite("f"("b.py":7:1) at "<module>"("b.py":9:1)))))',
            "add",
            [("a.py", 3, "g"), ("b.py", 7, "f"), ("b.py", 9, "<module>")],
        ),
        ('loc("select_n"("jit(f)/where"("f"("a.py":3:4))))', "select_n", [("a.py", 3, "f")]),
        ('loc(fused<"x">["f"("a.py":3:4), "g"("b.py":5:6)])', "", [("a.py", 3, "f"), ("b.py", 5, "g")]),
        (r'loc("a\22b"("f"("\C3\A4.py":1:2)))', 'a"b', [("ä.py", 1, "f")]),
        ('loc("reduce_sum:"("jit(f)/sum"("f"("a.py":3:4))))', "jit(f)/sum", [("a.py", 3, "f")]),
        ("loc(unknown)", "", []),
        ('loc("only_a_name")', "only_a_name", []),
        ('loc("cut off"(callsite("f"("a.py":3', "cut off", [("a.py", 3, "f")]),
        ("", "", []),
        ("loc(" + 'callsite("f"("a.py":1:1) at ' * 500, "", None),
    ],
)
def test_a_location_is_read(text: str, name: str, lines: list[tuple[str, int, str]] | None) -> None:
    found, frames = find_op_in_text(text)
    assert found == name
    assert lines is None or [(each.path, each.line, each.function) for each in frames] == lines

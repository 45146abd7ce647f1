"""Lines of 64 KiB in the formats of languages, debuggers and tracers: parsed in linear time."""

from __future__ import annotations

from functools import partial

import pytest

from framedex.text_stacks import read
from framedex.text_stacks.lines import MAX_LINE_LENGTH
from tests.timing import seconds_of

UNITS = [
    "    at ", "\tat a.b(", "   at a.b(c d", "at a/", " in /a:line 1", "created by ", "main.f(", "(", "a.b.",
    "thread 'a' panicked at '", "', ", "  0: 0x1 - ", " @ ", " [1] ", "Cell In[1], line 1, in f(", "/a:1 ",
    "<ipython-input-1> in f(", "File /", "~/a.py in f(", "----> 1", "-", "_", "│ ", "╭── ", "│ /a:1 in ", "_ _ ",
    "a.py:1: in ", ": in ", "a.py(1)", "> a.py(1)f()", " at / (1)", 'File \\"a\\", line 1', "\\n", "a:1:in `",
    " at a.pl line 1", "#0 a (package:", "a.dll!f(", "00 00000000`00000000 ", "a+0x1/0x2 [", "RIP: 0010:", "\t",
    "> /a(b+0x1) [0x1]", "@a[", "C  [a+0x1]  ", "j  a.b(", "J 1 c2 ", "#0 0x1 a - /", " - ", "::a<", "é", " ", "1",
]  # fmt: skip
HEADINGS = [
    "", "goroutine 1 [running]:\nmain.f(1)", "stack backtrace:", "Stacktrace:", "[1] signal (11): Bus error",
    "ValueError   Traceback (most recent call last)\n/a.py in f(x)", "╭── Traceback (most recent call last) ──╮",
    "____ test_f ____", " --- modulename: a, funcname: f", "TID 1:", "Child-SP RetAddr Call Site", "Call Trace:", "@[",
    "1 bytes in 1 allocations from stack", "Native frames: (J=Java)", "\tffffffff815f5b35 f+0x5 ([kernel])",
    '  File "/a.py", line 1, in f',
]  # fmt: skip


@pytest.mark.exhaustive
@pytest.mark.parametrize("heading", HEADINGS)
def test_time_is_linear_in_the_length_of_a_line_below_a_heading(heading: str) -> None:
    lines = {unit: unit * ((MAX_LINE_LENGTH - 10) // len(unit)) for unit in UNITS}
    texts = {unit: f"{heading}\n{line}\n{heading}\nx{line})\n" for unit, line in lines.items()}
    seconds = {unit: seconds_of(partial(read, text)) for unit, text in texts.items()}

    # Quadratic work would take seconds for the longest accepted line.
    assert {unit: taken for unit, taken in seconds.items() if taken > 1.5} == {}

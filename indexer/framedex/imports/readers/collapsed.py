"""Reads collapsed stacks: one stack a line, outermost frame first, then its weight (Brendan Gregg's stackcollapse).

An example is `a;b;c 12`. The text of frames depends on the recorder: see `framedex.imports.names`. The first frames of
py-spy and austin name the process and the thread. austin's heading (`# mode: full`) names the weights: microseconds,
bytes, or for `full` all of time, an idle flag and bytes. For `full`, austin-python's mojo2austin (2.4) writes only
times.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from framedex.base.lazy import compile_on_use
from framedex.imports.building import ProfileBuilder
from framedex.imports.names import parse_austin_frame, parse_frame, parse_thread_id, parse_thread_label
from framedex.imports.source import HEAD, Source, split_lines
from framedex.imports.values import ValueType, WeightRules
from framedex.model import ImportedFrame

_LINE = compile_on_use(r"(?P<stack>.*\S)\s+(?P<weights>-?\d{1,18}(?:,[01],-?\d{1,18})?)$")
_AUSTIN = compile_on_use(r"P\d+;T(?:\d+:)?(?P<tid>\d+)(?:;|$)")  # austin's first frames: process and thread
_NO_STACK = compile_on_use(r"\s*\d{1,18}$")  # py-spy's line for a thread without frames
_MODE = "# mode: "
_PLAIN = (ValueType("samples", "count"),)
_WALL, _CPU, _MEMORY = ValueType("wall", "microseconds"), ValueType("cpu", "microseconds"), ValueType("memory", "bytes")
_VALUES = {"wall": (_WALL,), "cpu": (_CPU,), "memory": (_MEMORY,), "full": (_WALL, _CPU, _MEMORY)}
_DEEP_STACK_FRAMES = 500  # frames, of 120 characters at most each
_MIN_STACK_SHARE = 0.9  # the least share of stacks among the first lines


def matches(head: bytes) -> bool:
    """Whether nearly all of the first lines are stacks with weights."""
    if b"\0" in head:
        return False
    lines = split_lines(head)
    if len(head) >= HEAD and len(lines) == 1:  # one deep stack, whose weight comes later
        return lines[0].count(";") >= _DEEP_STACK_FRAMES
    is_cut = len(head) >= HEAD and len(lines) > 1
    whole = [line for line in lines[: len(lines) - is_cut] if not _has_no_stack(line)]
    stacks = [line for line in whole if _LINE.match(line)]
    return (
        bool(stacks)
        and len(stacks) >= _MIN_STACK_SHARE * len(whole)
        and any(";" in line or len(lines) < 3 for line in stacks)
    )


def _has_no_stack(line: str) -> bool:
    return not line.strip() or line.startswith("#") or _NO_STACK.match(line) is not None


def read(source: Source, builder: ProfileBuilder) -> None:
    """Read the stacks. Raises ValueError as `ImportFormat.read` does."""
    mode = ""
    is_begun = False
    for line in source.lines():
        if not line.strip():
            continue
        if line.startswith("# "):
            mode = line.removeprefix(_MODE).strip() if line.startswith(_MODE) else mode
            continue
        if _NO_STACK.match(line):
            builder.count_skipped("line", "without a stack")
            continue
        match = _LINE.match(line)
        if match is None:
            builder.count_skipped("line", "without a weight at its end")
            continue
        weights = [int(weight) for weight in match["weights"].split(",")]
        if not is_begun:
            mode = "wall" if mode == "full" and len(weights) == 1 else mode
            builder.set_weight_rules(WeightRules(_VALUES.get(mode, _PLAIN), builder.wanted, usual=0))
            is_begun = True
        if len(weights) != (3 if mode == "full" else 1):
            builder.count_skipped("line", "with another number of weights")
            continue
        if mode == "full":
            time, is_idle, memory = weights
            weights = [time, 0 if is_idle else time, memory]
        _add(builder, match["stack"], weights, parse_austin_frame if mode in _VALUES else parse_frame)


def _add(builder: ProfileBuilder, text: str, weights: list[int], frame_of: Callable[[str], ImportedFrame]) -> None:
    tid, name = 0, ""
    if (austin := _AUSTIN.match(text)) is not None:
        tid, text = parse_thread_id(austin["tid"]), text[austin.end() :]
    parts = [part for part in text.split(";") if part]
    place = 0
    while place < len(parts) and (thread := parse_thread_label(parts[place])) is not None:
        after = _find_label_end(parts, place)
        tid, name = thread
        name = ";".join((name, *parts[place + 1 : after])) if name else ""
        place = after
    frames = [builder.add_frame(frame_of(part)) for part in parts[place:]]
    builder.add_sample(frames[::-1], builder.add_thread(tid, name), weights)


def _find_label_end(parts: Sequence[str], start: int) -> int:
    """Return the index of the first part after py-spy's label of a process or thread. The label may have semicolons."""
    if parts[start].startswith("process"):  # `process 7:"python -c import a; a.run()"`
        return next((at + 1 for at in range(start, len(parts)) if parts[at].endswith('"')), start + 1)
    following = range(start + 1, len(parts))
    return next((at for at in following if _is_frame(parts[at]) or parse_thread_label(parts[at])), start + 1)


def _is_frame(part: str) -> bool:
    """Whether a part has py-spy's form of a frame: `f (path/to/file.py:12)`."""
    return part.endswith(")") and 0 < part.find(" (", 1) < len(part) - len(" ()")

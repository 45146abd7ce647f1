"""The corpus of crash texts: each text with hand-counted frames, and the comparison with a reader's result.

`tests/fixtures/crash_texts/README.md` explains how to add a text.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from framedex.text_stacks import StackFormat, TextFrame

FOLDER = Path(__file__).parent / "fixtures" / "crash_texts"
NO_FRAMES = "none"
"""The producer of texts that only look like stacks."""


@dataclass(frozen=True)
class Counted:
    """A frame that a person found in a text.

    `line` is the 1-based line on which it begins. `placeable` says what leads to its source if XLA and JAX are indexed:
    `path`, `symbol`, `binary` or `none`.
    """

    line: int
    function: str
    place: str | None
    module: str = ""
    placeable: str = "none"

    @property
    def told(self) -> tuple[str, str | None, str]:
        """The frame's text."""
        return self.function, self.place, self.module


@dataclass(frozen=True)
class CrashText:
    """A text, the place where its format is described, and its frames."""

    producer: str
    name: str
    form: str
    text: str
    frames: tuple[Counted, ...]


@dataclass(frozen=True)
class Judged:
    """The correctly read frames. `wrong` are read frames that the text does not have, or has with other words."""

    recognised: tuple[tuple[Counted, TextFrame], ...]
    missed: tuple[Counted, ...]
    wrong: tuple[TextFrame, ...]


def corpus() -> list[CrashText]:
    """Return every text, by producer and name. Raises ValueError for a text without a count, or the reverse."""
    texts = {(path.stem, name): text for path in FOLDER.glob("*.txt") for name, text in _texts_in(path)}
    producers = json.loads((FOLDER / "counts.json").read_text(encoding="utf-8"))
    counts = {(producer, name): count for producer, by_name in producers.items() for name, count in by_name.items()}
    if unpaired := sorted(texts.keys() ^ counts.keys()):
        raise ValueError(f"a text without its count, or the reverse: {unpaired}")
    return [_count(*key, text, counts[key]) for key, text in sorted(texts.items())]


def _texts_in(path: Path) -> list[tuple[str, str]]:
    """The names and texts of a producer: each text follows the line `%%% NAME`."""
    _, *parts = re.split(r"^%%% (\S+)\n", path.read_bytes().decode("utf-8"), flags=re.MULTILINE)
    return list(zip(parts[::2], parts[1::2], strict=True))


def _count(producer: str, name: str, text: str, count: dict[str, Any]) -> CrashText:
    frames = tuple(Counted(**frame) for frame in count["frames"])
    if any(frame.placeable not in ("path", "symbol", "binary", "none") for frame in frames):
        raise ValueError(f"{name}: what a frame is placeable by is path, symbol, binary or none")
    if any(not 0 < frame.line <= text.count("\n") for frame in frames):
        raise ValueError(f"{name}: a frame is counted on a line that is not there")
    return CrashText(producer, name, count["form"], text, frames)


def told_by(frame: TextFrame) -> tuple[str, str | None, str]:
    """A frame as a reader parsed it."""
    place = f"{frame.place.path}:{frame.place.line}" if frame.place is not None else None
    return frame.function, place, frame.module


def judge(
    found: Iterable[TextFrame], counted: Iterable[Counted], line_of: Callable[[int], int] = lambda line: line
) -> Judged:
    """Compare the found frames with the counted ones.

    `line_of` maps a 1-based line of the original text to the read text. A bare `file:line` does not claim to be a stack
    frame. It counts only where the counted frame has nothing else.
    """
    waiting: dict[tuple[int, tuple[str, str | None, str]], list[Counted]] = {}
    for frame in counted:
        waiting.setdefault((line_of(frame.line), frame.told), []).append(frame)
    recognised, wrong = [], []
    for each in found:
        same = waiting.get((each.first_line + 1, told_by(each)))
        if same:
            recognised.append((same.pop(0), each))
        elif each.format is not StackFormat.PLAIN:
            wrong.append(each)
    missed = tuple(frame for left in waiting.values() for frame in left)
    return Judged(tuple(recognised), missed, tuple(wrong))


@dataclass(frozen=True)
class Variant:
    """How a program or a terminal changes a text in transit. `change` has the changed lines, in order."""

    name: str
    change: Callable[[str], str] = lambda line: line
    line_break: str = "\n"
    begins_with: str = ""

    def of(self, text: str) -> str:
        """The changed text."""
        lines = text.removesuffix("\n").split("\n")
        return self.begins_with + "".join(self.change(line) + self.line_break for line in lines)

    def line_of(self, line: int) -> int:
        """The line in the changed text of a 1-based original line."""
        return (line - 1) * self.line_break.count("\n") + 1 + self.begins_with.count("\n")


def _behind(prefix: str) -> Callable[[str], str]:
    return lambda line: prefix + line


def _coloured(line: str) -> str:
    """Each word in its own colour, as highlighting tools do."""
    return "\x1b[1;31m\x1b[K" + line.replace(" at ", " \x1b[35mat\x1b[m ").replace(":", "\x1b[0m:\x1b[36m") + "\x1b[m"


VARIANTS: Sequence[Variant] = (
    Variant("as it is"),
    *(
        Variant(name, _behind(prefix))
        for name, prefix in (
            ("glog", "I0101 12:00:00.123456   123 file.cc:12] "),
            ("absl", "E0000 00:00:1700000000.123456    4242 file.cc:12] "),
            ("time and level", "2026-11-22T10:00:00.123Z ERROR "),
            ("Python's logging", "2026-11-22 10:00:00,123 ERROR    trainer.loop: "),
            ("syslog", "Nov 22 10:00:00 host prog[123]: "),
            ("docker compose", "worker-1  | "),
            ("kubectl", "2026-11-22T10:00:00.1234567Z "),
            ("a level", "[ERROR] "),
            ("pytest", "E   "),
            ("torchrun", "[rank0]: "),
            ("torchrun's tee", "[default0]:"),
            ("ray", "(pid=123) "),
            ("an actor of ray", "(Trainer pid=123, ip=10.0.0.7) "),
            ("kubectl of glog", "2026-11-22T10:00:00.1234567Z E0101 12:00:00.123456 123 file.cc:12] "),
            ("tab", "\t"),
            ("a quotation", "> "),
        )
    ),
    Variant("colours", _coloured),
    Variant("CRLF", line_break="\r\n"),
    Variant("blank lines", line_break="\n\n"),
    Variant("blank lines with CRLF", line_break="\r\n\r\n"),
    Variant("below other stacks", begins_with=(
        'Traceback (most recent call last):\n  File "/other.py", line 1, in other\n    call()\nValueError: other\n'
        "I0101 12:00:00.123456 123 file.cc:12] the log goes on\n"
    )),
)  # fmt: skip
"""The transformations of a text before it is read. `Variant.line_of` maps lines to the changed text."""

OTHERS: dict[str, Counter[tuple[str, str | None, str]]] = {
    "below other stacks": Counter({("other", "/other.py:1", ""): 1})
}
"""The frames that a variant adds."""

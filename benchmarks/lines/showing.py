"""Single calls with what was said of them and the truth, to learn from: never of libraries that are kept out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from lines.answers import Answer


def show(answers: Sequence[Answer], limit: int) -> None:
    """Print so many of the answers, drawn evenly and always in the same order."""
    shown = [answer for answer in answers if not answer.build.library.kept_out]
    drawn = random.Random(1).sample(shown, min(limit, len(shown)))
    for answer in drawn:
        _show(answer)
    print(f"{len(drawn)} of {len(shown)}")


def _show(answer: Answer) -> None:
    call, build = answer.call, answer.build
    print(f"\n{build.library.name} {build.options.name} {call.returns_to:#x}: {answer.label}, {answer.outcome}")
    print(f"  caller {answer.caller[:400]}")
    print(f"  callee {call.callee[:400]}")
    print(f"  {answer.cause}{', of a stack' if call.is_of_stack else ''}")
    print(f"  truth  {_place(answer, call.path, call.line)}")
    if call.is_inlined:
        print(f"         from inside {', '.join(f'{Path(path).name}:{line}' for _, path, line, _ in call.frames[:-1])}")
    for line in answer.lines[:4]:
        print(f"  answer {_place(answer, answer.path, line)}")
    if not answer.lines and answer.path:
        print(f"  answer in {Path(answer.path).relative_to(answer.build.sources.resolve())}, no line")


def _place(answer: Answer, path: str, line: int) -> str:
    sources = answer.build.sources.resolve()
    where = Path(path).relative_to(sources) if Path(path).is_relative_to(sources) else Path(path)
    lines = _lines(path)
    return f"{where}:{line}: {lines[line - 1].strip()[:160] if 0 < line <= len(lines) else '?'}"


@lru_cache(maxsize=64)
def _lines(path: str) -> list[str]:
    return Path(path).read_text(errors="replace").split("\n") if Path(path).is_file() else []

"""Every crash text of the corpus, also as changed by logs and terminals: exactly its frames are found."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import pytest

from framedex.text_stacks import StackFormat, TextFrame, read
from framedex.text_stacks.log_text import remove_escapes
from framedex.text_stacks.stream import AnnotatedLog
from tests.crash_corpus import NO_FRAMES, OTHERS, VARIANTS, CrashText, Judged, Variant, corpus, judge, told_by

CORPUS = corpus()
EACH_VARIANT = pytest.mark.parametrize("variant", VARIANTS, ids=[variant.name for variant in VARIANTS])
_Told = tuple[str, str | None, str]


def _without_others(frames: Sequence[TextFrame], variant: Variant) -> list[TextFrame]:
    """The text's own frames."""
    others = OTHERS.get(variant.name, Counter()).copy()
    own = []
    for frame in frames:
        if others[told_by(frame)]:
            others[told_by(frame)] -= 1
        else:
            own.append(frame)
    assert not others.total(), variant.name
    return own


def _complaint(judged: Judged) -> list[str]:
    missed = [f"line {frame.line} missed: {frame.told}" for frame in judged.missed]
    wrong = [f"line {frame.first_line + 1} wrong: {frame.format} {told_by(frame)}" for frame in judged.wrong]
    return missed + wrong


def _title(text: CrashText) -> str:
    return f"{text.producer}/{text.name}"


@pytest.mark.exhaustive(keep=["as it is", "kubectl of glog", "below other stacks"])
@EACH_VARIANT
def test_every_frame_is_found_and_nothing_else(variant: Variant) -> None:
    complaints = {_title(text): _complaints_of_reading(text, variant) for text in CORPUS}
    assert {title: found for title, found in complaints.items() if found} == {}


def _complaints_of_reading(text: CrashText, variant: Variant) -> list[str]:
    reading = read(remove_escapes(variant.of(text.text)))
    frames = _without_others(list(reading.frames()), variant)
    return [*_complaint(judge(frames, text.frames, variant.line_of)), *reading.problems]


def test_the_parts_of_a_frame_are_substrings() -> None:
    for text in CORPUS:
        _check_parts(text)


def _check_parts(text: CrashText) -> None:
    lines = text.text.split("\n")
    for frame in read(text.text).frames():
        words = {part.kind.value: lines[part.line][part.start : part.end] for part in frame.parts}
        assert all(0 <= part.start < part.end <= len(lines[part.line]) for part in frame.parts)
        # Editors colour them one after the other.
        pairs = itertools.pairwise(frame.parts)
        assert all((first.line, first.end) <= (second.line, second.start) for first, second in pairs)
        assert frame.first_line <= min((part.line for part in frame.parts), default=frame.first_line)
        assert frame.start <= min(
            (part.start for part in frame.parts if part.line == frame.first_line), default=frame.start
        )
        if frame.place is not None and "path" in words:
            assert words["path"] == frame.place.path
            assert int(words["line"]) == frame.place.line
        if "module" in words:
            assert words["module"] == frame.module
        if "address" in words:
            assert int(words["address"], 16) in (frame.address, frame.offset)


class _Seen:
    """Writes no notes, and records those requested."""

    def __init__(self) -> None:
        self.frames: list[TextFrame] = []

    def cached_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes | None:
        return None

    def find_note(self, frames: Sequence[TextFrame], callee_frame: TextFrame | None = None) -> bytes:
        self.frames.extend(frames)
        return b""


@pytest.mark.exhaustive(keep=["as it is", "colours"])
@EACH_VARIANT
def test_a_streamed_log_has_the_same_frames(variant: Variant) -> None:
    complaints = {_title(text): _complaints_of_streaming(text, variant) for text in CORPUS}
    assert {title: found for title, found in complaints.items() if any(found)} == {}


def _complaints_of_streaming(text: CrashText, variant: Variant) -> tuple[bool, set[_Told], set[_Told]]:
    """Whether the log was changed, the missed frames, and false frames."""
    seen = _Seen()
    log = AnnotatedLog(seen)
    content = variant.of(text.text).encode()
    is_changed = b"".join([*log.annotate(content), *log.finish()]) != content

    frames = {told_by(frame) for frame in seen.frames}
    counted = {frame.told for frame in text.frames}
    # `<signal handler called>` has no note.
    missed = {told for told in counted - frames if not told[0].startswith("<")}
    # For a frame of several lines, only the first may be known when its note is written.
    parts = {(function, None, module) for function, _, module in counted} | {
        (function, None, "") for function, *_ in counted
    }
    others = set(OTHERS.get(variant.name, ()))
    stacks = {told_by(frame) for frame in seen.frames if frame.format is not StackFormat.PLAIN}
    return is_changed, missed, stacks - counted - parts - others


def test_concatenated_texts_are_read_like_separate_ones() -> None:
    between = "I0101 12:00:00.123456 123 file.cc:12] the log goes on\n"
    alone = Counter(told_by(frame) for text in CORPUS for frame in _stacked(text.text))
    together = Counter(told_by(frame) for frame in _stacked(between.join(text.text for text in CORPUS)))
    assert together == alone


def _stacked(text: str) -> list[TextFrame]:
    return [frame for frame in read(text).frames() if frame.format is not StackFormat.PLAIN]


def test_the_corpus_names_its_origins_and_contains_texts_without_frames() -> None:
    assert all(text.form for text in CORPUS)
    assert all(bool(text.frames) != (text.producer == NO_FRAMES) for text in CORPUS)

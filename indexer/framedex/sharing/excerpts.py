"""Selects the source texts of a shared file: files that are neither installed packages nor public."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from framedex import words
from framedex.index.ask.capture.capture import CaptureContents
from framedex.model import Language, LocationEvidence
from framedex.model.locations import is_local
from framedex.path_resolution.files import is_process_path
from framedex.regularfile import read_regular_text
from framedex.releases import published
from framedex.shared.contents import Definitions, SharedSource, SharedSourceLine
from framedex.shared.keeping import kept_excerpts
from framedex.sources.file_versions import file_state

AROUND = 5
"""Lines of context before and after each referenced line."""

_LARGEST = 16 << 20  # bytes of a file
_MOST = 10_000  # files


class SourceAmount(StrEnum):
    """The amount of source text to share."""

    NONE = "none"
    LINES = "lines"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class SharedTexts:
    """The texts by archive member, the definitions that name them, and the problems with files."""

    members: Mapping[str, str]
    definitions: Definitions
    problems: tuple[str, ...]


def excerpts(definitions: Definitions, contents: CaptureContents, sources: SourceAmount) -> SharedTexts:
    """Collect the texts of the files that a capture refers to.

    Skips installed files, files with a public page, and files that changed since the recording.
    """
    if sources is SourceAmount.NONE:
        return SharedTexts({}, definitions, ())
    kept = kept_excerpts(Path(contents.row().path))
    members: dict[str, str] = {}
    shared: list[SharedSource] = []
    changed: list[str] = []
    for number, lines in sorted(_lines(definitions).items()):
        path = definitions.paths[number]
        if not is_own(path, definitions) or len(members) >= _MOST:
            continue
        text = _text(kept.get(path, path), contents, is_kept=path in kept)
        if text is None:
            changed.append(path)
            continue
        member = f"sources/{len(members):06}"
        members[member] = text if sources is SourceAmount.FILES else _keep_nearby_lines(text, lines)
        shared.append(SharedSource(number, member, sources is SourceAmount.FILES))
    return SharedTexts(members, replace(definitions, sources=tuple(shared)), tuple(_problems(changed)))


def is_own(path: str, definitions: Definitions) -> bool:
    """Whether a file belongs to the sharing user: it is neither installed nor public."""
    installed = "/site-packages/" in path or "/dist-packages/" in path
    is_file = is_local(path) and not is_process_path(path)
    return is_file and not installed and published(path, definitions.builds) is None


def _lines(definitions: Definitions) -> Mapping[int, set[int]]:
    """The referenced lines by file: recorded lines, and first lines of functions."""
    found: dict[int, set[int]] = defaultdict(set)
    for place in _places(definitions):
        found[place.path].add(place.line)
    for program in definitions.programs.values():
        for each in program.lines:
            for path, line, _ in each.frames:
                found[path].add(line)
    return found


def _places(definitions: Definitions) -> Iterator[SharedSourceLine]:
    frames = [frame for frames in definitions.frames for frame in frames]
    frames += [frame for site in definitions.sites for frame in site.frames]
    for frame in frames:
        if frame.recorded is not None:
            yield frame.recorded
    for function in definitions.functions:
        if function.language is Language.PYTHON:
            yield SharedSourceLine(function.module, function.first_line, LocationEvidence.EXACT)


def _text(path: str, contents: CaptureContents, is_kept: bool) -> str | None:
    """The text of a file; None if it is missing or changed since the recording. Texts from an earlier share stay."""
    state = file_state(path)
    if state is None or state.size > _LARGEST:
        return None
    if not is_kept and state.blob not in contents.recorded_states(path):
        return None
    try:
        return read_regular_text(Path(path))
    except OSError:
        return None


def _keep_nearby_lines(text: str, lines: set[int]) -> str:
    """Keep the lines around some lines, and empty the others. Line numbers stay the same."""
    kept = {near for line in lines for near in range(line - AROUND, line + AROUND + 1)}
    return "\n".join(line if number in kept else "" for number, line in enumerate(text.split("\n"), 1))


def _problems(changed: list[str]) -> Iterator[str]:
    if changed:
        yield f"Left out, missing or changed since the recording: {words.first_names(changed, 'file')}."

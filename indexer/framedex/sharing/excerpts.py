"""Selects the source texts of a shared file: files that are neither installed packages nor public."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from framedex.base import words
from framedex.base.regularfile import decode_text, read_regular_text
from framedex.index.ask.capture.capture import CaptureContents
from framedex.index.write.records import RecordedSource
from framedex.model import Language, LocationEvidence
from framedex.model.locations import is_local
from framedex.path_resolution.files import is_process_path
from framedex.shared.contents import Definitions, SharedSource, SharedSourceLine
from framedex.shared.keeping import read_stored_excerpts
from framedex.sources.file_versions import compute_blob_name, read_stable
from framedex.sources.releases import find_published_file

CONTEXT_LINES = 5
"""Lines of context before and after each referenced line."""

_MAX_FILE_BYTES = 16 << 20  # bytes of a file
_MAX_FILES = 10_000  # files


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


def collect_excerpts(
    definitions: Definitions,
    contents: CaptureContents,
    sources: SourceAmount,
    recorded: Callable[[str], RecordedSource | None],
) -> SharedTexts:
    """Collect the texts of the files that a capture refers to; `recorded` returns a file of the capture by its path.

    Skips installed files, files with a public page, and files that changed since the recording and whose recorded text
    is unknown.
    """
    if sources is SourceAmount.NONE:
        return SharedTexts({}, definitions, ())
    kept = read_stored_excerpts(Path(contents.row().path))
    members: dict[str, str] = {}
    shared: list[SharedSource] = []
    changed: list[str] = []
    for number, lines in sorted(_find_referenced_lines(definitions).items()):
        path = definitions.paths[number]
        if not is_private_file(path, definitions) or len(members) >= _MAX_FILES:
            continue
        text = _read_shared_text(kept[path]) if path in kept else _find_recorded_text(path, contents, recorded(path))
        if text is None:
            changed.append(path)
            continue
        member = f"sources/{len(members):06}"
        members[member] = text if sources is SourceAmount.FILES else _keep_nearby_lines(text, lines)
        shared.append(SharedSource(number, member, sources is SourceAmount.FILES))
    return SharedTexts(members, replace(definitions, sources=tuple(shared)), tuple(_describe_left_out(changed)))


def is_private_file(path: str, definitions: Definitions) -> bool:
    """Whether a file is the user's own: neither installed nor public."""
    installed = "/site-packages/" in path or "/dist-packages/" in path
    is_file = is_local(path) and not is_process_path(path)
    return is_file and not installed and find_published_file(path, definitions.builds) is None


def _find_referenced_lines(definitions: Definitions) -> Mapping[int, set[int]]:
    """The referenced lines by file: recorded lines, and first lines of functions."""
    found: dict[int, set[int]] = defaultdict(set)
    for place in _iter_source_lines(definitions):
        found[place.path].add(place.line)
    for program in definitions.programs.values():
        for each in program.lines:
            for path, line, _ in each.frames:
                found[path].add(line)
    return found


def _iter_source_lines(definitions: Definitions) -> Iterator[SharedSourceLine]:
    frames = [frame for frames in definitions.frames for frame in frames]
    frames += [frame for site in definitions.sites for frame in site.frames]
    for frame in frames:
        if frame.recorded is not None:
            yield frame.recorded
    for function in definitions.functions:
        if function.language is Language.PYTHON:
            yield SharedSourceLine(function.module, function.first_line, LocationEvidence.EXACT)


def _read_shared_text(path: str) -> str | None:
    """The text that an imported shared file has; None if it is missing."""
    try:
        return read_regular_text(Path(path))
    except OSError:
        return None


def _find_recorded_text(path: str, contents: CaptureContents, source: RecordedSource | None) -> str | None:
    """The recorded text of a file: the stored copy, else the current text if unchanged; None if it has changed."""
    content = source.read() if source is not None else None
    if content is None:
        present = read_stable(path)
        if present is None or (source is not None and not source.is_content(present.content)):
            return None
        content = present.content
    if len(content) > _MAX_FILE_BYTES or compute_blob_name(content) not in contents.recorded_states(path):
        return None
    return decode_text(content)


def _keep_nearby_lines(text: str, lines: set[int]) -> str:
    """Keep the lines around some lines, and empty the others. Line numbers stay the same."""
    kept = {near for line in lines for near in range(line - CONTEXT_LINES, line + CONTEXT_LINES + 1)}
    return "\n".join(line if number in kept else "" for number, line in enumerate(text.split("\n"), 1))


def _describe_left_out(changed: list[str]) -> Iterator[str]:
    if changed:
        yield f"Left out, missing or changed since the recording: {words.format_first_names(changed, 'file')}."

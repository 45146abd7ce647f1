"""Stack paths inward from a line, likeliest first, and the frames at which a step stops.

A step stops at a frame with source on this machine. DWARF may name files of the build machine: such frames are skipped
like the interpreter's. Frames of framedex itself (recorder, mock TPU) are skipped too: their source opens only if the
user selects such a frame.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from framedex.base.plaintext import make_printable
from framedex.base.words import count
from framedex.model.locations import is_framedex_file, path_in_repository
from framedex.path_resolution.files import file_exists

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.model import FrameRow, Location, StackPath


def find_paths_inward(
    index: Index,
    path: str,
    line: int,
    within: Sequence[int] | None,
    word: str,
    capture: int | None = None,
    places: Callable[[FrameRow], Iterable[Location]] | None = None,
) -> list[StackPath]:
    """Return the stack paths inward from a line, restricted to `capture` if given, likeliest first.

    Only paths that continue `within` are returned, if there are any. `places` returns the locations at which a frame
    can be shown; default: the files on this machine. The first rule that distinguishes two paths orders them:

    - callees named `word` come first;
    - destructors that run as a function returns come after calls in its body;
    - Python callees that created the runtime's client come last: any line that runs first in a process triggers that;
    - the callee on the path to the stack that took longest, all its calls together, comes first. So repeatedly taking
      the first answer is one walk: the longest stack below a line is also the longest below that callee.
    """
    find_locations = places or find_local_locations

    def can_be_shown(frame: FrameRow) -> bool:
        return is_step_target(frame) and any(True for _ in find_locations(frame))

    stack_paths = index.line(path, line, capture).paths_inward(can_be_shown, within) if within is not None else []
    stack_paths = stack_paths or index.line(path, line, capture).paths_inward(can_be_shown, None)
    longest: dict[int, int] = {}
    for stack_path in stack_paths:
        longest[stack_path.target.function.id] = max(stack_path.longest, longest.get(stack_path.target.function.id, 0))
    continued = {stack_path.target.function.id for stack_path in stack_paths if stack_path.has_more_frames}

    def sort_key(stack_path: StackPath) -> tuple[int, ...]:
        function = stack_path.target.function
        return (
            not is_named(function.name, word),
            stack_path.origin.returning,
            stack_path.makes_client and function.language == "python",
            -longest[function.id],
            -stack_path.longest,
            -stack_path.calls,
        )

    # A boundary function's own call ends its stack there: skip it if the same function also has a longer path.
    return sorted(
        (
            stack_path
            for stack_path in stack_paths
            if stack_path.has_more_frames or stack_path.target.function.id not in continued
        ),
        key=sort_key,
    )


def format_skipped_notes(frames: int) -> list[str]:
    """Return a list with a note on the number of code frames that a step skipped; empty if it skipped none."""
    return [f"{count(frames, 'frame')} skipped, source not here"] if frames else []


def is_step_target(frame: FrameRow) -> bool:
    """Return whether stepping stops at a frame: it is code with a known source line, and not framedex's own."""
    return frame.is_readable and not is_framedex_file(frame.module or frame.function.module)


def can_step_to(frame: FrameRow) -> bool:
    """Return whether stepping stops at a frame and its source is on this machine."""
    return is_step_target(frame) and next(find_local_locations(frame), None) is not None


def find_local_locations(frame: FrameRow) -> Iterator[Location]:
    """Yield the frame's location and its alternatives that are on this machine."""
    for location in (frame.location, *frame.candidates):
        if location is not None and file_exists(location.path):
            yield location


def find_public_location(frame: FrameRow) -> Location | None:
    """Return the frame's location that is not on this machine but has a public URL."""
    return find_first_public((frame.location, *frame.candidates))


def find_first_public(locations: Iterable[Location | None]) -> Location | None:
    """Return the first location that is not on this machine but has a public URL."""
    return next((place for place in locations if place is not None and place.url and not file_exists(place.path)), None)


def format_short_location(location: Location) -> str:
    """Return a short location: `xla/pjrt/pjrt_client.cc:1187`."""
    return f"{make_printable(path_in_repository(location.path))}:{location.line}"


def is_named(name: str, word: str) -> bool:
    """Return whether the last part of a qualified name is the word, ignoring template arguments."""
    return word != "" and re.split(r"::|\.", name)[-1].partition("<")[0] == word

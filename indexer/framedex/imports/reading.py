"""Detects the format of another recorder's file by its content, and reads it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from framedex.base.errors import FramedexError
from framedex.imports.building import ProfileBuilder
from framedex.imports.readers import chrome, collapsed, memray, perf_script, perfetto, pprof, speedscope, xplane
from framedex.imports.source import Source
from framedex.imports.unread import find_unsupported_format
from framedex.model import ImportOrigin
from framedex.model.metadata import SHARED_FORMAT
from framedex.shared import archive


@dataclass(frozen=True, slots=True)
class ImportFormat:
    """A format: its name, a predicate on the first bytes of a file, and the reader (None if it is not a profile).

    A reader raises ValueError if the file is malformed. The error's text follows "FILE cannot be read as NAME: ".
    """

    name: str
    matches: Callable[[bytes], bool]
    read: Callable[[Source, ProfileBuilder], None] | None


# The first match wins, so unambiguous formats come first.
FORMATS = (
    ImportFormat(SHARED_FORMAT, archive.matches, None),
    ImportFormat("speedscope", speedscope.matches, speedscope.read),
    ImportFormat("memray csv", memray.matches_csv, memray.read_csv),
    ImportFormat("memray gprof2dot", memray.matches_gprof2dot, memray.read_gprof2dot),
    ImportFormat("Chrome trace events", chrome.matches, chrome.read),
    ImportFormat("XPlane", xplane.matches, xplane.read),
    ImportFormat("Perfetto", perfetto.matches, perfetto.read),
    ImportFormat("pprof", pprof.matches, pprof.read),
    ImportFormat("perf script", perf_script.matches, perf_script.read),
    ImportFormat("collapsed", collapsed.matches, collapsed.read),
)


def detect_format(path: Path) -> ImportFormat:
    """Detect the format of a file. Raises FramedexError if it is unsupported or the file cannot be read."""
    try:
        head = Source(path).head()
    except (OSError, ValueError) as error:
        raise unreadable_file_error(path, error) from error
    for each in FORMATS:
        if each.matches(head):
            return each
    if (known := find_unsupported_format(head)) is not None:
        raise FramedexError(f"{path} is {known.name}, which framedex does not import.", known.remedy)
    names = ", ".join(each.name for each in FORMATS)
    raise FramedexError(
        f"{path} is not in a supported format{'' if head else ': it is empty'}.",
        f"Supported formats: {names}. docs/how-to/import.md shows how each recorder writes one of them.",
    )


def read_profile(path: Path, foreign: ImportOrigin) -> ProfileBuilder:
    """Read a whole profile into a builder. Raises FramedexError if any part is malformed."""
    wanted = next((each for each in FORMATS if each.name == foreign.format), None)
    if wanted is None or wanted.read is None:
        raise FramedexError(
            f"{foreign.origin} was imported as {foreign.format}, which this version of framedex does not support.",
            "Use the version of framedex that imported it.",
        )
    builder = ProfileBuilder(foreign.value)
    try:
        wanted.read(Source(path), builder)
        if not builder.kinds:
            _refuse_weightless(foreign.origin, builder)
    except (OSError, ValueError, RecursionError, OverflowError) as error:
        raise unreadable_file_error(Path(foreign.origin), error, wanted.name) from error
    return builder


def _refuse_weightless(origin: str, builder: ProfileBuilder) -> NoReturn:
    """Reject a file without weighted samples. Raises FramedexError if another value has a weight, else ValueError."""
    if builder.weighing is None or not builder.other_values:
        raise ValueError(". ".join(("no sample in it has a stack and a weight", *builder.problems)).rstrip("."))
    raise FramedexError(
        f"{origin}: none of its samples has a stack and a nonzero {builder.weighing.value}.",
        f"Nothing was imported. Choose another value with `--value`: {', '.join(sorted(builder.other_values))}.",
    )


def unreadable_file_error(path: Path, error: Exception, name: str = "") -> FramedexError:
    """The error for a file that cannot be read."""
    reason = error.strerror or error if isinstance(error, OSError) else error
    if isinstance(error, RecursionError):
        reason = "it is nested too deeply"
    remedy = "Nothing was imported. Record or export the file again."
    if isinstance(error, OSError) and (error.errno == errno.EINVAL or str(path) == "-"):
        remedy = "A pipe cannot be imported. Write its output to a file, and import that."
    return FramedexError(f"{path} cannot be read{f' as {name}' if name else ''}: {reason}.", remedy)

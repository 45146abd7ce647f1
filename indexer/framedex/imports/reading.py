"""Reading a file that another recorder wrote: which format it is, by its content, and then by that format's reader."""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from framedex.errors import FramedexError
from framedex.imports.building import Builder
from framedex.imports.readers import chrome, collapsed, memray, perf_script, perfetto, pprof, speedscope, xplane
from framedex.imports.source import Source
from framedex.imports.unread import unread
from framedex.model import Foreign
from framedex.model.metadata import SHARED_FORMAT
from framedex.shared import archive


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, how it is told by the first bytes of a file, and what reads it (None: it is no profile).

    Reading raises ValueError where the file is not as the format has it; its text follows on "it cannot be read: ".
    """

    name: str
    fits: Callable[[bytes], bool]
    read: Callable[[Source, Builder], None] | None


# The first that fits is it: what can be told surely comes first, what is only likely last.
FORMATS = (
    Format(SHARED_FORMAT, archive.fits, None),
    Format("speedscope", speedscope.fits, speedscope.read),
    Format("memray csv", memray.fits_csv, memray.read_csv),
    Format("memray gprof2dot", memray.fits_gprof2dot, memray.read_gprof2dot),
    Format("Chrome trace events", chrome.fits, chrome.read),
    Format("XPlane", xplane.fits, xplane.read),
    Format("Perfetto", perfetto.fits, perfetto.read),
    Format("pprof", pprof.fits, pprof.read),
    Format("perf script", perf_script.fits, perf_script.read),
    Format("collapsed", collapsed.fits, collapsed.read),
)


def format_of(path: Path) -> Format:
    """The format of a file. Raises FramedexError where it is none that is read, or the file cannot be read."""
    try:
        head = Source(path).head()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    for each in FORMATS:
        if each.fits(head):
            return each
    if (known := unread(head)) is not None:
        raise FramedexError(f"{path} is {known.name}, which framedex does not import.", known.remedy)
    names = ", ".join(each.name for each in FORMATS)
    raise FramedexError(
        f"{path} is in no format that framedex imports{'' if head else ': it is empty'}.",
        f"These are read: {names}. docs/how-to/import.md says how each recorder writes one of them.",
    )


def read_profile(path: Path, foreign: Foreign) -> Builder:
    """All that a file says, as a capture has it. Raises FramedexError where it is refused: it is read whole or not."""
    wanted = next((each for each in FORMATS if each.name == foreign.format), None)
    if wanted is None or wanted.read is None:
        raise FramedexError(
            f"{foreign.origin} was imported as {foreign.format}, which this framedex does not read.",
            "Read it with the framedex that imported it.",
        )
    builder = Builder(foreign.value)
    try:
        wanted.read(Source(path), builder)
        if not builder.kinds:
            _refuse_nothing(foreign.origin, builder)
    except (OSError, ValueError, RecursionError, OverflowError) as error:
        raise unreadable(Path(foreign.origin), error, wanted.name) from error
    return builder


def _refuse_nothing(origin: str, builder: Builder) -> NoReturn:
    """Refuse a file in which no sample counts. Raises FramedexError, or ValueError where no other value can count."""
    if builder.weighing is None or not builder.other_values:
        raise ValueError(". ".join(("no sample in it has a stack and a weight", *builder.problems)).rstrip("."))
    raise FramedexError(
        f"{origin}: none of its samples has a stack and a weight by {builder.weighing.value}.",
        f"Nothing of it was imported. Choose another value with `--value`: {', '.join(sorted(builder.other_values))}.",
    )


def unreadable(path: Path, error: Exception, name: str = "") -> FramedexError:
    """What is said of a file that cannot be read."""
    said = error.strerror or error if isinstance(error, OSError) else error
    if isinstance(error, RecursionError):
        said = "it is nested too deeply"
    remedy = "Nothing of it was imported. Write it again, or check where it comes from."
    if isinstance(error, OSError) and (error.errno == errno.EINVAL or str(path) == "-"):
        remedy = "A profile is a file: what comes through a pipe has to be written into one first."
    return FramedexError(f"{path} cannot be read{f' as {name}' if name else ''}: {said}.", remedy)

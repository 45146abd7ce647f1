"""Shared code of verbs that read logs: input, and the resolver of frames."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from framedex import words
from framedex.commands.inputs.known import is_read_only, known_index, load_settings_here, note_if_changed
from framedex.commands.inputs.whereabouts import whereabouts
from framedex.commands.output.console import print_error
from framedex.errors import FramedexError
from framedex.plaintext import printable
from framedex.text_stacks.placing.binaries import Binaries
from framedex.text_stacks.placing.released import Basis, ReleasedSources
from framedex.text_stacks.placing.resolve import Resolver

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.releases.stated import StatedReleases
    from framedex.settings import Settings
    from framedex.text_stacks.placing.resolve import Found
    from framedex.text_stacks.placing.same_build import BuildEvidence

_BASES = {
    Basis.TEXT: "stated in the text",
    Basis.INSTALLATION: "installed where the frames are",
    Basis.RECORDING: "of the latest recording",
}
NO_INDEX = "There is no index here: frames with only a symbol need one. `framedex index --source DIR` makes it."


def unreadable(file: str, error: OSError | ValueError) -> FramedexError:
    """The error for a log that cannot be read."""
    reason = getattr(error, "strerror", None) or str(error)
    name = "stdin" if file == "-" else printable(file)
    return FramedexError(f"{name} cannot be read: {reason}.", "Give a text file, or - for stdin.")


def standard_input() -> TextIO:
    """Return stdin. Raises FramedexError if it was closed before the process began."""
    if sys.stdin is None:  # the descriptor may be another file by now
        raise unreadable("-", OSError(errno.EBADF, os.strerror(errno.EBADF)))
    return sys.stdin


@contextmanager
def opened_resolver(
    index_path: Path | None, file: str, releases: StatedReleases
) -> Iterator[tuple[Resolver, Index | None]]:
    """A resolver for the frames of a log, and its index, if any.

    `releases` are the releases stated in the log. Raises FramedexError if the index cannot be read.
    """
    from framedex.index import Index  # imported late: it takes half a second, during which the log already passes

    settings = load_settings_here()
    try:
        path = known_index(index_path, settings)
    except FramedexError as error:  # files with absolute paths can still be found without a working folder
        print_error(error)
        path = None
    may_write = not is_read_only()
    with nullcontext() if path is None else Index.open(path, links=settings.links, may_write=may_write) as index:
        if index is not None:
            note_if_changed(index)
        yield resolver_by(settings, file, index, releases), index


def resolver_by(settings: Settings, file: str, index: Index | None, releases: StatedReleases) -> Resolver:
    """A resolver for the frames of a log, from the settings, the folder of the log, and the index, if any.

    `releases` are the releases stated in the log.
    """
    released = ReleasedSources(index, releases, settings.links)
    return Resolver(index, whereabouts(settings, file, index), Binaries(), releases, released=released)


def notes_of_release(released: ReleasedSources) -> Iterator[str]:
    """Notes for the user: the releases used for frames, conflicts in the text, and damaged source maps."""
    if released.used:
        placed = ", ".join(
            f"{package} {version} ({_BASES[basis]})" for package, (version, basis) in sorted(released.used.items())
        )
        yield f"Frames of XLA and JAX are placed in {placed}."
    yield from problems_of_release(released)


def note_of_addresses(frames: Iterable[Found]) -> Iterator[str]:
    """A note for the user if frames have only an address."""
    bare = sum(map(_has_only_address, frames))
    if bare:
        yield (
            f"{words.count(bare, 'frame')} {'has' if bare == 1 else 'have'} only an address, without the binary that"
            " was loaded there. To name them, print the stack with its modules, take it from a core dump"
            " (`gdb PROGRAM CORE -batch -ex bt`), or record the program (`framedex run SCRIPT`)."
        )


def _has_only_address(found: Found) -> bool:
    frame = found.frame
    return frame.address is not None and not (found.function or frame.module or frame.build_id or frame.place)


def problems_of_builds(builds: BuildEvidence) -> Iterator[str]:
    """Notes for the user: local binaries that are, or may be, other builds than those of the text."""
    for path in sorted(builds.others - builds.unproven - set(builds.recorded.values())):
        yield f"{printable(path)} is another build than the one in the text: its offsets name nothing."
    for module in sorted(filter(None, builds.recorded)):
        yield f"Names of {printable(module)} are those of a recorded build, of which framedex kept a copy."
    if builds.unproven:
        paths = ", ".join(map(printable, sorted(builds.unproven)))
        yield (
            f"Names of {paths} are marked [doubtful]: the text does not say which build it is of. A build-id, or a"
            " frame with a name and an address, would prove it."
        )


def problems_of_release(released: ReleasedSources) -> Iterator[str]:
    """Notes for the user: conflicting release statements of a text, a missing statement, and damaged source maps."""
    for package, versions in sorted(released.conflicts.items()):
        yield (
            f"The text states {len(versions)} releases of {package}: {', '.join(versions)}. Frames are placed in the"
            " newest and marked. Remove the statements of other environments."
        )
    if released.assumed:
        yield (
            "Nothing says of which jaxlib these frames are: places marked [nearest release] are of jaxlib"
            f" {released.assumed}. A line such as `jaxlib==0.10.2` in the text tells."
        )
    if released.problem:
        yield released.problem

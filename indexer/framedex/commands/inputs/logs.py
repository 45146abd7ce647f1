"""Shared code of verbs that read logs: their input, the resolver of frames, and notes."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.plaintext import make_printable
from framedex.commands.inputs.files import path_resolver
from framedex.commands.inputs.project_index import find_index_path, is_read_only, load_settings_here, report_if_changed
from framedex.commands.output.console import print_error
from framedex.text_stacks.source_lookup.binaries import Binaries
from framedex.text_stacks.source_lookup.released import ReleaseBasis, ReleasedSources
from framedex.text_stacks.source_lookup.resolve import Resolver

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.settings import Settings
    from framedex.sources.releases.statements import StatedReleases
    from framedex.text_stacks.source_lookup.builds import BuildEvidence
    from framedex.text_stacks.source_lookup.frame_context import FoundFrame

_BASES = {
    ReleaseBasis.TEXT: "stated in the text",
    ReleaseBasis.INSTALLATION: "installed where the frames are",
    ReleaseBasis.RECORDING: "of the latest recording",
}
NO_INDEX = "There is no index here, and frames with only a symbol need one. Create it: `framedex index --source DIR`."


def unreadable_error(file: str, error: OSError | ValueError) -> FramedexError:
    """The error for a log that cannot be read."""
    reason = getattr(error, "strerror", None) or str(error)
    name = "stdin" if file == "-" else make_printable(file)
    return FramedexError(f"{name} cannot be read: {reason}.", "Name a text file, or - for stdin.")


def standard_input() -> TextIO:
    """Return stdin. Raises FramedexError if it was closed before the process began."""
    if sys.stdin is None:  # descriptor 0 may have been reused for another file
        raise unreadable_error("-", OSError(errno.EBADF, os.strerror(errno.EBADF)))
    return sys.stdin


@contextmanager
def open_resolver(
    index_path: Path | None, file: str, releases: StatedReleases
) -> Iterator[tuple[Resolver, Index | None]]:
    """Open a resolver for the frames of a log, and its index, if any.

    `releases` are the releases stated in the log. Raises FramedexError if the index cannot be read.
    """
    from framedex.index import Index  # imported late: it takes half a second, during which the log already passes

    settings = load_settings_here()
    try:
        path = find_index_path(index_path, settings)
    except FramedexError as error:  # the working folder was deleted; absolute paths still resolve
        print_error(error)
        path = None
    may_write = not is_read_only()
    with nullcontext() if path is None else Index.open(path, links=settings.links, may_write=may_write) as index:
        if index is not None:
            report_if_changed(index)
        yield make_resolver(settings, file, index, releases), index


def make_resolver(settings: Settings, file: str, index: Index | None, releases: StatedReleases) -> Resolver:
    """A resolver for the frames of a log, from the settings, the folder of the log, and the index, if any.

    `releases` are the releases stated in the log.
    """
    released = ReleasedSources(index, releases, settings.links)
    return Resolver(index, path_resolver(settings, file, index), Binaries(), releases, released=released)


def build_release_notes(released: ReleasedSources) -> Iterator[str]:
    """Notes for the user: the releases used for frames, conflicts in the text, and damaged source maps."""
    if released.used:
        placed = ", ".join(
            f"{package} {version} ({_BASES[basis]})" for package, (version, basis) in sorted(released.used.items())
        )
        yield f"Sources of XLA and JAX frames: {placed}."
    yield from find_release_problems(released)


def build_bare_address_notes(frames: Iterable[FoundFrame]) -> Iterator[str]:
    """Note for the user: some frames have only an address."""
    bare = sum(map(_has_only_address, frames))
    if bare:
        yield (
            f"{words.count(bare, 'frame')} {'has' if bare == 1 else 'have'} only an address, and the text does not"
            " name the binary that was loaded there. To name them, print the stack with its modules, take it from a"
            " core dump (`framedex core CORE`), or record the program (`framedex run SCRIPT`)."
        )


def _has_only_address(found: FoundFrame) -> bool:
    frame = found.frame
    return frame.address is not None and not (found.function or frame.module or frame.build_id or frame.place)


def build_problems(builds: BuildEvidence) -> Iterator[str]:
    """Notes for the user: local binaries that are, or may be, other builds than those of the text."""
    for path in sorted(builds.others - builds.unproven - set(builds.recorded.values())):
        yield f"{make_printable(path)} is a different build from the one in the text: its offsets give no names."
    for module in sorted(filter(None, builds.recorded)):
        yield f"Names in {make_printable(module)} come from a recorded build, of which framedex has a copy."
    if builds.unproven:
        paths = ", ".join(map(make_printable, sorted(builds.unproven)))
        yield (
            f"Names in {paths} are marked [doubtful], because the text does not identify the build. A build-id, or a"
            " frame with a name and an address, would identify it."
        )


def find_release_problems(released: ReleasedSources) -> Iterator[str]:
    """Notes for the user: conflicting release statements of a text, a missing statement, and damaged source maps."""
    for package, versions in sorted(released.conflicts.items()):
        yield (
            f"The text names {len(versions)} releases of {package}: {', '.join(versions)}. framedex uses the newest and"
            " marks the frames. Remove the statements of other environments from the text."
        )
    if released.assumed:
        yield (
            f"The jaxlib release of these frames is unknown: locations marked [nearest release] are from jaxlib"
            f" {released.assumed}. Add a line such as `jaxlib==0.10.2` to the text."
        )
    if released.problem:
        yield released.problem

"""What the verbs that read logs share: where a log comes from, and what finds the sources of its frames."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from framedex.commands.output.console import print_error
from framedex.commands.reading.known import is_read_only, known_index, load_settings_here, note_if_changed
from framedex.commands.reading.whereabouts import whereabouts
from framedex.errors import FramedexError
from framedex.interchange.placing.binaries import Binaries
from framedex.interchange.placing.released import ReleasedSources
from framedex.interchange.placing.resolve import Resolver
from framedex.plaintext import printable

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.releases.stated import StatedReleases
    from framedex.settings import Settings

NO_INDEX = "There is no index here: frames with only a symbol need one. `framedex index --source DIR` makes it."


def unreadable(file: str, error: OSError | ValueError) -> FramedexError:
    """What to tell the user whose log cannot be read."""
    reason = getattr(error, "strerror", None) or str(error)
    name = "stdin" if file == "-" else printable(file)
    return FramedexError(f"{name} cannot be read: {reason}.", "Give a text file, or - for stdin.")


def standard_input() -> TextIO:
    """What is piped in. Raises FramedexError where that was closed before we began."""
    if sys.stdin is None:  # its number may be another file's by now
        raise unreadable("-", OSError(errno.EBADF, os.strerror(errno.EBADF)))
    return sys.stdin


@contextmanager
def opened_resolver(
    index_path: Path | None, file: str, releases: StatedReleases
) -> Iterator[tuple[Resolver, Index | None]]:
    """What finds the sources of the frames in a log, and the index that it asks, if any.

    `releases` is what the log has stated of those that it is of.

    Raises FramedexError where there is an index that cannot be read.
    """
    from framedex.index import Index  # half of a second, during which a log already passes

    settings = load_settings_here()
    try:
        path = known_index(index_path, settings)
    except FramedexError as error:  # without a working folder there still are the files with absolute paths
        print_error(error)
        path = None
    may_write = not is_read_only()
    with nullcontext() if path is None else Index.open(path, links=settings.links, may_write=may_write) as index:
        if index is not None:
            note_if_changed(index)
        yield resolver_by(settings, file, index, releases), index


def resolver_by(settings: Settings, file: str, index: Index | None, releases: StatedReleases) -> Resolver:
    """What finds the sources of the frames in a log by the settings, by its relative paths, and by an index, if any.

    `releases` is what the log has stated.
    """
    released = ReleasedSources(index, releases, settings.links)
    return Resolver(index, whereabouts(settings, file, index), Binaries(), releases, released=released)


def notes_of_release(released: ReleasedSources) -> Iterator[str]:
    """What to tell users of the releases that places were found in."""
    if released.assumed:
        yield (
            "Nothing says of which jaxlib these frames are: places marked [nearest release] are of jaxlib"
            f" {released.assumed}. A line such as `jaxlib==0.10.2` in the text tells."
        )
    if released.problem:
        yield released.problem

"""Functions and source lines of native frames, from the index of the working folder and the known releases."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from framedex.commands.inputs.logs import build_release_notes, open_resolver
from framedex.commands.output.console import note
from framedex.live.native.naming import NamedFrames, name_frames
from framedex.live.native.stacks import ProcessStacks
from framedex.sources.releases.statements import StatedReleases


def name_native_frames(stacks: ProcessStacks, index_path: Path | None) -> NamedFrames:
    """The functions of all native frames of a process. Prints a note on the releases."""
    with (
        open_resolver(index_path, "-", StatedReleases()) as (resolver, index),
        index.reading() if index else nullcontext(),
    ):
        names = name_frames(stacks, resolver)
    for sentence in build_release_notes(resolver.released):
        note(sentence)
    return names

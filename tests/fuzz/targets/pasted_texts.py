"""What is clicked or pasted: it leads to a file, or to a message that says why not."""

from __future__ import annotations

import os
from contextlib import chdir

from framedex.commands.reading.pasted import Finder
from framedex.errors import FramedexError
from framedex.settings import Settings
from framedex.whereabouts.rules import PathRule
from tests.fuzz.inputs import scratch, text_of

LONGEST = 4096


def run(data: bytes) -> None:
    """Without an index, with one source folder and one rule, in a folder with one file."""
    folder = scratch()
    (folder / "here.py").touch()
    settings = Settings(sources=(folder,), path_map=(PathRule("/build", folder),))
    with chdir(folder):
        try:
            place = Finder(settings, None).find(text_of(data))
            assert os.path.isfile(place.path) and (place.line is None or place.line > 0)  # noqa: PTH113
        except FramedexError as error:
            assert str(error)

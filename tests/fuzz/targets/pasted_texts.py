"""Clicked or pasted text leads to a file, to a web page, or to a message with the reason."""

from __future__ import annotations

import os
from contextlib import chdir

from framedex.base.errors import FramedexError
from framedex.commands.editor.browser import is_web_address
from framedex.commands.inputs.files import PublicPage
from framedex.commands.inputs.pasted_text import SourceFinder
from framedex.path_resolution.files import PathRule
from framedex.settings import Settings
from tests.fuzz.inputs import scratch, text_of

MAX_SIZE = 4096


def run(data: bytes) -> None:
    """Without an index, with one source folder and one rule, in a folder with one file."""
    folder = scratch()
    (folder / "here.py").touch()
    settings = Settings(sources=(folder,), path_map=(PathRule("/build", folder),))
    with chdir(folder):
        try:
            place = SourceFinder(settings, None).find(text_of(data))
            if isinstance(place, PublicPage):
                assert is_web_address(place.url)
            else:
                assert os.path.isfile(place.path) and (place.line is None or place.line > 0)  # noqa: PTH113
        except FramedexError as error:
            assert str(error)

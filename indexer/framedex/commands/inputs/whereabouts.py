"""Map the paths in an input text to local files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from framedex.commands.inputs.files import absolute
from framedex.errors import FramedexError
from framedex.path_resolution.precedence import Whereabouts

if TYPE_CHECKING:
    from framedex.index import Index
    from framedex.settings import Settings


def whereabouts(settings: Settings, file: str, index: Index | None) -> Whereabouts:
    """A mapper by the settings and an index.

    Relative paths start beside the text's file, or in the working folder for stdin.
    """
    try:
        folders = [absolute(Path() if file == "-" else Path(file).parent)]
    except FramedexError:  # the working folder was deleted
        folders = []
    return Whereabouts(settings.path_map, settings.sources, folders, index)

"""Which files here the paths in a text mean that a verb was given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from framedex.commands.reading.files import Place, absolute
from framedex.errors import FramedexError
from framedex.settings import Settings
from framedex.whereabouts.files import is_here_as_typed
from framedex.whereabouts.precedence import Whereabouts

if TYPE_CHECKING:
    from framedex.index import NameLookup


def whereabouts(settings: Settings, file: str, index: NameLookup | None) -> Whereabouts:
    """What finds them by the settings and an index: relative ones begin beside the text's file, or here for stdin."""
    try:
        folders = [absolute(Path() if file == "-" else Path(file).parent)]
    except FramedexError:  # the working folder has been deleted
        folders = []
    return Whereabouts(settings.path_map, settings.sources, folders, index)


def place_itself(place: Place, where: Whereabouts) -> Place | None:
    """The place in the file that its path means by a rule, or that is at the path, which stays as it was written."""
    path = str(place.path)
    if by_rule := where.by_rule(path):
        return replace(place, path=Path(by_rule))
    if is_here_as_typed(path):
        return place
    home = where.itself(path)
    return None if home is None else replace(place, path=Path(home))

"""Regular expressions that are compiled on first use.

Readers of text formats have two hundred of them, 0.1 ms each, and a text needs only a few.
"""

from __future__ import annotations

import re
from typing import cast


def compiled_on_use(text: str, flags: int = 0) -> re.Pattern[str]:
    """A lazy pattern, checked and compiled on first use.

    It has all methods of a pattern, but the `re` of its matches is the compiled pattern, not this object.
    """
    return cast("re.Pattern[str]", _Uncompiled(text, flags))


class _Uncompiled:
    """Forwards to the methods of its pattern, each resolved on first use."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> object:
        found = getattr(re.compile(self._text, self._flags), name)  # `re` caches it
        setattr(self, name, found)
        return found

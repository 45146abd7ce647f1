"""Regular expressions that are compiled when they are first asked something.

Those who read texts of any format have two hundred of them, a tenth of a millisecond each, and a text needs a few.
"""

from __future__ import annotations

import re
from typing import cast


def compiled_on_use(text: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern of a regular expression, which is checked and compiled only then.

    It has all of a pattern's methods; but the `re` of its matches is the compiled pattern, and not this object.
    """
    return cast("re.Pattern[str]", _Uncompiled(text, flags))


class _Uncompiled:
    """Has the methods of its pattern, each from when it is first asked for."""

    def __init__(self, text: str, flags: int) -> None:
        self._text, self._flags = text, flags

    def __getattr__(self, name: str) -> object:
        found = getattr(re.compile(self._text, self._flags), name)  # which `re` keeps
        setattr(self, name, found)
        return found

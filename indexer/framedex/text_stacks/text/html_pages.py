"""Texts copied from the source of an HTML page, with character entities, and tags between lines."""

from __future__ import annotations

import re

from framedex.patterns import compiled_on_use

_ESCAPED_FRAME = compiled_on_use(
    r"File &(?:quot|#34|#x22);|&lt;module&gt;|::\w{1,200}&lt;|operator&[lg]t;|[(:] ?&amp;&amp;"
)
_TAG = compiled_on_use(r"</?(?:br|p|pre|code|div|span|li|td|tr)\b[^<>\n]{0,200}>", re.IGNORECASE)
_ENTITY = compiled_on_use(r"&(quot|#34|#x22|apos|#39|#x27|lt|gt|nbsp|#160|amp);")
_CHARACTERS = {
    **dict.fromkeys(("quot", "#34", "#x22"), '"'),
    **dict.fromkeys(("apos", "#39", "#x27"), "'"),
    **dict.fromkeys(("nbsp", "#160"), " "),
    **{"lt": "<", "gt": ">", "amp": "&"},
}


def without_html(text: str) -> str:
    """Return the text without tags and entities if its frames are escaped for HTML, else unchanged.

    Line numbers stay the same.
    """
    if "&" not in text or _ESCAPED_FRAME.search(text) is None:
        return text
    return _ENTITY.sub(lambda found: _CHARACTERS[found[1]], _TAG.sub("", text))

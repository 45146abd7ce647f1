"""Collects the remaining strings that look private after redaction, for the user to check."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

_MAX_SUSPECTS = 200  # suspects of each kind
_MAX_CHARACTERS = 120  # characters

_PUBLIC = re.compile(r"/(?:project|python|elsewhere|usr|lib|lib64|bin|proc|dev)(?:/|$)")
_SUSPECT_PATTERNS = {
    "a path": re.compile(r"(?<![\w)\]>.}/])(?:/[\w.@+-]+){2,}|\b[A-Za-z]:\\[\w\\.-]+"),
    "a mail address": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "a host": re.compile(
        r"\b(?:[\w-]+\.)+(?:com|net|org|io|ai|dev|edu|gov|local|internal|corp|lan|intra)\b(?![\w(])"
        r"|(?<![\w.])[1-9]\d{0,2}(?:\.\d{1,3}){3}(?![\w.])"
    ),
    "a token": re.compile(
        r"\b(?:gh[pousr]_|hf_|sk-|xox[abp]-|AKIA|eyJ)[\w.-]{10,}"
        r"|\b(?!_Z)(?=[\w+/-]*\d)(?=[\w+/-]*[a-z])(?=[\w+/-]*[A-Z])[A-Za-z\d+/-]{36,}\b"
    ),
}


class SuspectCollector:
    """Collects suspicious texts, each once."""

    def __init__(self) -> None:
        self._found: dict[str, dict[str, None]] = defaultdict(dict)

    def collect(self, text: str) -> bool:
        """Collect the suspects in a text. Returns whether it has any."""
        if "/" not in text and "." not in text and "\\" not in text and "@" not in text and len(text) < 10:
            return False
        has_some = False
        for kind, pattern in _SUSPECT_PATTERNS.items():
            for match in pattern.finditer(text):
                if kind == "a path" and _PUBLIC.match(match[0]):
                    continue
                has_some = True
                if len(self._found[kind]) < _MAX_SUSPECTS:
                    self._found[kind][match[0][:_MAX_CHARACTERS]] = None
        return has_some

    def collected(self) -> Iterator[tuple[str, str]]:
        """Yield (kind, text) for each suspect; the kind says what it looks like."""
        for kind, texts in self._found.items():
            for text in texts:
                yield kind, text

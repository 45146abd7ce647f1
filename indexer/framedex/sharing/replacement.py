"""Replaces private strings with a mark, or with a digest that keeps equal strings equal."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

REDACTED = "(redacted)"
"""The mark of a removed text."""

_SIZE = re.compile(r"-[0-9a-f]{1,8}$")


class TextReplacer:
    """Replaces texts, and counts them by kind.

    `salt` is a text that is not in the shared file. It prevents guessing the text behind a digest.
    """

    def __init__(self, salt: str) -> None:
        self._salt = hashlib.blake2b(salt.encode("utf-8", "surrogatepass")).digest()
        self.counts: Counter[str] = Counter()

    def remove(self, kind: str) -> str:
        """Return the mark, and count a removed text of this kind."""
        self.counts[kind] += 1
        return REDACTED

    def digest(self, value: str) -> str:
        """Return a digest of 16 hexadecimal digits; empty for an empty text."""
        if not value:
            return value
        return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8, key=self._salt).hexdigest()

    def redact_kept_name(self, value: str) -> str:
        """Redact the name of a kept program, options or note: a digest, and the size of the content."""
        size = _SIZE.search(value)
        return self.digest(value) + (size[0] if size else "")

    def redact_site_key(self, key: str) -> str:
        """Redact the key of a site of an `ffi_call`."""
        return f"0x{self.digest(key)}" if key else key

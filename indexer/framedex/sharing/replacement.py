"""What stands in a redacted file in place of texts: a mark, or a digest by which equal texts are still equal."""

from __future__ import annotations

import hashlib
import re
from collections import Counter

GONE = "(redacted)"
"""What stands where a text was."""

_SIZE = re.compile(r"-[0-9a-f]{1,8}$")


class Replacement:
    """Replaces texts, and counts them by kind.

    `salt` is a text that the shared file does not have: without it nobody can try which text has a digest.
    """

    def __init__(self, salt: str) -> None:
        self._salt = hashlib.blake2b(salt.encode("utf-8", "surrogatepass")).digest()
        self.counts: Counter[str] = Counter()

    def gone(self, kind: str) -> str:
        """The mark, for a text of a kind."""
        self.counts[kind] += 1
        return GONE

    def digest(self, value: str) -> str:
        """A text's digest of 16 hexadecimal digits; empty for an empty text."""
        if not value:
            return value
        return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=8, key=self._salt).hexdigest()

    def kept_name(self, value: str) -> str:
        """The name of a program, of options or of a note beside the calls: a digest, and the size of the content."""
        size = _SIZE.search(value)
        return self.digest(value) + (size[0] if size else "")

    def site(self, key: str) -> str:
        """The key of a site of an `ffi_call`."""
        return f"0x{self.digest(key)}" if key else key

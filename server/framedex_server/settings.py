"""What a user has set for the editor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EditorSettings:
    """How much the server shows unasked. A field's key has hyphens: `code-lens`."""

    code_lens: bool = False
    inlay_hints: bool = False
    static_calls: bool = False
    limit: int = 500

    @staticmethod
    def of(values: object) -> EditorSettings:
        """From the client's `framedex.editor`, as JSON."""
        known = values if isinstance(values, Mapping) else {}
        flags = {
            name: known.get(name.replace("_", "-")) is True for name in ("code_lens", "inlay_hints", "static_calls")
        }
        return EditorSettings(**flags)

"""Validation of macros for a compiler's command line and for CMake."""

from __future__ import annotations

import re

_NAME = r"[^\W\d]\w*"
_PARAMETERS = rf"\( *(?:(?:{_NAME} *, *)*(?:{_NAME}(?: *\.\.\.)?|\.\.\.))? *\)"
_DEFINITION = re.compile(rf"{_NAME}(?:{_PARAMETERS})?(?:=[^\x00-\x1f\x7f\ud800-\udfff]*)?")
_DROPPED = re.compile(rf"{_NAME}\(|.*#")


def is_definition(text: str) -> bool:
    """Return whether compilers accept this after `-D`: NAME, NAME=VALUE, or NAME(PARAMETERS)=VALUE, on one line."""
    return _DEFINITION.fullmatch(text) is not None


def is_dropped_by_cmake(definition: str) -> bool:
    """Return whether CMake drops this from compile definitions, with a warning. A compile option passes it on.

    CMake's cmLocalGenerator::CheckDefinition drops macros with parameters, and values with a `#`.
    """
    return _DROPPED.match(definition) is not None

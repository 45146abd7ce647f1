"""Macros that are defined on a compiler's command line, and how CMake is told of them."""

from __future__ import annotations

import re

_NAME = r"[^\W\d]\w*"
_PARAMETERS = rf"\( *(?:(?:{_NAME} *, *)*(?:{_NAME}(?: *\.\.\.)?|\.\.\.))? *\)"
_DEFINITION = re.compile(rf"{_NAME}(?:{_PARAMETERS})?(?:=[^\x00-\x1f\x7f\ud800-\udfff]*)?")
_DROPPED = re.compile(rf"{_NAME}\(|.*#")


def is_definition(text: str) -> bool:
    """Whether compilers take this after `-D`: NAME, NAME=VALUE, or NAME(PARAMETERS)=VALUE, on one line."""
    return _DEFINITION.fullmatch(text) is not None


def is_dropped_by_cmake(definition: str) -> bool:
    """Whether CMake drops this from compile definitions, with a warning; as a compile option it passes it on.

    That is the rule of its cmLocalGenerator::CheckDefinition: macros with parameters, and values with a `#`.
    """
    return _DROPPED.match(definition) is not None

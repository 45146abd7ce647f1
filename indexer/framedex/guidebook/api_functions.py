"""The functions of the runtime's C API, from the description of their ABI (`native/abi/generate_guidebook.py`)."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from framedex.model.guidebook import ApiRelease, FunctionDescription, Kind, Parameter
from framedex.sources.releases.repository import build_public_url


@cache
def read_api_functions() -> tuple[FunctionDescription, ...]:
    """Return every function, in table order: PJRT, extensions, objects' own tables, then jaxlib 0.4.13's API."""
    description = _load_description()
    return tuple(_parse_function(row, description["commits"]) for row in description["functions"])


def read_api_releases() -> tuple[ApiRelease, ...]:
    """Return the jaxlib releases with a known API, oldest first."""
    return tuple(ApiRelease(*row) for row in _load_description()["releases"])


@cache
def _load_description() -> dict[str, Any]:
    description: dict[str, Any] = json.loads(Path(__file__).with_name("abi.json").read_text("utf-8"))
    return description


def _parse_function(row: list[Any], commits: list[str]) -> FunctionDescription:
    name, kind, table, returns, arguments, parameters, since, declared = row
    source = None
    if declared is not None:
        commit, path, line = declared
        source = build_public_url("xla", path, line, commits[commit])
    fields = tuple(
        Parameter(field, type_, bool(is_output), field_since) for field, type_, is_output, field_since in parameters
    )
    return FunctionDescription(name, Kind(kind), table, returns, arguments, fields, since, source)

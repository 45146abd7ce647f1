"""A recording whose every name is an injection attempt, as in a stranger's shared file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Any

from framedex.base.progress import SilentProgress
from framedex.index import Index
from framedex.ingest.captures import open_stream
from framedex.model import Function
from framedex.programs.ffi.joins import split_function
from framedex.shared.contents import Definitions
from framedex.sharing.excerpts import SourceAmount
from framedex.sharing.redaction import Redaction
from framedex.sharing.writing import share

HOSTILE = (
    "`](command:evil) ![i](http://evil.example/i.png) <img src=x> [Fix it](command:evil) **b** https://evil.example"
    "\n\u202e# h\n"
)
"""The ending of every name."""

_KEPT = frozenset({"join", "kind", "site", "sites", "stages", "format"})  # JSON members that are used as keys


class HostileNames(Redaction):
    """Append the attack to every text of a capture, except local files and keys."""

    def redact_arguments(self, text: str) -> str:
        """Values of calls, except keys."""
        told = json.loads(text)
        return json.dumps(
            {key: value if key.endswith(".kept") else _in_json(key, value) for key, value in told.items()}
        )

    def redact_definitions(self, definitions: Definitions) -> Definitions:
        """All objects that calls refer to."""
        targets = [json.loads(text)["target"] for kind, text in definitions.descriptions if kind == "ffi_target"]
        hostile: Definitions = _hostile(definitions)
        return replace(
            hostile,
            boundaries=tuple(_boundary(each, targets) for each in definitions.boundaries),
            descriptions=tuple((kind, _text(text)) for kind, text in definitions.descriptions),
            sites=tuple(replace(each, target=_text(each.target)) for each in definitions.sites),
            builds=tuple(replace(each, version=_text(each.version)) for each in definitions.builds),
        )


def share_with_hostile_names(index: Path, file: Path) -> None:
    """Share the first capture of an index into a file."""
    with Index.open(index) as opened, file.open("wb") as written:
        (row, *_) = opened.captures()
        share(
            open_stream(Path(row.path)),
            opened.capture(row.id),
            written,
            SourceAmount.NONE,
            HostileNames(),
            SilentProgress(),
        )


def _boundary(function: Function, targets: list[str]) -> Function:
    if function.boundary != "ffi":
        return replace(function, name=function.name)
    target, stage = split_function(function.name, targets)
    return replace(function, name=_text(target) + (f".{stage}" if stage != "execute" else ""))


def _hostile(value: Any) -> Any:
    if isinstance(value, Enum):
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, tuple):
        return tuple(map(_hostile, value))
    if isinstance(value, Mapping):
        return {key: _hostile(each) for key, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{field.name: _hostile(getattr(value, field.name)) for field in fields(value)})
    return value


def _text(text: str) -> str:
    if text.startswith("{"):
        return json.dumps({key: _in_json(key, value) for key, value in json.loads(text).items()})
    is_here = text.startswith("/") and Path(text).exists()
    return text if not text or is_here else f"{text}{HOSTILE}"


def _in_json(key: str, value: Any) -> Any:
    if key in _KEPT or (isinstance(value, str) and value.startswith("0x")):
        return value
    if isinstance(value, dict):
        return {name: _in_json(name, each) for name, each in value.items()}
    if isinstance(value, list):
        return [_in_json(key, each) for each in value]
    return _text(value) if isinstance(value, str) else value

"""docs/reference/language-server.md lists every capability of the server."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from framedex_server.server import FramedexServer
from framedex_server.settings import EditorSettings

TEXT = (Path(__file__).parents[2] / "docs" / "reference" / "language-server.md").read_text(encoding="utf-8")

OFFERED = [
    *(name for name in FramedexServer().protocol.fm.features if name.startswith(("framedex/", "textDocument/"))),
    *FramedexServer().protocol.fm.commands,
    *(setting.name.replace("_", "-") for setting in fields(EditorSettings)),
]

NOT_FOR_READERS = ("textDocument/did",)


@pytest.mark.parametrize("name", [name for name in OFFERED if not name.startswith(NOT_FOR_READERS)])
def test_every_capability_is_in_the_reference(name: str) -> None:
    assert f"`{name}`" in TEXT

"""What the packaged extension holds beside its code."""

from __future__ import annotations

from zipfile import ZipFile

from tests.editors.vscode.code_server import VSIX
from tests.editors.vscode.project import CHECKOUT


def test_the_licence_and_those_of_what_is_bundled_are_in_the_package() -> None:
    with ZipFile(VSIX) as package:
        assert package.read("extension/LICENSE.txt") == (CHECKOUT / "LICENSE").read_bytes()
        assert b"vscode-languageclient" in package.read("extension/dist/NOTICES.txt")

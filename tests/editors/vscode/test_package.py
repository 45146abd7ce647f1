"""What the packaged extension holds beside its code."""

from __future__ import annotations

from io import BytesIO
from zipfile import ZipFile

from tests.editors.vscode.code_server import VSIX
from tests.editors.vscode.project import CHECKOUT


def test_the_licence_and_those_of_what_is_bundled_are_in_the_package() -> None:
    with ZipFile(VSIX) as package:
        assert package.read("extension/LICENSE.txt") == (CHECKOUT / "LICENSE").read_bytes()
        assert b"vscode-languageclient" in package.read("extension/dist/NOTICES.txt")


def test_the_wheel_for_every_platform_is_in_the_package_as_this_checkout_has_it() -> None:
    with ZipFile(VSIX) as package:
        (wheel,) = (name for name in package.namelist() if name.endswith(".whl"))
        assert wheel.startswith("extension/wheels/framedex-") and wheel.endswith("-py3-none-any.whl")
        with ZipFile(BytesIO(package.read(wheel))) as packed:
            (served,) = (name for name in packed.namelist() if name == "framedex_server/__init__.py")
            assert packed.read(served) == (CHECKOUT / "server" / served).read_bytes()
            assert not [name for name in packed.namelist() if name.endswith(".so")]

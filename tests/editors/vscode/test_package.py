"""The contents of the packaged extension besides its code."""

from __future__ import annotations

import re
import shutil
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.editors.vscode.code_server import VSIX, build_packages, packages_locked
from tests.editors.vscode.project import CHECKOUT


def test_the_package_contains_all_licences() -> None:
    with ZipFile(VSIX) as package:
        assert package.read("extension/LICENSE.txt") == (CHECKOUT / "LICENSE").read_bytes()
        assert b"vscode-languageclient" in package.read("extension/dist/NOTICES.txt")


def test_the_how_to_pages_are_in_the_package_with_the_pages_that_they_link_to() -> None:
    with ZipFile(VSIX) as package:
        for page in ("how-to/recompiles", "how-to/transfers", "how-to/memory", "how-to/waits", "reference/labels"):
            assert package.read(f"extension/docs/{page}.md") == (CHECKOUT / "docs" / f"{page}.md").read_bytes()


def test_the_package_contains_the_current_wheel_for_every_platform() -> None:
    with ZipFile(VSIX) as package:
        (wheel,) = (name for name in package.namelist() if name.endswith(".whl"))
        assert wheel.startswith("extension/wheels/framedex-") and wheel.endswith("-py3-none-any.whl")
        with ZipFile(BytesIO(package.read(wheel))) as packed:
            (served,) = (name for name in packed.namelist() if name == "framedex_server/__init__.py")
            assert packed.read(served) == (CHECKOUT / "server" / served).read_bytes()
            assert not [name for name in packed.namelist() if name.endswith(".so")]


@packages_locked()
@pytest.mark.parametrize(
    ("target", "platform"), [("linux-x64", "manylinux_2_27_x86_64"), ("linux-arm64", "manylinux_2_31_aarch64")]
)
def test_a_package_for_linux_contains_the_recording_wheels(tmp_path: Path, target: str, platform: str) -> None:
    (pure,) = (VSIX.parent / "wheels").glob("*-py3-none-any.whl")
    native = pure.name.replace("py3-none-any", f"cp313-cp313-{platform}")
    shutil.copy(pure, tmp_path / native)
    shutil.copy(pure, tmp_path / re.sub(r"framedex-[^-]+", "framedex-0.0.1", native))
    package_file = VSIX.with_name(f"framedex-{target}.vsix")
    try:
        assert f"building editors/vscode/{package_file.name}" in build_packages(tmp_path)
        with ZipFile(package_file) as package:
            assert f'TargetPlatform="{target}"'.encode() in package.read("extension.vsixmanifest")
            assert sorted(wheels_in(package)) == sorted([pure.name, native])
            assert "extension/docs/how-to/recompiles.md" in package.namelist()
        with ZipFile(VSIX) as package:
            assert wheels_in(package) == [pure.name]
        (tmp_path / native).unlink()
        assert f"{package_file.name} is not built" in build_packages(tmp_path)
        assert not package_file.exists() and [each.name for each in pure.parent.iterdir()] == [pure.name]
    finally:
        package_file.unlink(missing_ok=True)


def wheels_in(package: ZipFile) -> list[str]:
    return [Path(name).name for name in package.namelist() if name.endswith(".whl")]

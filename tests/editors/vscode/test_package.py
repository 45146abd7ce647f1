"""What the packaged extension holds beside its code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from io import BytesIO
from pathlib import Path
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


def test_the_package_for_linux_x64_carries_the_wheels_that_record(tmp_path: Path) -> None:
    linux = VSIX.with_name("framedex-linux-x64.vsix")
    (pure,) = (VSIX.parent / "wheels").glob("*-py3-none-any.whl")
    native = pure.name.replace("py3-none-any", "cp313-cp313-manylinux_2_27_x86_64")
    shutil.copy(pure, tmp_path / native)
    shutil.copy(pure, tmp_path / re.sub(r"framedex-[^-]+", "framedex-0.0.1", native))
    try:
        assert "building editors/vscode/framedex-linux-x64.vsix" in build(tmp_path)
        with ZipFile(linux) as package:
            assert b'TargetPlatform="linux-x64"' in package.read("extension.vsixmanifest")
            assert sorted(wheels_in(package)) == sorted([pure.name, native])
        with ZipFile(VSIX) as package:
            assert wheels_in(package) == [pure.name]
        (tmp_path / native).unlink()
        assert "framedex-linux-x64.vsix is not built" in build(tmp_path)
        assert not linux.exists() and [each.name for each in pure.parent.iterdir()] == [pure.name]
    finally:
        linux.unlink(missing_ok=True)


def build(dist: Path) -> str:
    """What building the packages says, with the wheels of a folder."""
    command = [CHECKOUT / "scripts" / "vsix"]
    done = subprocess.run(command, env={**os.environ, "DIST": str(dist)}, capture_output=True, text=True, check=True)
    return done.stdout


def wheels_in(package: ZipFile) -> list[str]:
    return [Path(name).name for name in package.namelist() if name.endswith(".whl")]

"""The machines that wheels are built for, each with its compiler and platform tag."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass

_COMPILER_VERSION = "12."


@dataclass(frozen=True)
class TargetMachine:
    """A processor architecture, as in `packages.json` and in the names of extension modules.

    `platform` is the tag of its wheels: jaxlib's own glibc for x86-64, and Debian 11's for AArch64. `compiler` and
    `compiler_library` are packages of Debian 12, and `libstdcxx` is a package of the sysroot. `prefix` precedes the
    names of the compiler's tools.
    """

    name: str
    platform: str
    compiler: str
    compiler_library: str
    libstdcxx: str
    prefix: str = ""

    @property
    def triplet(self) -> str:
        """The name of its folders of libraries."""
        return f"{self.name}-linux-gnu"

    def require_compiler(self) -> None:
        """Exit if Debian 12's compiler, with which everything is measured, is missing."""
        command = f"{self.prefix}g++"
        version = (
            subprocess.run([command, "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
            if shutil.which(command)
            else ""
        )
        if not version.startswith(_COMPILER_VERSION):
            sys.exit(
                f"wheels: {command} {_COMPILER_VERSION}x is needed, found {version or 'none'}."
                f" Install it on Debian 12: apt-get install {self.compiler}"
            )


MACHINES = {
    machine.name: machine
    for machine in (
        TargetMachine("x86_64", "manylinux_2_27_x86_64", "g++", "libgcc-12-dev", "libstdc++-8-dev"),
        TargetMachine(
            "aarch64",
            "manylinux_2_31_aarch64",
            "g++-aarch64-linux-gnu",
            "libgcc-12-dev-arm64-cross",
            "libstdc++-10-dev",
            "aarch64-linux-gnu-",
        ),
    )
}

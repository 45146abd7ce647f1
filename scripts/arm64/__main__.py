"""Compile the native part for AArch64, and create an environment in which QEMU runs it: `make arm64`.

python -m scripts.arm64

It needs Debian's g++-aarch64-linux-gnu, qemu-user and dpkg-deb. `build/arm64` gets:

- `root`: the files of Debian's CPython for AArch64, and of its libraries (`packages.json` of scripts/wheels pins them)
- `native`: the build; `site`: JAX's wheels (`requirements.txt`) and framedex_native
- `python`: that CPython under QEMU, with that site
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys

import pybind11

from scripts.wheels.epoch import ROOT
from scripts.wheels.packages import Pins, unpack

BUILD = ROOT / "build" / "arm64"
_PYTHON = "3.11"  # Debian 12's
_TOOLS = {
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
    "dpkg-deb": "dpkg",
    "cmake": "cmake",
    "ninja": "ninja-build",
}
_PLATFORMS = ("manylinux_2_28_aarch64", "manylinux_2_27_aarch64", "manylinux_2_17_aarch64", "manylinux2014_aarch64")


def main() -> None:
    """Build everything that is missing or stale."""
    missing = [package for tool, package in _TOOLS.items() if not shutil.which(tool)]
    if missing:
        sys.exit(f"arm64: missing tools. Install them: apt-get install {' '.join(missing)}")
    unpack(Pins.read().arm64, BUILD / "packages", BUILD / "root")
    _install_wheels()
    _compile_native_part()
    _write_interpreter()
    print(f"arm64: {(BUILD / 'python').relative_to(ROOT)} runs JAX with framedex_native (emulated, so slowly)")


def _install_wheels() -> None:
    """Install JAX's wheels for AArch64, once for each version of the requirements."""
    requirements = ROOT / "scripts" / "arm64" / "requirements.txt"
    site, done = BUILD / "site", BUILD / "site.made-of"
    if done.is_file() and done.read_bytes() == requirements.read_bytes():
        return
    shutil.rmtree(site, ignore_errors=True)
    platforms = [option for platform in _PLATFORMS for option in ("--platform", platform)]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(site), "--only-binary=:all:"]
    command += ["--python-version", _PYTHON, "--implementation", "cp", *platforms, "--requirement", str(requirements)]
    if subprocess.run(command).returncode:
        sys.exit("arm64: pip could not install JAX's wheels; see above")
    shutil.copyfile(requirements, done)


def _compile_native_part() -> None:
    settings = {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_TOOLCHAIN_FILE": ROOT / "native" / "architecture" / "aarch64" / "toolchain.cmake",
        "FRAMEDEX_PYTHONS": _PYTHON,
        "FRAMEDEX_PYTHON_HEADERS": BUILD / "root" / "usr" / "include",
        "Python_EXECUTABLE": sys.executable,
        "pybind11_DIR": pybind11.get_cmake_dir(),
    }
    native = str(BUILD / "native")
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    subprocess.run(
        ["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", native, *defined], check=True, stdout=subprocess.DEVNULL
    )
    if subprocess.run(["cmake", "--build", native]).returncode:
        sys.exit("arm64: the native part could not be compiled; see above")
    subprocess.run(
        ["cmake", "--install", native, "--prefix", str(BUILD / "site")], check=True, stdout=subprocess.DEVNULL
    )
    package = ROOT / "native" / "framedex_native"
    shutil.copytree(package, BUILD / "site" / "framedex_native", dirs_exist_ok=True)


def _write_interpreter() -> None:
    root, site = BUILD / "root", BUILD / "site"
    libraries = f"{root}/lib/aarch64-linux-gnu:{root}/usr/lib/aarch64-linux-gnu"
    settings = [f"PYTHONHOME={root}/usr", f"LD_LIBRARY_PATH={libraries}"]
    options = " ".join(f"-E {shlex.quote(each)}" for each in settings)
    text = f"""#!/bin/sh
# CPython for AArch64 under QEMU. `make arm64` wrote it.
export PYTHONPATH="${{PYTHONPATH:+$PYTHONPATH:}}"{shlex.quote(str(site))}
exec qemu-aarch64 -L {shlex.quote(str(root))} {options} {shlex.quote(f"{root}/usr/bin/python{_PYTHON}")} "$@"
"""
    interpreter = BUILD / "python"
    interpreter.write_text(text)
    interpreter.chmod(0o755)


if __name__ == "__main__":
    main()

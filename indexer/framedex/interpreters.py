"""Makes the command of every Python interpreter that framedex itself starts: none runs code of the working folder.

`python -m` and `python -c` import from the working folder, so a `json.py` in whatever folder an editor has opened would
be executed; so would what an empty or relative entry of PYTHONPATH leads to. Both kinds of interpreters made here are
isolated (`-I`: no working folder, no PYTHON* variables, no user site) and are given back by name what they need:

- one of our own finds what this process has found, less the working folder and folders that an editor has opened;
- one that is asked about itself finds the packages that a program of it would, after the standard library, and imports
  none of them.

The user's own program (`commands/launching/launch.py`) is none of these: it runs as the user would run it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from textwrap import shorten
from typing import Any

from framedex import words
from framedex.errors import FramedexError
from framedex.onpath import absolute_folders, absolute_search_path
from framedex.plaintext import printable

_ISOLATED = "-I"
_MOST_SAID = 200  # characters of what an interpreter says that fails: some programs repeat all that they were given

# `site` reads the .pth files of the user's packages, as this process's did: an editable installation is one of them.
_OWN = """\
import sys
path, doubtful, user_site = {path}, {doubtful}, {user_site}
if user_site:
    import site
    site.addsitedir(user_site)
sys.path[:] = [each for each in path if each in sys.path or each not in doubtful]
"""

# Python 3.9 too has to understand this: it is told that it is too old by its answer. The folders of PYTHONPATH and of
# the user come before the installed packages, as in a program, and after the standard library.
_PROBE = """\
import importlib.metadata, importlib.util, json, os, pkgutil, site, sys
added = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(each)]
if sys.base_prefix in site.PREFIXES and not os.environ.get("PYTHONNOUSERSITE"):
    user_site = site.getusersitepackages()
    if os.path.isabs(user_site) and os.path.isdir(user_site):
        site.addsitedir(user_site)
        sys.path = [each for each in sys.path if each != user_site]
        added.append(user_site)
packages = [os.path.basename(each) in ("site-packages", "dist-packages") for each in sys.path] + [True]
sys.path[packages.index(True) : packages.index(True)] = added
"""


def own_module(module: str, opened: Iterable[Path]) -> list[str]:
    """The command that runs a module of ours in an interpreter of its own, as `python -m MODULE` does.

    Nothing is imported from the folders that an editor has `opened`, but framedex itself where it lies in one.
    """
    return own_code(f"import runpy\nrunpy.run_module({module!r}, run_name='__main__', alter_sys=True)", opened)


def own_code(code: str, opened: Iterable[Path]) -> list[str]:
    """The command that runs code of ours in an interpreter of its own; its arguments are to be appended."""
    path = absolute_folders(os.pathsep.join(sys.path))
    doubtful = _doubtful(opened)
    values = {"path": path, "doubtful": [each for each in path if os.path.realpath(each) in doubtful]}
    start = _OWN.format(**{name: ascii(value) for name, value in values.items()}, user_site=ascii(_user_site()))
    return [sys.executable, _ISOLATED, "-c", start + code]  # noqa: TID251


def bare_code(code: str) -> list[str]:
    """The command that runs code which needs the standard library alone; its arguments are to be appended."""
    return [sys.executable, _ISOLATED, "-S", "-c", code]  # noqa: TID251


def ask(python: str, program: str, patience: float | None = None) -> Any:
    """Have an interpreter run a program that tells about it and its packages; the JSON that the program prints.

    The program may use importlib.metadata, importlib.util, json, os, pkgutil and sys. Raises OSError where there is no
    such interpreter, CalledProcessError where it fails, ValueError where it prints something else, and TimeoutExpired
    where it takes more than `patience` seconds.
    """
    command = [python, _ISOLATED, "-c", _PROBE + program]
    # It may be a script that looks for the interpreter (pyenv's are), so its PATH leads nowhere else than ours.
    environment = {**os.environ, "PATH": absolute_search_path()}
    done = subprocess.run(  # noqa: TID251
        command,
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        env=environment,
        timeout=patience,
    )
    return json.loads(done.stdout)


def why_not(error: OSError | subprocess.SubprocessError | ValueError) -> str:
    """What an interpreter that `ask` could not ask said itself, or the system of it: the end of a sentence."""
    if isinstance(error, subprocess.CalledProcessError):
        said = [line.strip() for line in (error.stderr or "").splitlines() if line.strip()]
        if said:
            is_traceback = any(line.startswith("Traceback ") for line in said)
            return printable(shorten(said[-1] if is_traceback else said[0], _MOST_SAID, placeholder=" …")).rstrip(".")
        ended = f"by signal {-error.returncode}" if error.returncode < 0 else f"with status {error.returncode}"
        return f"it ended {ended}, without a word"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it took more than {words.duration(round(error.timeout * 1e9))}"
    return "it prints something else than Python does"


def unusable(python: str, error: OSError | subprocess.SubprocessError | ValueError) -> FramedexError:
    """The error that an interpreter which was named could not be asked."""
    return FramedexError(f"{printable(python)} cannot be run as Python: {why_not(error)}.", "Name another Python.")


def _doubtful(opened: Iterable[Path]) -> set[str]:
    """The folders, by their real paths, that this process imports from only because of where it was started."""
    found = [os.fspath(folder) for folder in opened]
    with suppress(FileNotFoundError):  # a working folder that was deleted has nothing to import
        here = os.getcwd()  # noqa: PTH109 - joined with texts
        # Python has made these entries absolute, so that they cannot be told by their looks.
        relative = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if not os.path.isabs(each)]  # noqa: PTH117
        found += [os.path.join(here, each) for each in ("", *relative)]  # noqa: PTH118
    return set(map(os.path.realpath, found)) - set(map(os.path.realpath, _homes()))


def _homes() -> list[str]:
    """The folders that framedex's own packages were imported from."""
    packages = [sys.modules.get(name) for name in ("framedex", "framedex_server", "framedex_native")]
    return [str(Path(folder).parent) for package in packages if package for folder in package.__path__]


def _user_site() -> str | None:
    import site  # loaded with every interpreter but those with -S

    return site.getusersitepackages() if site.ENABLE_USER_SITE else None

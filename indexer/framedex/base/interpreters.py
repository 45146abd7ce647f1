"""Commands of the Python interpreters that framedex starts; none runs code from the working folder.

`python -m` and `python -c` import from the working folder, so a `json.py` in any folder opened in an editor would be
executed. An empty or relative entry of PYTHONPATH has the same effect. This module starts two kinds of interpreters.
Both are isolated (`-I`: no working folder, no PYTHON* variables, no user site) and receive only the folders that they
need:

- our own interpreter gets this process's import path, without the working folder and folders opened in an editor;
- an interpreter that is queried finds the packages that its programs would find, after the standard library, and
  imports none of them.

The user's own program (`commands/launching/launch.py`) is different: it runs as the user would run it.
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

from framedex.base import words
from framedex.base.errors import FramedexError
from framedex.base.folders import absolute_folders, make_search_path_absolute
from framedex.base.plaintext import make_printable

_ISOLATED = "-I"
_MAX_MESSAGE_LENGTH = 200  # characters of a failing interpreter's message: some programs repeat all their arguments

# `site` reads the .pth files of the user's packages, as in this process. Editable installations need these files.
_OWN_PATH_CODE = """\
import sys
path, doubtful, user_site = {path}, {doubtful}, {user_site}
if user_site:
    import site
    site.addsitedir(user_site)
sys.path[:] = [each for each in path if each in sys.path or each not in doubtful]
"""

# Python 3.9 must be able to parse this: its answer shows that it is too old. The folders of PYTHONPATH and of the user
# come before the installed packages, as in a program, and after the standard library.
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


def build_own_module_command(module: str, opened: Iterable[Path]) -> list[str]:
    """The command that runs a framedex module in its own interpreter, like `python -m MODULE`.

    Nothing is imported from the folders `opened` in an editor, except framedex itself if it is installed in one.
    """
    return build_own_code_command(
        f"import runpy\nrunpy.run_module({module!r}, run_name='__main__', alter_sys=True)", opened
    )


def build_own_code_command(code: str, opened: Iterable[Path]) -> list[str]:
    """The command that runs framedex code in its own interpreter; callers append its arguments."""
    path = absolute_folders(os.pathsep.join(sys.path))
    doubtful = _find_untrusted_folders(opened)
    values = {"path": path, "doubtful": [each for each in path if os.path.realpath(each) in doubtful]}
    start = _OWN_PATH_CODE.format(
        **{name: ascii(value) for name, value in values.items()}, user_site=ascii(_find_user_site())
    )
    return [sys.executable, _ISOLATED, "-c", start + code]  # noqa: TID251


def build_bare_command(code: str) -> list[str]:
    """The command that runs code without packages, only the standard library; callers append its arguments."""
    return [sys.executable, _ISOLATED, "-S", "-c", code]  # noqa: TID251


def query_interpreter(python: str, program: str, timeout_s: float | None = None) -> Any:
    """Run a short program in an interpreter, to query the interpreter and its packages; return the JSON that it prints.

    The program may use importlib.metadata, importlib.util, json, os, pkgutil and sys. Raises OSError if there is no
    such interpreter, CalledProcessError if it fails, ValueError if its output is not JSON, and TimeoutExpired after
    `timeout_s` seconds.
    """
    command = [python, _ISOLATED, "-c", _PROBE + program]
    # `python` may be a script that searches for the interpreter, like pyenv's, so its PATH is restricted like ours.
    environment = {**os.environ, "PATH": make_search_path_absolute()}
    done = subprocess.run(  # noqa: TID251
        command,
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        env=environment,
        timeout=timeout_s,
    )
    return json.loads(done.stdout)


def format_failure_reason(error: OSError | subprocess.SubprocessError | ValueError) -> str:
    """The reason why `query_interpreter` failed, from the interpreter or the system, as the end of a sentence."""
    if isinstance(error, subprocess.CalledProcessError):
        messages = [line.strip() for line in (error.stderr or "").splitlines() if line.strip()]
        if messages:
            is_traceback = any(line.startswith("Traceback ") for line in messages)
            return make_printable(
                shorten(messages[-1] if is_traceback else messages[0], _MAX_MESSAGE_LENGTH, placeholder=" …")
            ).rstrip(".")
        ended = f"by signal {-error.returncode}" if error.returncode < 0 else f"with status {error.returncode}"
        return f"it ended {ended} without output"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, subprocess.TimeoutExpired):
        return f"it took more than {words.format_duration(round(error.timeout * 1e9))}"
    return "it does not answer like a Python interpreter"


def unusable_interpreter_error(python: str, error: OSError | subprocess.SubprocessError | ValueError) -> FramedexError:
    """The error for a named interpreter that cannot be run."""
    return FramedexError(
        f"{make_printable(python)} cannot be run as Python: {format_failure_reason(error)}.", "Name another Python."
    )


def _find_untrusted_folders(opened: Iterable[Path]) -> set[str]:
    """The real paths of folders that this process imports from only because of its working folder."""
    found = [os.fspath(folder) for folder in opened]
    with suppress(FileNotFoundError):  # a deleted working folder has no modules
        here = os.getcwd()  # noqa: PTH109 - joined with texts
        # Python has made these entries absolute, so their form no longer shows them.
        relative = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if not os.path.isabs(each)]  # noqa: PTH117
        found += [os.path.join(here, each) for each in ("", *relative)]  # noqa: PTH118
    return set(map(os.path.realpath, found)) - set(map(os.path.realpath, _package_folders()))


def _package_folders() -> list[str]:
    """The folders that contain framedex's own packages."""
    packages = [sys.modules.get(name) for name in ("framedex", "framedex_server", "framedex_native")]
    return [str(Path(folder).parent) for package in packages if package for folder in package.__path__]


def _find_user_site() -> str | None:
    import site  # every interpreter has loaded it, except with -S

    return site.getusersitepackages() if site.ENABLE_USER_SITE else None

"""The message about a binary that differs from the recorded one or is missing, and its remedy."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from framedex.missing import UNNAMED

_PACKAGE = re.compile(r"(?P<prefix>/.*)/lib(?:64)?/python\d+\.\d+/(?:site|dist)-packages/(?P<package>[\w-]+)/")


def why_absent(path: str, reasons: tuple[str, ...], packages: Mapping[str, str]) -> str:
    """Return the message about a recorded binary that cannot be opened, for these reasons.

    `packages` has the versions of the program's packages.
    """
    if not path.startswith("/"):  # the kernel's own code, `[vdso]`
        return f"{'; '.join(reasons)}: {UNNAMED}"
    return f"{'; '.join(reasons)}. {_remedy(path, packages)}, and run `framedex index`; until then {UNNAMED}"


def _remedy(path: str, packages: Mapping[str, str]) -> str:
    again = "record the program again"
    found = _PACKAGE.match(path)
    version = packages.get(found["package"]) if found else None
    if found is None or version is None:
        return f"Put back what was recorded, say where it is here (path-map in framedex.toml), or {again}"
    return f"Put back what was recorded (`{_installation(found, version)}`), or {again}"


def _installation(found: re.Match[str], version: str) -> str:
    python = Path(found["prefix"], "bin", "python")
    wanted = shlex.quote(f"{found['package']}=={version}")
    if not python.is_file():
        return f"pip install {wanted}"
    if Path(found[0]).with_name("pip").is_dir():
        return f"{shlex.quote(str(python))} -m pip install {wanted}"
    return f"uv pip install --python {shlex.quote(str(python))} {wanted}"  # its environments have no pip

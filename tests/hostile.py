"""A folder that tries to run code in its users' processes: each executed piece writes a line to a witness file."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path

COMMANDS = ("python", "python3", "git", "framedex", "clang", "clangd", "cmake", "rg", "addr2line", "nvim", "emacs")

# `sys` and `open` need no import, so one hostile module does not load another.
_MODULE = """\
import sys
with open({witness!r}, "a") as witness:
    witness.write(__name__ + "\\t" + "\\t".join(sys.orig_argv).replace("\\n", " ") + "\\n")
raise SystemExit("hostile: " + __name__)
"""
_COMMAND = """\
#!/bin/sh
echo "$0 $*" >>'{witness}'
exit 9
"""
_SETTINGS = """\
[tool.framedex]
sources = ["/proc/self/fd", "pipe", "/dev/zero", "."]
[tool.framedex.links]
xla = "file:///{path}"
"""


@dataclass(frozen=True)
class HostileFolder:
    """The folder, and its witness: the file to which each executed piece writes a line."""

    folder: Path
    witness: Path

    def ran(self, *but_for: str) -> list[str]:
        """The notes of the witness, without those of a command with these last arguments: the user's own."""
        lines = self.witness.read_text().splitlines() if self.witness.exists() else []
        return [line for line in lines if not (but_for and tuple(line.split("\t")[-len(but_for) :]) == but_for)]

    def environment(self, **more: str) -> dict[str, str]:
        """This process's environment with a PATH that reaches the folder first, by its empty and relative entries."""
        path = f":.:bin:{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FRAMEDEX_", "PYTHON"))}
        return kept | {"PATH": path} | more


def make_hostile(folder: Path) -> HostileFolder:
    """Fill a folder with modules of every name that this environment imports, start-up files and commands."""
    witness = folder.parent / f"{folder.name}-witness"
    folder.mkdir(parents=True, exist_ok=True)
    module = _MODULE.format(witness=str(witness))
    own = {"framedex", "framedex_server", "framedex_native", "sitecustomize", "usercustomize", "jax_plugins", "libtpu"}
    # Without the codecs, no Python starts far enough to write a line.
    for name in {*sys.stdlib_module_names, *_installed_modules(), *own} - {"encodings"}:
        if name.isidentifier():
            (folder / f"{name}.py").write_text(module)
    for name in (*own, "importlib", "json", "jax"):
        package = folder / name
        package.mkdir()
        for file in ("__init__.py", "__main__.py", "worker.py", "abc.py"):
            (package / file).write_text(module)
    (folder / "hostile.pth").write_text(f"import sys; open({str(witness)!r}, 'a').write('hostile.pth\\n')\n")
    (folder / "pyproject.toml").write_text(_SETTINGS)
    (folder / "framedex.toml").write_text(_SETTINGS.replace("tool.framedex.", "").replace("[tool.framedex]\n", ""))
    os.mkfifo(folder / "pipe")
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / "settings.json").write_text('{"framedex.server.path": "./framedex"}')
    for place in (folder, folder / "bin", folder / ".venv" / "bin"):
        place.mkdir(parents=True, exist_ok=True)
        for name in COMMANDS:
            command = place / name
            if not command.exists():
                command.write_text(_COMMAND.format(witness=witness))
                command.chmod(command.stat().st_mode | stat.S_IXUSR)
    _make_repository(folder)
    return HostileFolder(folder, witness)


def _make_repository(folder: Path) -> None:
    """A repository whose configuration makes git run commands of the folder."""
    git = folder / ".git"
    for name in ("objects", "refs/heads", "hooks"):
        (git / name).mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    command = folder / "git"
    (git / "config").write_text(
        f"""[core]
\trepositoryformatversion = 0
\tfsmonitor = {command}
\tpager = {command}
\tsshCommand = {command}
\thooksPath = {git}/hooks
[diff]
\texternal = {command}
[gpg]
\tprogram = {command}
[filter "x"]
\tclean = {command}
\tsmudge = {command}
"""
    )
    (folder / ".gitattributes").write_text("* filter=x diff=x\n")
    hook = git / "hooks" / "post-index-change"
    hook.write_bytes(command.read_bytes())
    hook.chmod(0o755)


@functools.cache
def _installed_modules() -> frozenset[str]:
    return frozenset(name.partition("/")[0] for name in importlib.metadata.packages_distributions())

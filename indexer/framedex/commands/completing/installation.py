"""Install and remove shell completion.

Each shell has its own file, in the user's folder for completion files. fish loads the file automatically. bash does so
if the package bash-completion is installed. Otherwise one marked line in the start-up file loads it. The rest of the
start-up file stays unchanged, byte for byte.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from framedex.base.errors import FramedexError
from framedex.base.folders import user_folder
from framedex.base.plaintext import quote_shell_word
from framedex.base.regularfile import read_regular
from framedex.commands.completing.shells import SHELLS, build_completion_script
from framedex.commands.output.atomic_files import open_atomic

_MARK = "# completion of framedex"
_BASH_COMPLETION = ("/usr/share/bash-completion/bash_completion", "/usr/local/share/bash-completion/bash_completion")


@dataclass(frozen=True, slots=True)
class CompletionFiles:
    """The completion file of a shell, and the start-up file that must read it.

    `startup` is None if the shell finds the completion file by itself.
    """

    script: Path
    startup: Path | None


def detect_shell() -> str:
    """The name of the user's shell, from SHELL. Raises FramedexError if it is not a supported shell."""
    name = os.path.basename(os.environ.get("SHELL", ""))  # noqa: PTH119 - a plain text from the environment
    if name not in SHELLS:
        problem = f"Your shell, {name}, is not supported" if name else "SHELL is not set"
        raise FramedexError(f"{problem}.", f"Name one of {', '.join(SHELLS)}: `framedex completion install bash`.")
    return name


def find_completion_files(shell: str) -> CompletionFiles:
    """The files for a shell's completion. Raises FramedexError if the user has no home folder."""
    home, data = Path.home() if _has_home_folder() else None, user_folder("XDG_DATA_HOME")
    if home is None or data is None:
        raise FramedexError("The home folder is unknown.", "Set HOME.")
    if shell == "fish":
        configuration = _folder_from_variable("XDG_CONFIG_HOME", home / ".config")
        return CompletionFiles(configuration / "fish" / "completions" / "framedex.fish", None)
    if shell == "zsh":
        return CompletionFiles(data / "framedex" / "completion.zsh", _folder_from_variable("ZDOTDIR", home) / ".zshrc")
    folder = _folder_from_variable("BASH_COMPLETION_USER_DIR", data / "bash-completion") / "completions"
    rc = home / ".bashrc"
    return CompletionFiles(folder / "framedex", None if _loads_completions(rc) else rc)


def script_for_installation(shell: str) -> str:
    """The completion script for this framedex."""
    beside = Path(sys.executable).with_name("framedex")  # noqa: TID251
    return build_completion_script(shell, str(beside if os.access(beside, os.X_OK) else Path(sys.argv[0]).absolute()))


def install(shell: str) -> list[Path]:
    """Install completion for a shell, and return the written files. Raises FramedexError if a write fails."""
    files = find_completion_files(shell)
    text = script_for_installation(shell).encode()
    written = []
    if _read_content(files.script) != text:
        _create_folder(files.script.parent)
        with open_atomic(files.script) as file:
            file.write(text)
        written.append(files.script)
    if files.startup is not None:
        before = _read_content(files.startup) or b""
        script = quote_shell_word(str(files.script))
        line = f"[ -r {script} ] && . {script}  {_MARK}\n".encode()
        if line not in before:
            kept = _remove_marked_lines(before)
            text = kept + (b"" if not kept or kept.endswith(b"\n") else b"\n") + line
            _replace_file(files.startup, text, f"Add the output of `framedex completion show {shell}` by hand.")
            written.append(files.startup)
    return written


def remove(shell: str) -> list[Path]:
    """Remove the files and the line that `install` wrote, and return the changed or removed files."""
    files = find_completion_files(shell)
    changed = []
    rc = Path.home() / ".bashrc" if shell == "bash" else files.startup
    before = _read_content(rc) if rc is not None else None
    if rc is not None and before is not None and (after := _remove_marked_lines(before)) != before:
        if after or rc.is_symlink():
            _replace_file(rc, after, f"Delete the line that ends in `{_MARK}` by hand.")
        else:
            _remove_file(rc)  # `install` created it
        changed.append(rc)
    if (_read_content(files.script) or b"").find(b"written by `framedex completion install") >= 0:
        _remove_file(files.script)
        changed.append(files.script)
    return changed


def _has_home_folder() -> bool:
    return os.path.isabs(os.path.expanduser("~"))  # noqa: PTH111, PTH117 - Path.home raises


def _folder_from_variable(variable: str, default: Path) -> Path:
    folder = os.environ.get(variable, "")
    return Path(folder) if os.path.isabs(folder) else default  # noqa: PTH117


def _loads_completions(rc: Path) -> bool:
    """Whether bash loads its completion folder: bash-completion is installed, and a start-up file sources it."""
    texts = [_read_content(path) or b"" for path in (rc, Path("/etc/bash.bashrc"), Path("/etc/bashrc"))]
    named = any(re.search(rb"^[^#\n]*bash_completion", text, re.MULTILINE) for text in texts)
    return named and any(map(os.path.isfile, _BASH_COMPLETION))


def _remove_marked_lines(text: bytes) -> bytes:
    return b"".join(line for line in text.splitlines(keepends=True) if not line.rstrip().endswith(_MARK.encode()))


def _read_content(path: Path) -> bytes | None:
    """The content of a file; None if it is missing. Raises FramedexError if it cannot be read."""
    try:
        return read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FramedexError(f"{path} cannot be read: {error.strerror}.", "Check its permissions.") from error


def _create_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FramedexError(f"{folder} cannot be created: {error.strerror}.", "Check its permissions.") from error


def _remove_file(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise FramedexError(f"{path} cannot be removed: {error.strerror}.", "Check its permissions.") from error


def _replace_file(path: Path, content: bytes, remedy: str) -> None:
    """Replace the content of a start-up file atomically. Symbolic links are followed, and the mode is kept.

    Raises FramedexError with the remedy if the file cannot be written.
    """
    real = Path(os.path.realpath(path))
    mode = None
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(real.stat().st_mode)
    _create_folder(real.parent)
    if mode is not None and not os.access(real, os.W_OK):
        raise FramedexError(f"{path} cannot be written.", remedy)
    with open_atomic(real) as file:
        file.write(content)
    if mode is not None:
        real.chmod(mode)

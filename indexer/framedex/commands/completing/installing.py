"""Install and remove shell completion.

Each shell gets a file of its own, in the user's folder for such files. fish reads it by itself, and so does bash if its
package bash-completion is set up. Otherwise one marked line in the start-up file reads it. The rest of the start-up
file stays unchanged, byte for byte.
"""

from __future__ import annotations

import os
import re
import stat
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from framedex.commands.completing.shells import SHELLS, script
from framedex.commands.output.whole_files import written_whole
from framedex.errors import FramedexError
from framedex.plaintext import shell_word
from framedex.regularfile import read_regular
from framedex.userfolders import user_folder

_MARK = "# completion of framedex"
_BASH_COMPLETION = ("/usr/share/bash-completion/bash_completion", "/usr/local/share/bash-completion/bash_completion")


@dataclass(frozen=True, slots=True)
class Place:
    """The completion file of a shell, and the start-up file that must read it.

    `startup` is None if the shell finds the completion file by itself.
    """

    script: Path
    startup: Path | None


def usual_shell() -> str:
    """The name of the user's shell, from SHELL. Raises FramedexError if it is not a supported shell."""
    name = os.path.basename(os.environ.get("SHELL", ""))  # noqa: PTH119 - a plain text from the environment
    if name not in SHELLS:
        told = f"Your shell is {name}" if name else "SHELL does not tell which shell is yours"
        raise FramedexError(f"{told}.", f"Name one of {', '.join(SHELLS)}: `framedex completion install bash`.")
    return name


def place_of(shell: str) -> Place:
    """The files for a shell's completion. Raises FramedexError if the user has no home folder."""
    home, data = Path.home() if _has_home() else None, user_folder("XDG_DATA_HOME")
    if home is None or data is None:
        raise FramedexError("The home folder is unknown.", "Set HOME.")
    if shell == "fish":
        return Place(_set_folder("XDG_CONFIG_HOME", home / ".config") / "fish" / "completions" / "framedex.fish", None)
    if shell == "zsh":
        return Place(data / "framedex" / "completion.zsh", _set_folder("ZDOTDIR", home) / ".zshrc")
    folder = _set_folder("BASH_COMPLETION_USER_DIR", data / "bash-completion") / "completions"
    rc = home / ".bashrc"
    return Place(folder / "framedex", None if _loads_completions(rc) else rc)


def script_here(shell: str) -> str:
    """The completion script for this framedex."""
    beside = Path(sys.executable).with_name("framedex")  # noqa: TID251
    return script(shell, str(beside if os.access(beside, os.X_OK) else Path(sys.argv[0]).absolute()))


def install(shell: str) -> list[Path]:
    """Install completion for a shell, and return the written files. Raises FramedexError if a write fails."""
    place = place_of(shell)
    text = script_here(shell).encode()
    written = []
    if _content(place.script) != text:
        _make_folder(place.script.parent)
        with written_whole(place.script) as file:
            file.write(text)
        written.append(place.script)
    if place.startup is not None:
        before = _content(place.startup) or b""
        line = f"[ -r {shell_word(str(place.script))} ] && . {shell_word(str(place.script))}  {_MARK}\n".encode()
        if line not in before:
            kept = _without_mark(before)
            text = kept + (b"" if not kept or kept.endswith(b"\n") else b"\n") + line
            _replace(place.startup, text, f"Add what `framedex completion show {shell}` prints by hand.")
            written.append(place.startup)
    return written


def remove(shell: str) -> list[Path]:
    """Remove the files and the line that `install` wrote, and return the changed or removed files."""
    place = place_of(shell)
    changed = []
    rc = Path.home() / ".bashrc" if shell == "bash" else place.startup
    if rc is not None and (before := _content(rc)) is not None and (after := _without_mark(before)) != before:
        _replace(rc, after, f"Take out the line that ends in `{_MARK}` by hand.")
        changed.append(rc)
    if (_content(place.script) or b"").find(b"written by `framedex completion install") >= 0:
        try:
            place.script.unlink()
        except OSError as error:
            raise FramedexError(f"{place.script} could not be removed: {error.strerror}.", "See who may.") from error
        changed.append(place.script)
    return changed


def _has_home() -> bool:
    return os.path.isabs(os.path.expanduser("~"))  # noqa: PTH111, PTH117 - Path.home raises


def _set_folder(variable: str, usual: Path) -> Path:
    named = os.environ.get(variable, "")
    return Path(named) if os.path.isabs(named) else usual  # noqa: PTH117


def _loads_completions(rc: Path) -> bool:
    """Whether bash loads its completion folder: bash-completion is installed, and a start-up file sources it."""
    texts = [_content(path) or b"" for path in (rc, Path("/etc/bash.bashrc"), Path("/etc/bashrc"))]
    named = any(re.search(rb"^[^#\n]*bash_completion", text, re.MULTILINE) for text in texts)
    return named and any(map(os.path.isfile, _BASH_COMPLETION))


def _without_mark(text: bytes) -> bytes:
    return b"".join(line for line in text.splitlines(keepends=True) if not line.rstrip().endswith(_MARK.encode()))


def _content(path: Path) -> bytes | None:
    """The content of a file; None if it is missing. Raises FramedexError if it cannot be read."""
    try:
        return read_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FramedexError(f"{path} cannot be read: {error.strerror}.", "Check its permissions.") from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FramedexError(f"{folder} cannot be made: {error.strerror}.", "Check its permissions.") from error


def _replace(path: Path, content: bytes, remedy: str) -> None:
    """Replace the content of a start-up file atomically. Symbolic links are followed, and the mode is kept.

    Raises FramedexError with the remedy if the file cannot be written.
    """
    real = Path(os.path.realpath(path))
    mode = None
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(real.stat().st_mode)
    _make_folder(real.parent)
    if mode is not None and not os.access(real, os.W_OK):
        raise FramedexError(f"{path} cannot be written.", remedy)
    with written_whole(real) as file:
        file.write(content)
    if mode is not None:
        real.chmod(mode)

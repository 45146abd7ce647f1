"""`framedex demo`: record, index and show a small program, and suggest next commands."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click

import framedex
from framedex.base.errors import FramedexError
from framedex.base.interpreters import build_own_code_command, query_interpreter, unusable_interpreter_error
from framedex.base.plaintext import make_printable, quote_shell_word
from framedex.base.regularfile import open_regular
from framedex.commands.inputs.files import to_absolute_path
from framedex.commands.launching.launch import check_python, find_interpreter, find_runtime, find_shipped_sources
from framedex.commands.launching.runtimes import Runtime
from framedex.commands.launching.supervision import supervise
from framedex.commands.output.atomic_files import write_atomic
from framedex.commands.output.console import note, print_lines
from framedex.commands.output.proposals import absolute_typed_command
from framedex.commands.output.terminal import Line, Span

PROGRAM_NAME = "device_put.py"
"""The demo's program, in its folder."""
_FOLDER = "framedex-demo"
_EXAMPLE_LINE = f"{PROGRAM_NAME}:8"
_BOUNDARY = "PJRT_Client_BufferFromHostBuffer"
_ALLOCATION = "DeviceMemory::Allocate"

_NEXT_COMMANDS = """
Next commands (in {folder}):
  {calls}  list the recorded calls by time
  {where}  show the recorded calls below a line
  {open}  open a frame in your editor; in most terminals a click does the same
In editors with `{called} serve`, go to definition on {place} leads to the next frame of the recorded stack."""

_NEXT_IN_CHECKOUT = """\
Try it (in {checkout}):
  Neovim:  nvim -u editors/neovim/try.lua +8 {program}
           F12 goes inward, CTRL-O back
  Emacs:   emacs -l editors/emacs/try.el
           M-. goes inward, M-, back
  Helix:   PATH="$PWD/.venv/bin:$PATH" XDG_CONFIG_HOME="$PWD/editors" hx {program}:8
           gd goes inward, CTRL-O back
  VS Code: make vsix && code --install-extension editors/vscode/framedex.vsix &&
           PATH="$PWD/.venv/bin:$PATH" code --new-window . --goto {program}:8
           F12 goes inward, Alt+Left back; Ctrl+Alt+. I, O and S step in, out and to the next stack
editors/README.md explains the set-up of your own editor, also of CLion.
More:      scripts/set-up .venv mcp guidebook    for coding agents and guidebooks
           .venv/bin/pip install jupyterlab      for notebooks"""


# The user's own settings would change the demo: a plug-in, a limit, a platform, servers for debug files.
_USER_PREFIXES = ("FRAMEDEX_", "JAX_", "TPU_", "DEBUGINFOD_")
_PASSED_VARIABLES = ("FRAMEDEX_EDITOR", "FRAMEDEX_LINK_SCHEME", "FRAMEDEX_PROGRAM_PYTHONPATH")
_FIND_JAX = """
spec = importlib.util.find_spec("jax")
print(json.dumps(spec and spec.origin))
"""
# The program is written last, so a folder that has it is complete.
_DEMO_FILES = ("framedex.toml", PROGRAM_NAME)
_SHIPPED_FOLDER = Path(framedex.__file__).with_name("demo")
_OTHER_FOLDER = "Name another folder: `framedex demo --folder DIR`"


@click.command()
@click.option(
    "--folder",
    type=click.Path(path_type=Path),
    default=Path(_FOLDER),
    help=f"A new or empty folder, or that of an earlier demo. Default: {_FOLDER}.",
)
@click.option(
    "--python",
    default=sys.executable,  # noqa: TID251
    type=click.Path(dir_okay=False),
    help="The Python that runs the program. Default: framedex's own.",
)
@click.pass_context
def demo(ctx: click.Context, folder: Path, python: str) -> None:
    """Record a small program and show its stacks.

    The stacks are those of jax.device_put. The program, its capture and its index go into a new folder, which you
    can delete afterwards. A folder with other content is left alone. In the folder of an earlier demo, the demo
    records again. Environment variables of JAX and framedex are ignored. The demo ends with the status of the first
    command that fails.
    """
    python = find_interpreter(python)
    other_python = [] if python == sys.executable else ["--python", python]  # noqa: TID251
    install = f"{quote_shell_word(python)} -m pip install jax" if other_python else "pip install 'framedex[record]'"
    jax, mock, folder = find_jax_sources(python, install), find_mock_sources(), to_absolute_path(folder)
    prepare_demo_folder(folder)
    elsewhere = ["--index", str(to_absolute_path(ctx.obj))] if ctx.obj else []
    sources = [part for each in (jax, mock) if each for part in ("--source", str(each))]
    for step in (
        ["run", *other_python, PROGRAM_NAME],
        [*elsewhere, "index", *sources],
        [*elsewhere, "trace", _BOUNDARY],
        [*elsewhere, "trace", _ALLOCATION],
    ):
        _run_step(ctx, step, folder)
    print_lines([(Span(line),) for line in _render_next_command_lines(folder)])


def _run_step(ctx: click.Context, arguments: Sequence[str], folder: Path) -> None:
    """Print a command and run it; exit with its status if it fails."""
    print_lines([(), _render_step_heading(arguments)])
    sys.stdout.flush()
    cli = f"from framedex.commands.main import cli; cli(prog_name={absolute_typed_command()!r})"
    with supervise(
        [*build_own_code_command(cli, ()), *arguments], build_demo_environment(os.environ), folder
    ) as process:
        status = process.wait()
    if status in (-signal.SIGINT, 128 + signal.SIGINT):
        raise KeyboardInterrupt
    if status:
        note(f"The demo ends here: {arguments[0]} failed.")
        ctx.exit(status if status > 0 else 128 - status)


def _render_step_heading(arguments: Sequence[str]) -> Line:
    command = f"{absolute_typed_command()} {' '.join(map(quote_shell_word, arguments))}"
    comment = "    # the same call, down to the allocation of device memory" if arguments[-1] == _ALLOCATION else ""
    return (Span(f"$ {command}{comment}", "head"),)


def _render_next_command_lines(folder: Path) -> Iterator[str]:
    """The next commands for the recording; in a checkout also the commands that walk the stack in editors."""
    framedex_command = absolute_typed_command()
    commands = [f"{framedex_command} {words}" for words in ("calls", f"where {_EXAMPLE_LINE}", "open FILE:LINE")]
    calls, where, to_open = (each.ljust(max(map(len, commands))) for each in commands)
    named = {"folder": make_printable(str(folder)), "place": _EXAMPLE_LINE, "called": framedex_command}
    yield from _NEXT_COMMANDS.format(**named, calls=calls, where=where, open=to_open).splitlines()
    root = find_checkout()
    if root is not None and folder.parent == root:
        program = f"{folder.name}/{PROGRAM_NAME}"
        yield from _NEXT_IN_CHECKOUT.format(checkout=make_printable(str(root)), program=program).splitlines()


def find_jax_sources(python: str, install: str) -> Path:
    """The folder of the jax that an interpreter imports; `install` is the command that installs jax.

    Raises FramedexError if the demo cannot be recorded with that interpreter.
    """
    check_python(python)
    try:
        origin = query_interpreter(python, _FIND_JAX)
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        raise unusable_interpreter_error(python, error) from None
    if origin is None:
        raise FramedexError(
            f"The demo needs JAX, which is not installed for {make_printable(python)}.",
            f"Install JAX: `{install}`\nOr name a Python that has JAX: `framedex demo --python PATH`",
        )
    if find_runtime(python) is not Runtime.PJRT:
        raise FramedexError(
            f"The JAX of {make_printable(python)} is too old: it does not use PJRT.",
            "Name a Python with a newer JAX: `framedex demo --python PATH`",
        )
    return Path(origin).parent


def find_checkout() -> Path | None:
    """The checkout that this framedex runs from; None if it was installed from a wheel."""
    root = Path(__file__).resolve().parents[5]
    return root if (root / "native" / "CMakeLists.txt").is_file() and (root / "editors").is_dir() else None


def find_mock_sources() -> Path | None:
    """The folder with the C++ sources of the mock TPU and the recorder: the checkout's, otherwise the installed one.

    None if it is missing.
    """
    root = find_checkout()
    try:
        folder = root / "native" if root else find_shipped_sources()
    except FileNotFoundError:  # `framedex run` reports the missing files with a remedy
        return None
    return folder if folder.is_dir() else None


def build_demo_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """A copy of the environment without the variables that would change the demo."""
    return {
        name: value
        for name, value in environment.items()
        if name in _PASSED_VARIABLES or not name.startswith(_USER_PREFIXES)
    }


def prepare_demo_folder(folder: Path) -> None:
    """Create the demo's folder, or reuse an empty one or one of an earlier demo.

    Raises FramedexError, and leaves the folder unchanged, if it has other content or cannot be written.
    """
    is_new = not os.path.lexists(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _lock_folder(folder):
            _write_demo_files(folder)
    except BaseException as error:
        if is_new:
            with suppress(OSError):  # the folder is missing, or another demo has filled it
                folder.rmdir()
        if not isinstance(error, OSError):
            raise
        reason = error.strerror or error
        raise FramedexError(
            f"{make_printable(os.fspath(folder))} cannot be created: {reason}.", _OTHER_FOLDER
        ) from None


def _write_demo_files(folder: Path) -> None:
    """Write the demo's files into an empty or unchanged folder. Raises FramedexError if it has other content."""
    if _is_as_shipped(folder, PROGRAM_NAME):
        return
    names = sorted(path.name for path in folder.iterdir())
    foreign_files = [name for name in names if not _is_as_shipped(folder, name)]
    if PROGRAM_NAME in foreign_files:
        raise FramedexError(
            f"{make_printable(os.fspath(folder / PROGRAM_NAME))} differs from the demo's program, so it was not "
            "replaced.",
            f"Record it in its folder: `framedex run {PROGRAM_NAME}`\n{_OTHER_FOLDER}",
        )
    if foreign_files:
        raise FramedexError(
            f"{make_printable(os.fspath(folder))} contains other files: {make_printable(foreign_files[0])}. "
            "Nothing was written.",
            _OTHER_FOLDER,
        )
    for name in _DEMO_FILES:
        try:
            write_atomic(folder / name, (_SHIPPED_FOLDER / name).read_text())
        except FramedexError as error:
            raise FramedexError(error.message, _OTHER_FOLDER) from None


def _is_as_shipped(folder: Path, name: str) -> bool:
    """Whether a file of the folder is one of the demo's, with unchanged content."""
    if name not in _DEMO_FILES:
        return False
    shipped = (_SHIPPED_FOLDER / name).read_bytes()
    try:
        with open_regular(folder / name) as file:
            return file.read(len(shipped) + 1) == shipped
    except OSError:
        return False


@contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock the folder while it is filled: another demo would take a half-filled folder for foreign content."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)

"""`framedex demo`: record, index and show a small program, and suggest next commands."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from framedex.commands.inputs.files import absolute
from framedex.commands.launching import demo_folder
from framedex.commands.launching.demo_environment import checkout, jax_sources, mock_sources, undisturbed
from framedex.commands.launching.launch import interpreter
from framedex.commands.launching.supervision import supervised
from framedex.commands.output.console import note, print_lines
from framedex.commands.output.proposals import called_from_anywhere
from framedex.commands.output.terminal import Line, Span
from framedex.interpreters import own_code
from framedex.plaintext import printable, shell_word

_FOLDER = "framedex-demo"
_PLACE = f"{demo_folder.PROGRAM}:8"
_BOUNDARY = "PJRT_Client_BufferFromHostBuffer"
_ALLOCATION = "DeviceMemory::Allocate"

_NEXT = """
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
editors/README.md explains the set-up of your own editor, also of CLion."""


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
    python = interpreter(python)
    other_python = [] if python == sys.executable else ["--python", python]  # noqa: TID251
    install = f"{shell_word(python)} -m pip install jax" if other_python else "pip install 'framedex[record]'"
    jax, mock, folder = jax_sources(python, install), mock_sources(), absolute(folder)
    demo_folder.prepare(folder)
    elsewhere = ["--index", str(absolute(ctx.obj))] if ctx.obj else []
    sources = [part for each in (jax, mock) if each for part in ("--source", str(each))]
    for step in (
        ["run", *other_python, demo_folder.PROGRAM],
        [*elsewhere, "index", *sources],
        [*elsewhere, "trace", _BOUNDARY],
        [*elsewhere, "trace", _ALLOCATION],
    ):
        _show(ctx, step, folder)
    print_lines([(Span(line),) for line in _next(folder)])


def _show(ctx: click.Context, arguments: Sequence[str], folder: Path) -> None:
    """Print a command and run it; exit with its status if it fails."""
    print_lines([(), _heading(arguments)])
    sys.stdout.flush()
    cli = f"from framedex.commands.main import cli; cli(prog_name={called_from_anywhere()!r})"
    with supervised([*own_code(cli, ()), *arguments], undisturbed(os.environ), folder) as process:
        status = process.wait()
    if status in (-signal.SIGINT, 128 + signal.SIGINT):
        raise KeyboardInterrupt
    if status:
        note(f"The demo ends here: {arguments[0]} failed.")
        ctx.exit(status if status > 0 else 128 - status)


def _heading(arguments: Sequence[str]) -> Line:
    told = f"{called_from_anywhere()} {' '.join(map(shell_word, arguments))}"
    why = "    # the same call, down to the allocation of device memory" if arguments[-1] == _ALLOCATION else ""
    return (Span(f"$ {told}{why}", "head"),)


def _next(folder: Path) -> Iterator[str]:
    """The next commands for the recording; in a checkout also the commands that walk the stack in editors."""
    called = called_from_anywhere()
    commands = [f"{called} {words}" for words in ("calls", f"where {_PLACE}", "open FILE:LINE")]
    calls, where, to_open = (each.ljust(max(map(len, commands))) for each in commands)
    named = {"folder": printable(str(folder)), "place": _PLACE, "called": called}
    yield from _NEXT.format(**named, calls=calls, where=where, open=to_open).splitlines()
    root = checkout()
    if root is not None and folder.parent == root:
        program = f"{folder.name}/{demo_folder.PROGRAM}"
        yield from _NEXT_IN_CHECKOUT.format(checkout=printable(str(root)), program=program).splitlines()

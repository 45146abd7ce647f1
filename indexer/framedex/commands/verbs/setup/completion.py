"""`framedex completion`: install completion for bash, zsh and fish."""

from __future__ import annotations

import click

from framedex.commands.completing.installation import (
    detect_shell,
    find_completion_files,
    install,
    remove,
    script_for_installation,
)
from framedex.commands.completing.shells import SHELLS
from framedex.commands.output.console import note
from framedex.commands.output.terminal import standard_output

_shells = click.argument("shells", metavar="[bash|zsh|fish]...", nargs=-1, type=click.Choice(list(SHELLS)))


@click.group()
def completion() -> None:
    """Install shell completion for bash, zsh or fish.

    TAB then completes verbs, options, captures, functions and files, from the index of the current folder.
    """


@completion.command("install")
@_shells
def install_completion(shells: tuple[str, ...]) -> None:
    """Install completion for these shells. Default: your shell. Safe to repeat."""
    for shell in shells or (detect_shell(),):
        written = install(shell)
        for path in written:
            note(f"Written: {path}")
        if not written:
            note(f"Already installed for {shell}: {find_completion_files(shell).script}")
    note("Completion works in your next shell. `framedex completion remove` removes it.")


@completion.command("remove")
@_shells
def remove_completion(shells: tuple[str, ...]) -> None:
    """Remove completion from these shells. Default: all."""
    changed = [path for shell in shells or SHELLS for path in remove(shell)]
    for path in changed:
        note(f"Removed: {path}" if not path.exists() else f"Removed its line: {path}")
    if not changed:
        note("No completion is installed.")


@completion.command("show")
@click.argument("shell", type=click.Choice(list(SHELLS)))
def show_completion(shell: str) -> None:
    """Print the completion script, for your own start-up files."""
    click.echo(script_for_installation(shell), standard_output(), nl=False)

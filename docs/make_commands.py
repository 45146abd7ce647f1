"""Write docs/commands.md from the command line itself: `python docs/make_commands.py`. A test checks it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from framedex.commands.main import cli

TARGET = Path(__file__).with_name("commands.md")


def document() -> str:
    """The whole page: the group's help, then each verb's."""
    context = click.Context(
        cli, info_name="framedex", terminal_width=100, max_content_width=100, **cli.context_settings
    )
    return "\n".join(
        [
            "# The command line",
            "",
            "Written by `docs/make_commands.py` from the commands' own help.",
            "",
            *_section("framedex", cli.get_help(context)),
            *(line for name in cli.list_commands(context) for line in _verb(context, name)),
        ]
    )


def _verb(parent: click.Context, name: str) -> Iterator[str]:
    group = parent.command
    assert isinstance(group, click.Group)
    command = group.get_command(parent, name)
    assert command is not None
    context = click.Context(command, info_name=name, parent=parent)
    yield from _section(context.command_path, command.get_help(context))
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            yield from _verb(context, each)


def _section(title: str, help_text: str) -> Iterator[str]:
    yield from (f"## {title}", "", "```", help_text, "```", "")


if __name__ == "__main__":
    TARGET.write_text(document())

"""`framedex mcp`: the index as tools for agents."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from framedex.base.errors import FramedexError
from framedex.commands.output.terminal import standard_output


@click.command()
@click.option(
    "--source",
    "folders",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    multiple=True,
    help=(
        "Another folder whose recorded files agents may read. Always allowed: the project, Python "
        "packages, fetched sources."
    ),
)
@click.pass_obj
def mcp(index_path: Path | None, folders: tuple[Path, ...]) -> None:
    """Run the MCP server for coding agents, over stdin and stdout.

    MCP is the Model Context Protocol. Agents start this command; docs/how-to/agents.md has the set-up of each. The
    tools are the verbs that read, lines of recorded sources, and SQL on the index. An answer has at most 2,000 tokens
    by default. Nothing is written, and no program runs.

    Needs the protocol's library: pip install 'framedex[mcp]'.
    """
    try:
        from framedex.commands.agents.server import serve
    except ModuleNotFoundError as error:
        raise FramedexError(
            f"MCP support is not installed (missing {error.name}).",
            "Install it: `pip install 'framedex[mcp]'`",
        ) from error
    if sys.stdin is None or sys.stdin.isatty():
        raise FramedexError(
            "stdin is a terminal or closed. An agent starts this command and speaks MCP over stdin.",
            "docs/how-to/agents.md has the set-up of each agent.",
        )
    standard_output()
    serve(index_path, folders)

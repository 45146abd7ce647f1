"""The verb `framedex serve`: the language server for editors."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import click


@click.command()
@click.option(
    "--log-file",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="Write the server's log there. Default: stderr.",
)
@click.option("--stdio", is_flag=True, expose_value=False, help="Accepted because editors pass it; it is what is used.")
@click.option(
    "--tcp",
    metavar="[HOST:]PORT",
    help="Serve any number of clients on this port of the loopback instead, with port 0 on a free one. It is told on"
    " stderr, with the token that clients have to send and the file in which that stands.",
)
@click.option(
    "--socket",
    "socket_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Serve any number of clients on this Unix socket instead, which you alone can open: no token is needed.",
)
@click.pass_obj
def serve(index_path: Path | None, log_file: Path | None, tcp: str | None, socket_path: Path | None) -> None:
    """Run the language server over stdin and stdout.

    Editors start this themselves; editors/README.md says how to set each of them up. The index is the nearest one
    upwards from each document, or from its workspace, or one in a subfolder of it that knows the document, unless
    `framedex --index FILE serve` names one.
    """
    # Making the protocol's classes is most of the start-up, and leaves no garbage to look for (10 ms of 290).
    gc.disable()
    from framedex_server.server import serve as serve_client
    from framedex_server.server import serve_clients
    from framedex_server.sockets import Address

    if tcp is not None and socket_path is not None:
        raise click.UsageError("--tcp and --socket are two ways to serve: choose one.")
    if socket_path is not None:
        sys.exit(serve_clients(socket_path, index_path, log_file))
    if tcp is None:
        sys.exit(serve_client(index_path, log_file))
    try:
        address = Address.parse(tcp)
    except ValueError as error:
        raise click.BadParameter(f"{error}.", param_hint="--tcp") from error
    sys.exit(serve_clients(address, index_path, log_file))

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
    help="Write the log to this file. Default: stderr.",
)
@click.option("--stdio", is_flag=True, expose_value=False, help="Use stdin and stdout. This is the default.")
@click.option(
    "--tcp",
    metavar="[HOST:]PORT",
    help=(
        "Serve several clients on this loopback port; 0 chooses a free port. stderr shows the port, the token that "
        "clients must send, and the token's file."
    ),
)
@click.option(
    "--socket",
    "socket_path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Serve several clients on this Unix socket. Only you can open it, so it needs no token.",
)
@click.pass_obj
def serve(index_path: Path | None, log_file: Path | None, tcp: str | None, socket_path: Path | None) -> None:
    """Run the language server over stdin and stdout.

    Editors start this command; editors/README.md describes the set-up of each editor. The server uses the index of
    `framedex --index FILE serve` if given. Otherwise it uses the nearest index above the document or its workspace, or
    one in a subfolder that contains the document.
    """
    # Creating the LSP classes takes most of the start-up and leaves no garbage to collect (10 ms of 290).
    gc.disable()
    from framedex_server.server import serve as serve_client
    from framedex_server.server import serve_clients
    from framedex_server.sockets import Address

    if tcp is not None and socket_path is not None:
        raise click.UsageError("--tcp and --socket cannot be combined: choose one.")
    if socket_path is not None:
        sys.exit(serve_clients(socket_path, index_path, log_file))
    if tcp is None:
        sys.exit(serve_client(index_path, log_file))
    try:
        address = Address.parse(tcp)
    except ValueError as error:
        raise click.BadParameter(f"{error}.", param_hint="--tcp") from error
    sys.exit(serve_clients(address, index_path, log_file))

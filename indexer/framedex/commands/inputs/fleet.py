"""The option that names the store of a fleet."""

from __future__ import annotations

import click

store_option = click.option(
    "--store",
    metavar="ADDRESS",
    required=True,
    envvar="FRAMEDEX_STORE",
    help="The store: a folder, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER. Default: $FRAMEDEX_STORE.",
)

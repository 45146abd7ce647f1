"""Where the store of a fleet is, as its verbs are told."""

from __future__ import annotations

import click

store_option = click.option(
    "--store",
    metavar="ADDRESS",
    required=True,
    envvar="FRAMEDEX_STORE",
    help="The store: a folder, s3://BUCKET/FOLDER or gs://BUCKET/FOLDER. Default: $FRAMEDEX_STORE.",
)

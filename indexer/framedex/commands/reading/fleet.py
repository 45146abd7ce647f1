"""Where the store of a fleet is, as its verbs are told."""

from __future__ import annotations

import click

store_option = click.option(
    "--store",
    metavar="ADDRESS",
    required=True,
    envvar="FRAMEDEX_STORE",
    help="The store: a folder, s3://BUCKET/FOLDER, gs://BUCKET/FOLDER. Default: the variable FRAMEDEX_STORE.",
)

"""`framedex fleet`: captures of many processes and hosts, in one store."""

from __future__ import annotations

import click


@click.group()
def fleet() -> None:
    """Gather captures of many processes, and ask all of them.

    The store is a folder, or an address such as s3://BUCKET/FOLDER, of Parquet files that other tools read, too.
    """

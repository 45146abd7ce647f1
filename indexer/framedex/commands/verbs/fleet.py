"""`framedex fleet`: captures of many processes and hosts in one store."""

from __future__ import annotations

import click


@click.group()
def fleet() -> None:
    """Collect captures of many processes and query them.

    The store is a folder, or an address such as s3://BUCKET/FOLDER. It has Parquet files that other tools read too.
    """

"""Options that take one of a few words."""

from __future__ import annotations

import click

from framedex.nearest import nearest


class Choice(click.Choice[str]):
    """One of some words; of another one it is said which was meant."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word. Raises BadParameter, with the likeliest one, for another."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            near = nearest(str(value), self.choices)
            if near is None:
                raise
            raise click.BadParameter(f"{error.message} Did you mean '{near}'?", ctx, param) from None

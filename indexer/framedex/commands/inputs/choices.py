"""Options with a few allowed words."""

from __future__ import annotations

import click

from framedex.nearest import nearest


class Choice(click.Choice[str]):
    """One of a few words; an error suggests the most similar one."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the word. Raises BadParameter with the most similar word if it is not allowed."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            near = nearest(str(value), self.choices)
            if near is None:
                raise
            raise click.BadParameter(f"{error.message} Did you mean '{near}'?", ctx, param) from None

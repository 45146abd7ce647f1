"""A call that breaks a rule."""

from __future__ import annotations

from dataclasses import dataclass

from framedex.model import CallRow
from framedex.plugins.validation.rules import RULES_BY_NAME, Rule


@dataclass(frozen=True, slots=True)
class Violation:
    """A call that breaks a rule, and the earlier call that makes it a violation.

    `noun` is the type of the object, such as "buffer", or another thing that the rule's message names. `field` is the
    argument with the object; empty if there is none.
    """

    rule: Rule
    call: CallRow
    earlier: CallRow | None = None
    noun: str = ""
    field: str = ""

    @classmethod
    def of_rule(
        cls, rule: str, call: CallRow, earlier: CallRow | None = None, noun: str = "", field: str = ""
    ) -> Violation:
        """Return a violation of the rule with this name."""
        return cls(RULES_BY_NAME[rule], call, earlier, noun, field)

    @property
    def message(self) -> str:
        """Return the message, which completes the name of the call's function."""
        return self.rule.format_message(self.noun, self.earlier.function if self.earlier is not None else None)

"""Write the rules of `framedex.plugins.validation` into docs/reference/validation.md.

A test checks the page. The text around the rules is written by hand.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from framedex.base.words import add_article
from framedex.plugins.validation import RULES, Rule

TARGET = Path(__file__).with_name("reference") / "validation.md"
_RULES = re.compile(r"(?<=<!-- rules -->\n).*(?=<!-- end of rules -->)", re.S)


def rules_page() -> str:
    """The page with the current rules."""
    lines = [line for rule in RULES for line in _rule_section(rule)]
    return _RULES.sub(lambda _: "\n" + "\n".join(lines) + "\n", TARGET.read_text("utf-8"))


def _rule_section(rule: Rule) -> Iterator[str]:
    yield f"### {rule.name}"
    yield ""
    yield f"{rule.sentence} If the {rule.breaker} violates this rule, framedex reports {add_article(rule.severity)}."
    yield ""
    declared = ", ".join(f"`{name}`" for name in rule.declared)
    yield f"- **Header**: {rule.basis} ({declared})"
    yield f"- **Evidence**: {rule.evidence}"
    yield f"- **Cure**: {rule.remedy}"
    if rule.is_live:
        yield "- **Live**: `framedex run --validate` also reports it at the call."
    yield ""


if __name__ == "__main__":
    TARGET.write_text(rules_page(), "utf-8")

"""The rules of the PJRT C API, and the search for calls that break them.

`rules.py` has every rule with its reason: start there. The other modules find violations in recorded calls, one module
per subject. They get the calls and the objects from `framedex.index.ask.capture.violations`. The lifetimes of objects
are followed when a capture is indexed, in `native/call_stream/lifetimes.cc`; only their texts are here.

A missing record never counts as a violation: if a call could be unrecorded, the rule is not judged.
"""

from framedex.plugins.validation.rules import RULES, RULES_BY_NAME, Rule, Side
from framedex.plugins.validation.violations import Violation

__all__ = ["RULES", "RULES_BY_NAME", "Rule", "Side", "Violation"]

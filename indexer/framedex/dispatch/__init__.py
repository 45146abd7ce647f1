"""Which Python had the calls made that come on threads without Python: the causal links of a capture."""

from framedex.dispatch.causal_links import CausalLink, find_causal_links

__all__ = ["CausalLink", "find_causal_links"]

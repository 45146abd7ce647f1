"""Which Python had the calls made that come on threads without Python: the causal links of a capture."""

from framedex.dispatch.links import CallLink, find_links

__all__ = ["CallLink", "find_links"]

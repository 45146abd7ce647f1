"""Source maps: the definitions of one commit of a repository in a small file, for those who have no checkout of it."""

from framedex.sourcemap.checkout import Checkout, checkout_of
from framedex.sourcemap.format import ENDING, SourceMapError, read_map, write_map
from framedex.sourcemap.records import is_inside

__all__ = ["ENDING", "Checkout", "SourceMapError", "checkout_of", "is_inside", "read_map", "write_map"]

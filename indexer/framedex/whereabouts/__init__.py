"""Which file is that here, and is it here: the one place that answers both, for paths however they were come by.

docs/sources.md ("Which file a path means") has the order in which a path's meanings are tried; `precedence` keeps it.
"""

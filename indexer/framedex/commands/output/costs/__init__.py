"""Tables of costs by line, one file per answer, and the outcome of budgets."""

"""What lines of the program cost as lines to print: an answer in each file, and what became of budgets."""

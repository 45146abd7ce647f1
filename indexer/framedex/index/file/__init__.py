"""The index as a file: how it is opened, what its tables are, whether it is as framedex left it."""

"""The version of framedex."""

VERSION = "0.1.0"
"""As in pyproject.toml (a test compares them): asking importlib.metadata takes a quarter of what a short verb does."""

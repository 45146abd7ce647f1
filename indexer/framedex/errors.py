"""Errors that reach a user. Each has a message and a remedy; one function prints them."""

from __future__ import annotations


class FramedexError(Exception):
    """An error that a user can act on: `message` names the problem and `remedy` the solution, in plain sentences."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message

"""Errors that reach a user. Each says what is wrong and what to do about it; one function prints them."""

from __future__ import annotations


class FramedexError(Exception):
    """Something a user can act on: `message` says what is wrong, `remedy` what to do, in plain sentences."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.message}\n{self.remedy}" if self.remedy else self.message

"""Editors, coding agents and projects."""

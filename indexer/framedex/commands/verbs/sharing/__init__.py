"""Captures for other machines and other tools: files, exports, stores, the guidebook."""

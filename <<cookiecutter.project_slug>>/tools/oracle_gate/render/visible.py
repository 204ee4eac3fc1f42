"""Text of a patch or of its programs, made safe to show: it cannot speak to a terminal, or reorder a line."""

from __future__ import annotations


def visible(text: str) -> str:
    """The text on one line; control, bidi, unassigned and surrogate characters become escapes."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)

"""A Hypothesis strategy: other spellings of a path that some file system takes for the same."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import strategies as st

_IGNORABLE = (
    "",
    "",
    "",
    "\u00ad",
    "\u200b",
    "\u200c",
    "\u200e",
    "\u2060",
    "\ufe0f",
    "\ufeff",
    "\u3164",
    "\U000e0061",
)
_SEPARATORS = ("/", "\\", "//", "/./", "\uff0f")
_ENDINGS = ("", "", "", ".", " ", " . ", "..", ":stream", "::$DATA")


def respelled(path: str) -> st.SearchStrategy[str]:
    """Case, full width, ignorable characters, trailing dots, spaces and streams, and separators vary."""
    size = 3 * len(path) + 1
    return st.binary(min_size=size, max_size=size).map(lambda choices: _respell(path, iter(choices)))


def _respell(path: str, choices: Iterator[int]) -> str:
    """Each choice picks one variant; only zeros leave the path as it is."""

    def pick(variants: tuple[str, ...]) -> str:
        return variants[next(choices) % len(variants)]

    spelling = ""
    for char in path:
        wide = chr(ord(char) + 0xFEE0) if "!" <= char <= "~" else char
        if char == "/":
            spelling += pick(_ENDINGS) + pick(_SEPARATORS)
        else:
            spelling += pick((char, char.upper(), char.lower(), wide)) + pick(_IGNORABLE)
    return spelling + pick(_ENDINGS)

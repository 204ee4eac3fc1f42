"""Paths of this run -> `$ROOT` and `$TMP` (design, section 7; astral-sh/uv#2678, biomejs/biome#10832)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

#: The marker that stands for a run of stack frames, see canonical_text.
FRAMES = b"$FRAMES"
_LITERAL_TOKEN = rb"\$(?=ROOT|TMP|FRAMES)"

# Before a prefix: nothing that can belong to the same path or word. `$` is among them because `$` + `$ROOT`
# would read like an escaped literal. A path may follow `://` and `:///` (file:, sqlite:) and a spelt-out `\\n`.
_NOT_BEFORE = rb"[\w.~*?%$\\/)\]}\x80-\xff-]"
# After it: no further byte of the same path component. A dot alone ends a sentence, `.old` is another name.
_NOT_AFTER = rb"\.?[\w~+@%\x80-\xff-]"

_CONTEXT = len(b":///")  # bytes to the left of a prefix that decide on it
_LOOKAHEAD = max(len(b".x"), len(b"FRAMES"))  # bytes to the right of a prefix or a `$` that decide on it


@dataclass(frozen=True)
class Tokens:
    """Absolute path prefixes and the token that replaces each; the longest prefix is tried first.

    A prefix is replaced only as whole path components. It must not follow a word character, a byte
    above 0x7f or one of `. - ~ * ? % $ \\ / ) ] }`, unless that is `://`, `:///`, `\\n`, `\\r` or `\\t`; so the
    start of the stream, white space, NUL, quotes and `: = ( [ { < > , ; | & ! # @ +` are boundaries. After
    it must not come a word character, a byte above 0x7f or one of `- ~ + @ %`, nor a dot with one of these;
    so the end, `/`, white space, quotes and other punctuation are boundaries. A path right after a colour
    code stays as it is.

    A literal `$ROOT`, `$TMP` or `$FRAMES` gets one more `$`, so no output can pretend to be a token.
    Raises ValueError for a relative prefix, `/` alone, and a prefix with a newline.
    """

    prefixes: tuple[tuple[bytes, Literal["ROOT", "TMP"]], ...] = ()

    def __post_init__(self) -> None:
        for prefix, _ in self.prefixes:
            if not prefix.startswith(b"/") or not prefix.strip(b"/") or b"\n" in prefix:
                raise ValueError(f"not a usable path prefix: {prefix!r}")

    @cached_property
    def _replacements(self) -> dict[bytes, bytes]:
        paths = {prefix.rstrip(b"/"): b"$" + token.encode() for prefix, token in reversed(self.prefixes)}
        return {b"$": b"$$", **paths}

    @cached_property
    def _pattern(self) -> re.Pattern[bytes]:
        paths = sorted(self._replacements.keys() - {b"$"}, key=lambda path: (-len(path), path))
        if not paths:
            return re.compile(_LITERAL_TOKEN)
        # `/` comes first, and is looked at from behind, because a search for a literal byte is fast.
        starts = rb"/(?:(?<!%b/)|(?<=:///)|(?<=:////)|(?<=\\[nrt]/))" % _NOT_BEFORE
        rests = b"|".join(re.escape(path[1:]) for path in paths)
        return re.compile(rb"%b|%b(?:%b)(?!%b)" % (_LITERAL_TOKEN, starts, rests, _NOT_AFTER))

    def replace(self, data: bytes) -> bytes:
        """`data`, a whole text or line, with tokens."""
        if not any(needle in data for needle in self._replacements):  # many times faster than the regex
            return data
        return self._pattern.sub(lambda match: self._replacements[match[0]], data)


class TokenStream:
    """`Tokens.replace` for a text in pieces; holds back no more than a prefix and its surroundings."""

    def __init__(self, tokens: Tokens) -> None:
        self._pattern = tokens._pattern
        self._replacements = tokens._replacements
        self._window = max(map(len, self._replacements)) + _LOOKAHEAD
        self._held = b""
        self._start = 0  # bytes of `_held` that are out already and serve as left context

    def feed(self, piece: bytes, *, last: bool = False) -> bytes:
        """What is certain by now; everything once `last` is set."""
        held = self._held + piece
        certain = len(held) if last else len(held) - self._window
        out = []
        position = self._start
        for match in self._pattern.finditer(held, position):
            if match.start() >= certain:
                break
            out += [held[position : match.start()], self._replacements[match[0]]]
            position = match.end()
        if position < certain:
            out.append(held[position:certain])
            position = certain
        keep_from = max(0, position - _CONTEXT)
        self._held, self._start = held[keep_from:], position - keep_from
        return b"".join(out)

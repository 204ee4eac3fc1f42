"""oracle/noise.txt: the lines of text output that no digest covers (design, section 5; article A)."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

from .errors import GateError

#: Three words without a common byte. A rule that matches two of them in one shape names nothing.
_PROBE_WORDS = (b"lorem", b"31415", b"~;^~;")


@dataclass(frozen=True)
class NoiseRule:
    """One rule and the line of the file it stands on."""

    pattern: re.Pattern[bytes]
    line: int


@dataclass(frozen=True)
class NoiseRules:
    """The rules in file order; `NoiseRules()` drops nothing."""

    rules: tuple[NoiseRule, ...] = ()

    def hits(self, line: bytes) -> list[int]:
        """Indexes of all rules found in `line`, which comes without its LF."""
        return [index for index, rule in enumerate(self.rules) if rule.pattern.search(line)]


def parse_noise(data: bytes, where: str = "oracle/noise.txt") -> NoiseRules:
    """Read the bytes of a noise file: one bytes regex a line, `#` at a line's start is a comment.

    A CRLF checkout gives the same rules (gkampitakis/go-snaps#63). Raises GateError with FILE:LINE for a
    malformed regex, malformed UTF-8, and a rule that drops the empty line or lines of any content.
    """
    rules = []
    for number, raw in enumerate(data.split(b"\n"), start=1):
        line = raw.removesuffix(b"\r")
        place = f"{where}:{number}"
        try:
            if line.decode("utf-8").startswith("\ufeff"):
                raise GateError("starts with a byte order mark", where=place, todo="save it without one")
        except UnicodeDecodeError as error:
            raise GateError("not UTF-8", where=place, todo="write other bytes as \\xNN") from error
        if line.strip() and not line.startswith(b"#"):
            rules.append(NoiseRule(_compile(line, place), number))
    return NoiseRules(tuple(rules))


def _compile(rule: bytes, place: str) -> re.Pattern[bytes]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)  # a later Python would read the rule differently
            pattern = re.compile(rule)
    except (re.error, FutureWarning, OverflowError, RecursionError) as error:
        raise GateError(f"not a regular expression: {error}", where=place, todo="correct the rule") from error
    if pattern.search(b"") or _matches_any_content(pattern):
        raise GateError("the rule drops lines of any content", where=place, todo="name what the line says")
    return pattern


def _matches_any_content(pattern: re.Pattern[bytes]) -> bool:
    for shapes in zip(*(_shapes(word) for word in _PROBE_WORDS), strict=True):
        if sum(1 for probe in shapes if pattern.search(probe)) >= 2:
            return True
    return False


def _shapes(word: bytes) -> tuple[bytes, ...]:
    """One character, a word, a sentence, an indented line, a line that ended in CRLF."""
    return word[:1], word, b" ".join((word, word, word, word)), b"    " + word, word + b"\r"

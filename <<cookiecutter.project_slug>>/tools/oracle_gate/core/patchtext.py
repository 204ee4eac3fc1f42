"""How patches write names and sizes: C-quoting, `diff --git` lines, binary deltas (design, section 6)."""

from __future__ import annotations

import base64
import itertools
import re
import zlib

#: Spaces of a `diff --git` line at which its first name may end; an honest line has fewer.
_MOST_READINGS = 64
_QUOTED = re.compile(rb'"((?:[^"\\]|\\(?:[abtnvfr"\\]|[0-3][0-7]{2}))*)"')
_ESCAPE = re.compile(rb'\\([abtnvfr"\\]|[0-3][0-7]{2})')
_ESCAPED = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))


def name_in(value: bytes, ends: bytes) -> bytes:
    """A name as a header line holds it: C-quoted, or up to the first of the bytes in `ends`."""
    quoted = _QUOTED.match(value)
    return _unquoted(quoted) if quoted else re.split(b"[%s]" % ends, value, maxsplit=1)[0]


def _unquoted(quoted: re.Match[bytes]) -> bytes:
    def character(escape: re.Match[bytes]) -> bytes:
        code = escape[1]
        return bytes([int(code, 8) if len(code) == 3 else _ESCAPED[code[0]]])

    return _ESCAPE.sub(character, quoted[1])


def without_prefix(name: bytes) -> bytes:
    """The name without its first component, as `git apply` takes it."""
    return name.partition(b"/")[2] or name


def names_in(text: bytes, before: set[bytes], after: set[bytes]) -> list[bytes]:
    """Both names of a `diff --git` line, which does not say where the first one ends.

    The names `before` and `after` in the file's other header lines decide between the readings; without
    them, two equal names do. Else the result holds the names of every reading: not two.
    """
    text = text.rstrip(b"\r")
    quoted = _QUOTED.match(text)
    if quoted:
        return [_unquoted(quoted), name_in(text[quoted.end() :].lstrip(b" \t"), b"\r")]
    first, quote, rest = text.partition(b'"')
    if quote and first.endswith((b" ", b"\t")):
        return [first[:-1], name_in(quote + rest, b"\r")]
    readings = [
        (text[: space.start()], text[space.end() :])
        for space in itertools.islice(re.finditer(rb"[ \t]", text), _MOST_READINGS)
    ]
    for old, new in readings:
        if before & {old, without_prefix(old)} and after & {new, without_prefix(new)}:
            return [old, new]
    middle = len(text) // 2
    old, separator, new = text[:middle], text[middle : middle + 1], text[middle + 1 :]
    if separator in (b" ", b"\t") and without_prefix(old) == without_prefix(new):
        return [old, new]
    return [name for reading in readings for name in reading] or [text]


def delta_result_size(data: bytes) -> int | None:
    """Bytes of the file that a binary delta makes, from its first lines; None if they cannot be read.

    A delta of a few bytes can ask for gigabytes, and git allocates what it asks for.
    """
    inflater, delta = zlib.decompressobj(), b""
    try:
        for line in data.split(b"\n"):
            count = line[0] - 64 if line[0] <= 90 else line[0] - 70  # A-Z are 1-26 bytes, a-z 27-52
            delta += inflater.decompress(base64.b85decode(line[1:])[:count], 32)
            if len(delta) >= 20:
                break
        _, at = _variable_length(delta, 0)
        return _variable_length(delta, at)[0]
    except (ValueError, IndexError, zlib.error):
        return None


def _variable_length(data: bytes, at: int) -> tuple[int, int]:
    """A number in groups of 7 bits, lowest first, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at

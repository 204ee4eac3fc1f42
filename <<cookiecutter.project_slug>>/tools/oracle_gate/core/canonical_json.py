"""One JSON document -> one text for all its spellings (design, section 7; article A's first rule)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NamedTuple

MAX_BYTES = 1 << 20
MAX_DEPTH = 100

_quote = json.JSONEncoder().encode  # ASCII; a lone surrogate keeps its escape

# An object is a tuple of its members, a number the bytes it was written with.
_Value = str | bytes | bool | None | list["_Value"] | tuple[tuple[str, "_Value"], ...]


class CanonicalJson(NamedTuple):
    """`text` is ASCII; `respelt` says that it differs from the input by more than path tokens."""

    text: bytes
    respelt: bool


def canonical_json(data: bytes, replace: Callable[[bytes], bytes], *, scalars: bool) -> CanonicalJson | None:
    """Sorted keys, no white space, escapes as characters, number text as written; None if not JSON.

    Not JSON are: duplicate keys, NaN and Infinity, a byte order mark, invalid UTF-8, more than MAX_DEPTH
    levels, more than MAX_BYTES; and, without `scalars`, anything but an object or array. Numbers keep
    their text because 9007199254740993 and ...992 are one float (evik42/serde-json-canonicalizer#13).

    `replace` puts path tokens into the *decoded* strings: `"\\u0024ROOT"` must not pass for a token, and
    `"x\\n/tmp"` and `"\\/tmp"` hold a path. Without an escape that is the same as replacing first.
    """
    if len(data) > MAX_BYTES or (not scalars and not data.lstrip(b" \t\r\n").startswith((b"{", b"["))):
        return None

    def with_tokens(text: str) -> str:
        return replace(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    escapes = b"\\" in data
    if not escapes:
        data = replace(data)
    try:
        value: _Value = json.loads(
            data.decode("utf-8"),
            parse_int=str.encode,
            parse_float=str.encode,
            parse_constant=_refuse_constant,
            object_pairs_hook=tuple,
        )
        text = _write(value, with_tokens if escapes else str, MAX_DEPTH).encode()
        respelt = text != data and not (escapes and _write(value, str, MAX_DEPTH).encode() == data)
    except (ValueError, RecursionError):
        return None
    return CanonicalJson(text, respelt)


def one_value_a_line(text: bytes) -> bytes:
    """Canonical JSON broken into lines, for a diff that people read."""
    return _STRING_OR_BREAK.sub(lambda match: match[1] or match[2] + b"\n", text)


_STRING_OR_BREAK = re.compile(rb'("(?:[^"\\]|\\.)*")|([,{\[])')


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _write(value: _Value, replace: Callable[[str], str], levels: int) -> str:
    if isinstance(value, str):
        return _quote(replace(value))
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, (list, tuple)):
        return _quote(value)
    if levels == 0:
        raise ValueError("too deep")
    if isinstance(value, list):
        return "[" + ",".join([_write(item, replace, levels - 1) for item in value]) + "]"
    members: dict[str, str] = {}
    for name, item in value:
        key = _write(name, replace, levels)
        if key in members:
            raise ValueError("duplicate key")
        members[key] = _write(item, replace, levels - 1)
    return "{" + ",".join([f"{key}:{members[key]}" for key in sorted(members)]) + "}"

"""Strict readers: bytes -> JSON -> frozen dataclasses (design, section 4: unknown keys, duplicate ids,
wrong types and malformed UTF-8 are refused, with file and line)."""

from __future__ import annotations

import dataclasses
import json
import re
import sys
import types
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from .errors import GateError

T = TypeVar("T")

#: A control file larger than this is refused before it is parsed (bytes).
LARGEST_FILE = 64 << 20


class _DuplicateKey(ValueError):
    pass


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        raise _DuplicateKey(next(key for key in keys if keys.count(key) > 1))
    return result


def _no_constant(text: str) -> Any:
    raise ValueError(f"{text} is not JSON")


def line_of(text: str, needle: str) -> int:
    """The 1-based line of the last occurrence of `needle` as a JSON string in `text`, else 1."""
    at = max(text.rfind(json.dumps(needle, ensure_ascii=ascii)) for ascii in (True, False))
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def utf8(data: bytes, where: str) -> str:
    """Decodes strictly; a byte order mark or malformed UTF-8 raises GateError with the line."""
    if len(data) > LARGEST_FILE:
        raise GateError(f"larger than {LARGEST_FILE} bytes", where=where, todo="make it smaller")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise GateError("not UTF-8", where=f"{where}:{line}", todo="save the file as UTF-8") from None
    if text.startswith("\ufeff"):
        raise GateError("starts with a byte order mark", where=f"{where}:1", todo="save it without one")
    return text


def parse_json(data: bytes, where: str, *, line: int | None = None) -> Any:
    """Parses one JSON document; `line` replaces the line number for a document cut out of a larger file."""
    text = utf8(data, where)
    try:
        return json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        what = "empty file" if not text.strip() else f"not JSON: {error.msg} (column {error.colno})"
        raise GateError(what, where=f"{where}:{line or error.lineno}", todo="repair the file") from None
    except _DuplicateKey as error:
        at = line or line_of(text, str(error))
        raise GateError(f"duplicate key {str(error)!r}", where=f"{where}:{at}", todo="remove one") from None
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {error}"
        raise GateError(what, where=f"{where}:{line or 1}", todo="repair the file") from None


def _describe(hint: Any) -> str:
    names = {str: "a string", int: "a whole number", bool: "true or false", float: "a number"}
    if hint in names:
        return names[hint]
    origin = get_origin(hint)
    if origin is Literal:
        return "one of " + ", ".join(map(repr, get_args(hint)))
    if origin is tuple:
        return "a list"
    return "an object"


class _Reader:
    """Walks a parsed document against type hints; `path` names the place in messages."""

    def __init__(self, where: str, text: str | None, line: int | None) -> None:
        self.where, self.text, self.line = where, text, line

    def fail(self, what: str, key: str = "") -> GateError:
        line = self.line
        if line is None and self.text is not None:
            line = line_of(self.text, key.rpartition(".")[2]) if key else 1
        where = f"{self.where}:{line}" if line else self.where
        return GateError(what, where=where, todo="see tools/oracle_gate/schemas for the fields")

    def value(self, hint: Any, value: Any, path: str) -> Any:
        """Understands str, int, bool, float, Any, Literal, X | None, tuple[X, ...], Mapping[str, X], records."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is types.UnionType:
            return None if value is None else self.value(arguments[0], value, path)
        if dataclasses.is_dataclass(hint) and isinstance(hint, type):
            return self.record(hint, value, path)
        if origin is tuple and isinstance(value, list):
            return tuple(self.value(arguments[0], item, f"{path}[{i}]") for i, item in enumerate(value))
        if origin is Mapping and isinstance(value, dict):
            return {key: self.value(arguments[1], item, f"{path}.{key}") for key, item in value.items()}
        if origin is Literal:
            fits = any(value == a and type(value) is type(a) for a in arguments)
        elif hint is float:  # neither NaN nor infinite, nor a whole number that no float can hold
            fits = type(value) in (int, float) and abs(value) <= sys.float_info.max
        else:
            fits = hint is Any or type(value) is hint
        if not fits:
            raise self.fail(f"{path} is not {_describe(hint)}", path)
        return float(value) if hint is float else value

    def record(self, cls: type[T], value: Any, path: str) -> T:
        if not isinstance(value, dict):
            raise self.fail(f"{path or 'the document'} is not an object", path)
        hints = get_type_hints(cls)
        fields = {f.metadata.get("key", f.name): f for f in dataclasses.fields(cls) if f.init}  # type: ignore[arg-type]
        fields = {key: f for key, f in fields.items() if not f.metadata.get("internal")}
        prefix = f"{path}." if path else ""
        for key in value:
            if key not in fields:
                raise self.fail(f"unknown key {prefix + key!r}", key)
        arguments = {}
        for key, f in fields.items():
            if key in value:
                arguments[f.name] = self.value(hints[f.name], value[key], prefix + key)
            elif f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING:
                raise self.fail(f"{prefix + key} is missing")
        return cls(**arguments)


def decode(cls: type[T], value: Any, where: str, *, text: str | None = None, line: int | None = None) -> T:
    """Builds the dataclass `cls` from a parsed document, refusing unknown keys and wrong types.

    A field's metadata may hold `key` (its name in the file) or `internal` (not in the file).
    `text` is the source, to find the line of a complaint; `line` states it.
    """
    return _Reader(where, text, line).record(cls, value, "")


def decode_json(cls: type[T], data: bytes, where: str, *, line: int | None = None) -> T:
    """`parse_json`, then `decode`."""
    text = data.decode("utf-8", "replace")
    return decode(cls, parse_json(data, where, line=line), where, text=text, line=line)


def encode(value: Any) -> Any:
    """The inverse of `decode`: dataclasses to plain JSON values, internal fields left out."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            f.metadata.get("key", f.name): encode(getattr(value, f.name))
            for f in dataclasses.fields(value)
            if not f.metadata.get("internal")
        }
    if isinstance(value, Mapping):
        return {key: encode(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encode(item) for item in value]
    return value


def to_json(value: Any) -> bytes:
    """Sorted, indented, ASCII, with a final newline: the same facts give the same bytes."""
    return json.dumps(encode(value), indent=2, sort_keys=True).encode() + b"\n"


SHA256 = re.compile(r"[0-9a-f]{64}")

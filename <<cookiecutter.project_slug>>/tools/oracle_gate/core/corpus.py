"""corpus/inputs.jsonl: the pinned inputs, one row a line (design, section 5; article A, "Seed files")."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .decode import decode_json, utf8
from .errors import GateError

PATH = "corpus/inputs.jsonl"
Format = Literal["auto", "text", "json", "jsonl", "bytes"]
#: What no argument or variable of a process can hold: NUL, half a surrogate pair.
_NO_ARGUMENT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True)
class Request:
    """What a row asks a service."""

    method: str = "GET"
    path: str = "/"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None


@dataclass(frozen=True)
class Row:
    """One pinned input. Paths are relative to the repository; `timeout_s` is in seconds.

    Either `argv`, or `file` (a path below corpus/ that `[replay] file_argv` is run with), or `request`
    (sent once to the program that `[service] argv` starts).
    With `files` (destination -> path below corpus/) the row runs in a case folder of its own that
    holds just those copies; without, in the read-only tree. `line` is its place in the file.
    """

    id: str
    argv: tuple[str, ...] = ()
    file: str | None = None
    request: Request | None = None
    line: int = field(default=0, metadata={"internal": True})
    stdin: str | None = None
    stdin_file: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] | None = None
    timeout_s: float | None = None
    format: Format = "auto"
    tags: tuple[str, ...] = ()

    @property
    def corpus_paths(self) -> tuple[str, ...]:
        """The corpus files that this row reads."""
        single = (self.stdin_file, self.file)
        return (*(self.files or {}).values(), *(path for path in single if path is not None))


def parse_rows(data: bytes, where: str = PATH) -> Iterator[Row]:
    """The rows in file order, lines split on LF only; raises GateError with file and line."""
    utf8(data, where)
    seen: dict[str, int] = {}
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        row = dataclasses.replace(decode_json(Row, line, where, line=number), line=number)
        complaint = _complaint(row)
        if row.id in seen:
            complaint = f"duplicate id {row.id!r}, first on line {seen[row.id]}"
        if complaint:
            raise GateError(complaint, where=f"{where}:{number}", todo="correct the row")
        seen[row.id] = number
        yield row


def is_inside(path: str) -> bool:
    """Whether a path is relative and stays in its folder, component by component."""
    parts = path.split("/")
    return bool(path) and "\0" not in path and not any(part in ("", ".", "..") for part in parts)


def _complaint(row: Row) -> str:
    """What the types of a row do not say; empty when all is well."""
    strings = (*row.argv, *row.env, *row.env.values())
    if not row.id or not row.id.isprintable():
        return f"id {row.id!r} is empty or has unprintable characters"
    kinds = bool(row.argv) + (row.file is not None) + (row.request is not None)
    if kinds != 1 or (row.argv and not row.argv[0]):
        return "needs one of argv, file and request, and argv a program"
    if row.files is not None and not row.argv:
        return "files goes with argv alone"
    if row.request is not None and not (row.request.path.startswith("/") and row.request.method.isalpha()):
        return "request needs a path that starts with / and a method"
    if any(map(_NO_ARGUMENT.search, strings)):
        return "argv or env holds a NUL or half a surrogate pair"
    if any(not name or "=" in name for name in row.env):
        return "env has a name that is empty or holds '='"
    if row.stdin is not None and row.stdin_file is not None:
        return "stdin and stdin_file exclude each other"
    if row.timeout_s is not None and not 0 < row.timeout_s <= 3600:
        return "timeout_s is not between 0 and 3600 seconds"
    return _path_complaint(row)


def _path_complaint(row: Row) -> str:
    for path in row.corpus_paths:
        if not (path.startswith("corpus/") and is_inside(path)) or path == PATH:
            return f"{path!r} is not a data file below corpus/"
    for path in row.files or {}:
        if not is_inside(path) or ".git" in path.split("/"):
            return f"{path!r} is not a path inside the case folder"
    return ""

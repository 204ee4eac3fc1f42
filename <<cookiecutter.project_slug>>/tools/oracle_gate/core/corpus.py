"""corpus/inputs.jsonl: the pinned inputs, one row a line (design, section 5; article A, "Seed files")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Format = Literal["auto", "text", "json", "jsonl", "bytes"]


@dataclass(frozen=True)
class Row:
    """One pinned input. Paths are relative to the repository; `timeout_s` is in seconds.

    With `files` (destination -> path below corpus/) the row runs in a case folder of its own that
    holds just those copies; without, in the read-only tree.
    """

    id: str
    argv: tuple[str, ...]
    line: int = 0
    stdin: str | None = None
    stdin_file: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] | None = None
    timeout_s: float | None = None
    format: Format = "auto"
    tags: tuple[str, ...] = ()

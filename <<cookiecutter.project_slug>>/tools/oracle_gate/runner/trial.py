"""One run of one row in canonical form, and who makes it."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Protocol

from ..core.corpus import Row
from ..core.observation import Status


@dataclass(frozen=True)
class Trial:
    """`digest` is empty unless the row exited; `frames` (name, bounded bytes) only where asked for."""

    row: Row
    status: Status
    digest: str = ""
    noise_lines: int = 0
    frames: tuple[tuple[str, bytes], ...] = ()

    @property
    def result(self) -> tuple[str, str]:
        """What two runs are compared by."""
        return self.status, self.digest


class Replayer(Protocol):
    """Runs rows in one tree; closing the generator ends what still runs."""

    def run(self, rows: Iterable[Row], *, frames: bool = False) -> Generator[Trial, None, None]:
        """One trial a row, in the order of the rows."""

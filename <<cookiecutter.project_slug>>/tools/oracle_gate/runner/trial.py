"""One run of one row in canonical form, and who makes it."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Protocol

from ..core.canonical import Digested
from ..core.corpus import Row
from ..core.observation import Status


@dataclass(frozen=True)
class Trial:
    """`canonical` is there for a row that exited; `frames` (name, bounded bytes) only where asked for."""

    row: Row
    status: Status
    exit_code: int = 0
    canonical: Digested | None = None
    frames: tuple[tuple[str, bytes], ...] = ()

    @property
    def digest(self) -> str:
        """Empty unless the row exited. Output that is noise alone has no digest (design, section 5)."""
        return self.canonical.digest if self.canonical and not self.canonical.emptied else ""

    @property
    def noise_lines(self) -> int:
        """How many lines noise rules dropped."""
        return self.canonical.noise_lines if self.canonical else 0

    @property
    def result(self) -> tuple[str, str]:
        """What two runs are compared by."""
        return self.status, self.digest


class Replayer(Protocol):
    """Runs rows in one tree; closing the generator ends what still runs."""

    def run(self, rows: Iterable[Row], *, frames: bool = False) -> Generator[Trial, None, None]:
        """One trial a row, in the order of the rows."""

"""What a case of the red-team suite is: a change of our own, and the verdict it must get by one of its rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from support.gate import Gate

Verdict = Literal["eligible", "block", "hold", "inspect"]
#: How a change reaches the gate.
Way = Literal["patch", "work tree", "staged", "committed", "reverted"]


@dataclass(frozen=True)
class Replace:
    """A text of a file becomes another one; it must be there."""

    path: str
    old: str
    new: str

    def apply(self, gate: Gate) -> None:
        gate.edit(self.path, self.old, self.new)


@dataclass(frozen=True)
class Write:
    """A file gets this content."""

    path: str
    text: str

    def apply(self, gate: Gate) -> None:
        gate.write(self.path, self.text)


@dataclass(frozen=True)
class Add:
    """A file of the base gets these lines at its end."""

    path: str
    text: str

    def apply(self, gate: Gate) -> None:
        gate.write(self.path, (gate.root / self.path).read_text(encoding="utf-8") + self.text)


@dataclass(frozen=True)
class Delete:
    """A file is gone."""

    path: str

    def apply(self, gate: Gate) -> None:
        (gate.root / self.path).unlink()


@dataclass(frozen=True)
class Move:
    """A file gets another path."""

    path: str
    new: str

    def apply(self, gate: Gate) -> None:
        text = (gate.root / self.path).read_text(encoding="utf-8")
        Delete(self.path).apply(gate)
        Write(self.new, text).apply(gate)


class Edit(Protocol):
    """One step of a change."""

    def apply(self, gate: Gate) -> None:
        """Makes it in the work tree."""


@dataclass(frozen=True)
class Case:
    """`id` names the row of the catalogue or the public thread; `change` are edits, or a patch as it is.

    Any of `rules` must be among the reasons; without one there must be no reason. `base` names an entry
    of host.BASES.
    """

    id: str
    title: str
    change: tuple[Edit, ...] | bytes
    rules: tuple[str, ...] = ()
    verdict: Verdict = "block"
    way: Way = "patch"
    base: str = "sample"

    @property
    def name(self) -> str:
        """Id and title."""
        return f"{self.id} {self.title}"

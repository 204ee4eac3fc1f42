"""No isolation: programs run with the user's rights, next to everything (design, section 13).

A copy of the tree for each worker and its comparison afterwards notice accidents, not attacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .layer import Inside, Launch, Visible


@dataclass(frozen=True)
class Plain:
    """The layer without isolation; a verdict rests on it only with `[sandbox] require = "plain"`."""

    name: Literal["plain"] = "plain"
    protects_tree: bool = False

    def launch(self, visible: Visible) -> Launch:
        return Launch(Inside(str(visible.tree), str(visible.scratch), str(visible.code)))

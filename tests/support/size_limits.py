"""The engine stays small enough to review: 350 lines a module, 2,500 for what decides, 5,000 in all."""

from __future__ import annotations

import sys
from pathlib import Path

from support.baking import SCAFFOLD

MODULE, DECIDING, ENGINE = 350, 2500, 5000
OWN = "metamorphic.py"  # the project's own relations, not the engine


def exceeded(tools: Path) -> list[str]:
    """One line for each limit that the Python files below a tools folder exceed."""
    lines = {
        path.relative_to(tools): len(path.read_bytes().splitlines())
        for path in sorted(tools.rglob("*.py"))
        if path.name != OWN
    }
    deciding = sum(
        count
        for path, count in lines.items()
        if path.parts[:2] in (("oracle_gate", "core"), ("oracle_gate", "lanes"))
    )
    totals = {"core/ and lanes/ together": (deciding, DECIDING), "the engine": (sum(lines.values()), ENGINE)}
    modules = {str(path): (count, MODULE) for path, count in lines.items()}
    return [
        f"{name}: {count} lines, at most {limit}"
        for name, (count, limit) in {**modules, **totals}.items()
        if count > limit
    ]


if __name__ == "__main__":
    sys.exit("\n".join(exceeded(SCAFFOLD / "tools")))

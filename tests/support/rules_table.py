"""The README's table of rules, from the policy: `python -m support.rules_table` writes it anew."""

from __future__ import annotations

import re

from oracle_gate.core.policy import RULES

from support.baking import TEMPLATE

README = TEMPLATE / "README.md"
_BLOCK = re.compile(r"(<!-- rules:begin -->\n).*?(<!-- rules:end -->)", re.DOTALL)


def table() -> str:
    """Rule, outcome, meaning and next step, a line each."""
    lines = ["| rule | outcome | meaning | next step |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {r.outcome} | {r.meaning} | {r.next_step} |" for name, r in RULES.items()]
    return "\n".join(lines) + "\n"


def with_table(text: str) -> str:
    """The README with the table between its markers."""
    return _BLOCK.sub(lambda found: found[1] + table() + found[2], text)


if __name__ == "__main__":
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")

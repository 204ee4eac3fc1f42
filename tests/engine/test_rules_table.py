"""The README says what the policy says."""

from __future__ import annotations

from support.rules_table import README, table, with_table


def test_the_readme_holds_the_policys_table() -> None:
    text = README.read_text(encoding="utf-8")
    assert table() in text, "run: python -m support.rules_table"
    assert with_table(text) == text


def test_every_rule_says_what_a_human_does_next() -> None:
    rows = [line.split(" | ") for line in table().splitlines()[2:]]
    assert all(len(row) == 4 and all(cell.strip(" |") for cell in row) for row in rows)

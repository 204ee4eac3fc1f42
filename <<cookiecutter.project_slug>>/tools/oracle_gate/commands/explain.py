"""`explain RULE`: what a rule means, what it leads to, what the human does next."""

from __future__ import annotations

import argparse

from ..core.errors import Exit, GateError
from ..core.policy import RULES
from .context import Context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", nargs="?", help="for example replay.drift; without it, all rules are listed")


def run(context: Context, arguments: argparse.Namespace) -> Exit:  # noqa: ARG001
    """Prints one rule, or the list of all."""
    if arguments.rule is None:
        for name, rule in RULES.items():
            print(f"{name:24} {rule.outcome:8} {rule.meaning}")
        return Exit.OK
    if arguments.rule not in RULES:
        raise GateError(f"no rule {arguments.rule!r}", todo="run `gate.py explain` for the list")
    rule = RULES[arguments.rule]
    print(f"{arguments.rule}: {rule.outcome}\nmeaning: {rule.meaning}\nnext step: {rule.next_step}")
    return Exit.OK

"""`doctor`: what is active here and what is not, one line a check."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import Exit, GateError
from ..core.gitdb import git
from ..core.oracle import Oracle, read_oracle
from ..core.pins import this_platform, this_python
from ..runner.subject import interpreter
from ..workspace.objects import read_settings
from ..workspace.snapshot import HOOKS
from .context import Context
from .replayers import isolation


@dataclass(frozen=True)
class Check:
    """`ok`, `warning` (a verdict is possible) or `failed` (none is)."""

    state: str
    name: str
    text: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""


def run(context: Context, arguments: argparse.Namespace) -> Exit:  # noqa: ARG001
    """Exit 2 when a check failed: judge would give no verdict."""
    checks = list(_checks(context))
    for check in checks:
        print(f"{check.state:8} {check.name:12} {check.text}")
    return Exit.USAGE if any(check.state == "failed" for check in checks) else Exit.OK


def _checks(context: Context) -> Iterator[Check]:
    yield _tools(context)
    yield Check(
        "ok", "base", f"{context.launch.base[:12]} ({context.launch.base_from}), trust {context.launch.trust}"
    )
    try:
        oracle = read_oracle(context.store, context.base_entries)
    except GateError as error:
        yield Check("failed", "oracle", str(error))
        return
    yield _armed(oracle)
    yield _environment(context, oracle)
    yield _machine(oracle)
    yield _sandbox(context, oracle)
    yield _guard(context)


def _tools(context: Context) -> Check:
    answer = git(["--version"], cwd=context.workplace).stdout.decode()
    version = tuple(map(int, re.findall(r"\d+", answer)[:2]))
    good = version >= (2, 34) and sys.version_info >= (3, 11)
    return Check(
        "ok" if good else "failed", "tools", f"Python {this_python()}, {answer.strip()} (needed: 3.11, 2.34)"
    )


def _armed(oracle: Oracle) -> Check:
    if not oracle.pins:
        return Check("failed", "oracle", "unarmed: review the corpus, run record, commit the pins")
    unpinned = sum(row.id not in oracle.pins for row in oracle.rows)
    text = f"{len(oracle.pins)} pin(s), {len(oracle.rows)} row(s), {unpinned} without a pin"
    return Check("warning" if unpinned else "ok", "oracle", text)


def _environment(context: Context, oracle: Oracle) -> Check:
    try:
        return Check(
            "ok", "environment", str(interpreter(context.environments, oracle.settings, oracle.requirements))
        )
    except GateError as error:
        return Check("failed", "environment", str(error))


def _machine(oracle: Oracle) -> Check:
    made, here = oracle.provenance, f"{this_platform()}, Python {this_python()}"
    if made is None or f"{made.platform}, Python {made.python}" == here:
        return Check("ok", "machine", here)
    return Check("warning", "machine", f"{here}; pins were recorded on {made.platform}, Python {made.python}")


def _sandbox(context: Context, oracle: Oracle) -> Check:
    try:
        found = isolation(context, oracle)
    except GateError as error:
        return Check("failed", "sandbox", str(error))
    if found.layer is None:
        return Check("failed", "sandbox", found.facts.problem)
    probed = sum(state == "blocked" for state in found.facts.probes.values())
    text = f"{found.layer.name}, {probed} probe(s) blocked; [sandbox] require = {found.facts.required!r}"
    return Check("ok" if found.facts.required == "isolated" else "warning", "sandbox", text)


def _guard(context: Context) -> Check:
    common = git(["rev-parse", "--git-common-dir"], cwd=context.root).stdout.removesuffix(b"\n")
    folder = context.root / Path(os.fsdecode(common))
    if any(name == "core.hookspath" for name, _ in read_settings(folder / "config")):
        text = "core.hooksPath leads git to other hooks: run `git config --unset core.hooksPath`"
        return Check("warning", "guard", text)
    hooks = [folder / "hooks" / name for name in HOOKS]
    active = [
        hook.name
        for hook in hooks
        if os.access(hook, os.X_OK) and re.search(rb"oracle_guard|pre.commit", hook.read_bytes())
    ]
    if len(active) == len(hooks):
        return Check("ok", "guard", f"installed: {', '.join(active)}")
    missing = ", ".join(hook.name for hook in hooks if hook.name not in active)
    return Check("warning", "guard", f"no {missing} hook here: run `pre-commit install`")

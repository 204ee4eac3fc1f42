"""The sample program of the scaffold: its digests are the same under every layer."""

from __future__ import annotations

from pathlib import Path

from support.baking import bake
from support.gate import Gate
from support.gitenv import commit_all, make_repository

from real.harness import Checks, arm, same_under_every_layer


def run(folder: Path, _cache: Path, checks: Checks) -> None:
    """Arms the sample in `folder` and replays it under each layer."""
    gate = Gate(make_repository(bake(folder / "bakes")))
    commit_all(gate.root, "Scaffold")
    print("\nthe sample of the scaffold; arming: env, seal, record, commit", flush=True)
    arm(gate)
    same_under_every_layer(gate, checks)

"""The relations lane: metamorphic relations of tools/metamorphic.py (article A; design, sections 8 and 9).

A relation is a function `relation_*(run)` whose docstring names the identity in one sentence. It runs
after the digests; digests that match and a relation that does not are a finding: the corpus is too thin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from ..core.packet import Relation
from ..runner.claims import Answer, ClaimHost, Function, Run
from ..runner.stubs import stubs

_PREFIX = "relation_"
_HOLDS = ("true", "none")
#: A relation has to fail for these; for a constant program many a true identity holds.
_NULL_CONTROLS = ("random", "crash")


def relations(module: Path, view: Path, run: Run, timeout_s: float) -> tuple[Relation, ...]:
    """The state of every relation; `view` is a folder with the base's view and corpus to work in."""
    functions = _load(module, view, timeout_s)
    if isinstance(functions, Answer):
        return (Relation("metamorphic", "not_run", f"does not load: {functions.note}"),)
    return tuple(
        _judge(name, function, module, view, run, timeout_s)
        for name, function in functions.items()
        if name.startswith(_PREFIX)
    )


def broken_elsewhere(
    found: Iterable[Relation], module: Path, view: Path, runs: tuple[Run, Run], timeout_s: float
) -> tuple[Relation, ...]:
    """The relations, those that hold asked once more in another envelope, of the patch and then of the base.

    One that holds there of the base alone is broken: the program recognises where the gate asks.
    """

    def holds(name: str, run: Run) -> bool:
        with ClaimHost(view, timeout_s) as host:
            return not isinstance(host.load(module), Answer) and host.call(name, run).kind in _HOLDS

    patch, base = runs
    return tuple(
        replace(item, status="broken", note=f"in another envelope: {item.note}")
        if item.status == "holds" and not holds(item.id, patch) and holds(item.id, base)
        else item
        for item in found
    )


def _load(module: Path, view: Path, timeout_s: float) -> Mapping[str, Function] | Answer:
    with ClaimHost(view, timeout_s) as host:
        return host.load(module)


def _judge(name: str, function: Function, module: Path, view: Path, run: Run, timeout_s: float) -> Relation:
    if not function.doc.strip():
        return Relation(name, "not_run", "has no docstring: name the identity in one sentence")
    if function.parameters != 1:
        return Relation(name, "not_run", "does not take `run` alone")

    def ask(program: Run) -> Answer:
        with ClaimHost(view, timeout_s) as host:
            loaded = host.load(module)
            return loaded if isinstance(loaded, Answer) else host.call(name, program)

    available = stubs()
    for stub in _NULL_CONTROLS:
        if ask(available[stub]).kind in _HOLDS:
            return Relation(name, "vacuous", f"holds for the {stub} stub")
    answer = ask(run)
    if answer.kind in _HOLDS:
        return Relation(name, "holds", function.doc.split("\n")[0])
    note = answer.note or function.doc.split("\n")[0]
    return Relation(name, "broken" if answer.kind in ("broken", "false") else "not_run", note)

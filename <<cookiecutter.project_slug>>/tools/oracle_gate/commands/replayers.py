"""Wires the runner for the commands that replay."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ..core.errors import Exit, GateError
from ..core.gitdb import Entries
from ..core.oracle import Oracle
from ..core.packet import SandboxFacts
from ..runner.identity import identity
from ..runner.probing import probe
from ..runner.replayer import Bench, TreeReplayer, subject_of, worker_count
from ..sandbox.choice import candidates
from ..sandbox.layer import Layer
from ..sandbox.plain import Plain
from .context import Context


@dataclass(frozen=True)
class Isolation:
    """The strongest layer that holds, what the probes saw, or why there is none that suffices."""

    layer: Layer | None
    facts: SandboxFacts


@contextmanager
def opened_tree(
    context: Context, oracle: Oracle, corpus: Entries, entries: Entries, workers: int | None
) -> Iterator[TreeReplayer]:
    """A replayer on one tree, for commands that judge nothing; GateError when setup fails."""
    place = bench(context, oracle, corpus, workers, sufficient(context, oracle))
    built = place.prepare(entries)
    if built.failure:
        raise GateError(built.failure, where="[subject] setup", todo="repair the build")
    with place.replayer(built.entries) as replayer:
        yield replayer


def isolation(context: Context, oracle: Oracle, wanted: str = "auto") -> Isolation:
    """Tries the layers, strongest first, with active probes; `wanted` names one, or `none`.

    Where the settings require no more than `plain`, that is what is used: the program may need it.
    """
    required = oracle.settings.sandbox.require
    wanted = "plain" if (wanted, required) == ("auto", "plain") else wanted
    if wanted == "none":
        return Isolation(Plain(), SandboxFacts(mode="none", required=required))
    subject = subject_of(context.environments, oracle.settings, oracle.requirements)
    problems = []
    for candidate in candidates(wanted):
        try:
            if isinstance(candidate, GateError):
                raise candidate
            if candidate.name == "plain":
                if required == "plain":
                    return Isolation(candidate, SandboxFacts(mode="plain", required=required))
                raise GateError("isolates nothing")
            states = probe(candidate, subject)
            opened = sorted(name for name, state in states.items() if state != "blocked")
            if not opened or wanted == candidate.name:
                layers = (candidate.name, "no_new_privs", "rlimits", "session", identity(subject).note)
                return Isolation(candidate, SandboxFacts(candidate.name, required, layers, "", states))
            raise GateError(f"leaves open: {', '.join(opened)}")
        except GateError as error:
            name = "bubblewrap" if isinstance(candidate, GateError) else candidate.name
            problems.append(f"{name}: {error}")
    return Isolation(None, SandboxFacts(required=required, problem="; ".join(problems)))


def sufficient(context: Context, oracle: Oracle) -> Layer:
    """The layer for commands that give no verdict; GateError (hold) when the required one is not there."""
    found = isolation(context, oracle)
    if found.layer is None:
        raise GateError(
            found.facts.problem, where="[sandbox] require", todo="see `doctor`", exit_code=Exit.HOLD
        )
    return found.layer


def bench(context: Context, oracle: Oracle, corpus: Entries, workers: int | None, layer: Layer) -> Bench:
    """A bench on a layer; `corpus` is the tree whose corpus data rows read."""
    return Bench(
        store=context.store,
        settings=oracle.settings,
        noise=oracle.noise,
        corpus=corpus,
        layer=layer,
        subject=subject_of(context.environments, oracle.settings, oracle.requirements),
        workers=worker_count(oracle.settings, workers),
    )

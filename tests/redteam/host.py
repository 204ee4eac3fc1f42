"""The judge's side of the suite: one armed repository, every case judged in this process.

`judged` is what `gate.py judge` calls; the command line itself is tested elsewhere (tests/engine).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from oracle_gate.commands import evidence, judging
from oracle_gate.commands.case import Lane
from oracle_gate.commands.context import Context, Launch, opened
from oracle_gate.commands.judge import add_arguments, judged
from oracle_gate.core.gitdb import Entries
from oracle_gate.core.packet import Packet
from oracle_gate.core.settings import Public
from oracle_gate.runner.public_tests import TestRun, run_tests
from oracle_gate.runner.replayer import Bench
from redteam.model import Case, Edit, Replace, Write
from support.gate import Gate, armed_repository, copy_repository
from support.gitenv import commit_all, git
from support.quarantined import quarantine

TODAY = "2026-10-01"
#: What a human committed on top of the sample project before the change.
BASES: dict[str, tuple[Edit, ...]] = {
    # Short limits: programs that hang are among the cases.
    "sample": (
        Replace("oracle/gate.toml", "timeout_s = 10\n", "timeout_s = 4\n"),
        Replace("oracle/gate.toml", "[approvals]", "[public]\ntimeout_s = 20.0\n\n[approvals]"),
        Replace("oracle/gate.toml", "[approvals]", "[sealed]\nshrink_s = 2.0\n\n[approvals]"),
        Write("src/replay_demo/unused.py", '"""Nobody needs this."""\n\nUNUSED = 1\n'),
    ),
    "no denylist": (Write("oracle/denylist.txt", "# oracle/\n\n"),),
    "unarmed": (Write("oracle/digests.json", "{}\n"), Write("oracle/provenance.json", "{}\n")),
}
_TESTS = ("quarantine", "identities", "public")
#: The lanes that find what a rule of this kind says; others could only add reasons that weigh more. Controls,
#: where there must be no other reason, are judged by all lanes.
_LANES_OF: dict[str, tuple[str, ...]] = {
    "replay": ("replay",), "relations": ("relations",), "properties": ("sealed",), "quarantine": ("quarantine",),
    "tests": _TESTS, "test_config": _TESTS, "build": _TESTS, "dependencies": _TESTS, "agent_config": _TESTS,
}  # fmt: skip


@dataclass
class Host:
    """The repository, the contexts opened on its bases, and a place for patches and packets."""

    gate: Gate
    folder: Path
    stack: ExitStack
    commits: dict[str, str] = field(default_factory=dict)
    contexts: dict[str, Context] = field(default_factory=dict)
    bases: dict[str, tuple[Edit, ...]] = field(default_factory=lambda: dict(BASES))

    def judge(self, case: Case) -> Packet:
        """The packet of one case; the repository is as before afterwards."""
        return self._judge(case, lanes_for(case))

    def judge_edits(self, base: str, edits: tuple[Edit, ...], lane: str, *words: str) -> Packet:
        """The packet of a change in the work tree, judged by one lane."""
        case = Case("", "", edits, way="work tree", base=base)
        return self._judge(case, {lane: judging.LANES[lane]}, *words)

    def add_base(self, name: str, *edits: Edit) -> None:
        """Another base, made of the sample when it is first asked for."""
        self.bases.setdefault(name, edits)

    def _judge(self, case: Case, lanes: Mapping[str, Lane] | None, *words: str) -> Packet:
        context = self._context(case.base)
        self.check_out(case.base)
        try:
            parser = argparse.ArgumentParser()
            add_arguments(parser)
            usual = ["--workers", "1", "--now", TODAY]
            arguments = parser.parse_args([*self._submit(case), *usual, *words])
            return judged(context, arguments, self.folder / "packet.json", lanes)
        finally:
            self.check_out(case.base)

    def patch_of(self, case: Case) -> bytes:
        """The case's change as a patch."""
        if isinstance(case.change, bytes):
            return case.change
        self._context(case.base)
        self.check_out(case.base)
        for edit in case.change:
            edit.apply(self.gate)
        return self.gate.cut_patch()

    def commit_of(self, base: str) -> str:
        """The commit of a base, made when it is first asked for."""
        self._context(base)
        return self.commits[base]

    def _context(self, base: str) -> Context:
        if base not in self.contexts:
            if base == "sample":
                git(self.gate.root, "checkout", "--quiet", "--detach", "main")
            else:
                self.commit_of("sample")
                self.check_out("sample")
            for edit in self.bases[base]:
                edit.apply(self.gate)
            commit = self.commits[base] = commit_all(self.gate.root, "Base")
            launch = Launch(str(self.gate.root), commit, "test", "local", "")
            self.contexts[base] = self.stack.enter_context(opened(launch))
        return self.contexts[base]

    def check_out(self, base: str) -> None:
        """Puts a base that was asked for before into the work tree."""
        git(self.gate.root, "checkout", "--quiet", "--force", "--detach", self.commits[base])
        git(self.gate.root, "clean", "-dfxq", "--exclude=/.gate")

    def _submit(self, case: Case) -> list[str]:
        """Delivers a change; returns the words of the command line that name it."""
        if case.way == "patch":
            file = self.folder / "change.patch"
            file.write_bytes(self.patch_of(case))
            return ["--patch", str(file)]
        assert not isinstance(case.change, bytes)
        for edit in case.change:
            edit.apply(self.gate)
        if case.way == "work tree":
            return []
        git(self.gate.root, "add", "--all", "--force", ".", ":!.gate")
        if case.way == "staged":
            return []
        head = commit_all(self.gate.root, "Change")
        if case.way == "reverted":
            git(self.gate.root, "revert", "--no-edit", head)
            (self.gate.root / "README.md").open("a").write("More.\n")
            head = commit_all(self.gate.root, "Revert and go on")
        return ["--head", head]


def lanes_for(case: Case) -> dict[str, Lane] | None:
    """The lanes that a case needs; None means all."""
    needed = [_LANES_OF.get(rule.partition(".")[0]) for rule in case.rules]
    if case.id in ("control", "slop-code-bench#16") or not needed or None in needed:
        return None
    names = {name for lanes in needed for name in lanes or ()}
    return {name: lane for name, lane in judging.LANES.items() if name in names}


def problem_of(case: Case, packet: Packet) -> str:
    """How a packet differs from what the case must get; empty when it does not."""
    rules = {reason.rule for reason in packet.reasons}
    # A judgement by one lane alone knows no verdict but what that lane lowers it to.
    verdict = "eligible" if packet.verdict == "none" else packet.verdict
    if verdict == case.verdict and (rules & set(case.rules) if case.rules else not rules):
        return ""
    told = "; ".join(
        f"{reason.rule} {reason.subject} {reason.detail}".strip() for reason in packet.reasons[:4]
    )
    return f"got {verdict} ({told or 'no reason'}), must get {case.verdict} {' or '.join(case.rules)}".strip()


@contextmanager
def open_host(folder: Path, source: Path | None = None) -> Iterator[Host]:
    """A host in a new folder; `source` is an armed sample project to copy, else one is made."""
    with ExitStack() as stack:
        armed = source or armed_repository(folder / "armed")
        gate = quarantine(copy_repository(armed, folder / "repository"))
        # The tests of the base run on the base in every judgement: once is enough for a suite.
        stack.enter_context(mock.patch.object(evidence, "run_tests", _remembering(run_tests)))
        yield Host(gate, folder, stack)


def _remembering(run: Callable[..., TestRun]) -> Callable[..., TestRun]:
    """The function with a memory for trees whose tests ran already."""
    known: dict[tuple[frozenset[object], bool], TestRun] = {}

    def remembered(bench: Bench, tree: Entries, public: Public, *, only_list: bool = False) -> TestRun:
        key = frozenset(tree.items()), only_list
        if key not in known:
            known[key] = run(bench, tree, public, only_list=only_list)
        return known[key]

    return remembered

"""`nox -s redteam -- --detectors`: each detector switched off, and a case that then gets through.

A detector without such a case would be one that nobody would miss. A row is right when the case gets its
verdict with the detector and another one without.
"""

from __future__ import annotations

# ruff: noqa: E501 (a table)
import dataclasses
import datetime
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

from oracle_gate.commands import judge, judging, judging_approvals, judging_sealed, judging_tests, replayers
from oracle_gate.commands.case import Arena, Case, Lane, LaneResult
from oracle_gate.commands.context import Context
from oracle_gate.commands.null_controls import Measured
from oracle_gate.core import commits, denyrules, patching, submission
from oracle_gate.core.approvals import Signers
from oracle_gate.core.packet import DenylistFacts, Packet, ReplayRow
from oracle_gate.core.submission import Change
from oracle_gate.lanes import properties, relations, replay
from oracle_gate.lanes.changed_paths import changed_paths
from oracle_gate.lanes.denylist import denylist
from oracle_gate.lanes.quarantine import quarantine
from oracle_gate.runner.replayer import TreeReplayer
from oracle_gate.runner.trial import Trial
from oracle_gate.sandbox.probes import PROBES
from oracle_gate.workspace import audit
from redteam import apart
from redteam.cases import CONTROLS, GROUPS
from redteam.host import Host, problem_of
from redteam.model import Case as RedCase

Apart = Callable[[Host], str]
_ALL = {case.name: case for cases in (*GROUPS.values(), CONTROLS) for case in cases}


Replaced = tuple[tuple[Any, str, Any], ...]


@dataclass(frozen=True)
class Detector:
    """What is switched off: attributes of engine modules and their blind replacements, or a lane.

    `case` shows it: a case of the suite, or what is done apart and the rule that must then be among those told.
    """

    name: str
    case: RedCase | tuple[Apart, str]
    replaced: Replaced = ()
    lane: str = ""

    @property
    def shown(self) -> str:
        """What the case is about."""
        return self.case.name if isinstance(self.case, RedCase) else str(self.case[0].__doc__).rstrip(".")

    def problem(self, host: Host) -> str:
        """Empty when the case is caught with the detector and not without it."""
        if missed := self._missed(host):
            return missed
        with self.off():
            return "" if self._missed(host) else "STILL CAUGHT"

    def _missed(self, host: Host) -> str:
        if isinstance(self.case, RedCase):
            return problem_of(self.case, host.judge(self.case))
        told, wanted = self.case[0](host), self.case[1]
        return "" if wanted in told else f"got {told or 'no reason'}, must get {wanted}"

    @contextmanager
    def off(self) -> Iterator[None]:
        """The engine without this detector."""
        with ExitStack() as stack:
            for owner, attribute, blind in self.replaced:
                stack.enter_context(mock.patch.object(owner, attribute, blind))
            if self.lane:
                lanes: Mapping[str, Lane] = {**judging.LANES, self.lane: _silent}
                stack.enter_context(mock.patch.object(judging, "LANES", lanes))
            yield


def _silent(_case: Case, _arena: Arena | None) -> LaneResult:
    """A lane that ran and has nothing to say."""
    return LaneResult({}, "ran", {})


_facts = judging.facts
_finish, _reduce, _work_tree = submission.finish, TreeReplayer._reduce, Context.work_tree


def _no_hits(change: Change, oracle: Any) -> DenylistFacts:
    return dataclasses.replace(denylist(change, oracle), hits=())


def _some_rules(change: Change, oracle: Any) -> DenylistFacts:
    return dataclasses.replace(denylist(change, oracle), rules=1)


def _no_kinds(change: Change, store: Any) -> tuple[Any, ...]:
    return tuple(dataclasses.replace(item, kinds=()) for item in changed_paths(change, store))


def _armed(*arguments: Any) -> Packet:
    packet = _facts(*arguments)
    return dataclasses.replace(packet, counts={**packet.counts, "pins": 1})


def _never_empty(*arguments: Any) -> Change:
    change = _finish(*arguments)
    return dataclasses.replace(change, problems=tuple(p for p in change.problems if p.rule != "intake.empty"))


def _matches(trial: Any, expected: str, _replayers: Any) -> ReplayRow:
    return ReplayRow(trial.row.id, "match", expected, expected)


def _exited(self: TreeReplayer, job: Any, observation: Any, inside: Any, **options: Any) -> Any:
    return _reduce(self, job, dataclasses.replace(observation, status="exited"), inside, **options)


def _only_tracked(self: Context, _denied: Any, root: Any = None) -> Change:
    return _work_tree(self, lambda _path: None, root)


def _as_written(path: bytes | str) -> str:
    return path.decode("utf-8", "replace") if isinstance(path, bytes) else path


def _any_day(ledger: Any, _today: Any, sides: Any) -> Any:
    return quarantine(ledger, datetime.date.min, sides)


_ONE_ENVELOPE = (judging, "replay_elsewhere", lambda _rows, judged, *_: judged)
DETECTORS = (
    Detector("denied paths", _ALL["D rename into the corpus"], ((judging_approvals, "denylist", _no_hits),)),
    Detector("a denylist without a rule", _ALL["D24 denylist of comments"], ((judging_approvals, "denylist", _some_rules),)),
    Detector("names folded before they are compared", _ALL["D16 full-width letters"], ((denyrules, "fold", _as_written),)),
    Detector("ignored files on denied paths", _ALL["D1 untracked file that .gitignore hides"], ((Context, "work_tree", _only_tracked),)),
    Detector("commit by commit", _ALL["D3 commit of the pins, reverted by the next"], ((commits, "_own_changes", lambda *_: ()),)),
    Detector("names that no change may bring together", _ALL["D16 two spellings of one name"],
             ((patching, "forbidden", lambda _: []), (submission, "forbidden", lambda _: []))),
    Detector("refusals of git apply", _ALL["D20 one good hunk, one bad"], ((patching, "apply_patch", lambda *a: a[2]),)),
    Detector("a change of nothing", _ALL["G a change of nothing"], ((patching, "finish", _never_empty),)),
    Detector("an oracle that pins nothing", _ALL["G an oracle that pins nothing"], ((judge, "facts", _armed),)),
    Detector("digests", _ALL["R an exit code alone"], ((replay, "_judge", _matches), _ONE_ENVELOPE)),
    Detector("rows that leave processes", _ALL["R5 a daemon that holds stdout"], ((TreeReplayer, "_reduce", _exited),)),
    Detector("another envelope", _ALL["R3 right only where SOURCE_DATE_EPOCH is set"],
             (_ONE_ENVELOPE,)),
    Detector("relations", _ALL["R1 wrong on what only relations reach"], (), "relations"),
    Detector("sealed properties", _ALL["R1 right for pinned inputs alone"], (), "sealed"),
    Detector("quarantine", _ALL["T1 quarantined test deleted"], (), "quarantine"),
    Detector("test identities", _ALL["T2 another test deleted"], (), "identities"),
    Detector("public tests", _ALL["control a new test that fails on purpose"], (), "public"),
    Detector("kinds of paths", _ALL["G13 setup.py"], ((judging, "changed_paths", _no_kinds),)),
    Detector("signatures of statements", (apart.stranger_accepts, "approval.invalid"), ((Signers, "verify", lambda *_: "anybody"),)),
    Detector("freezes", (apart.frozen_for_good, "freezes.expired"), ((judging_sealed, "freezes", lambda *_: ()),)),
    Detector("dates of the quarantine", (apart.quarantined_for_good, "quarantine.expired"), ((judging_tests, "quarantine", _any_day),)),
    Detector("amount of noise", (apart.behind_noise, "noise.changed"), ((Trial, "noise_lines", 0),)),
    Detector("probes of the sandbox", (apart.open_sandbox, "sandbox.insufficient"),
             ((replayers, "probe", lambda *_: dict.fromkeys(PROBES, "blocked")),)),
    Detector("null controls of rows", (apart.inert_row, "inert"), ((Measured, "inert", lambda *_: False),)),
    Detector("a second run of rows", (apart.wavering_row, "unstable"), ((Measured, "unsteady", lambda *_: False),)),
    Detector("null controls of properties", (apart.property_of_nothing, "properties.vacuous"), ((properties, "accepted", lambda *_: ()),)),
    Detector("null controls of relations", (apart.relation_of_nothing, "relations.vacuous"), ((relations, "_NULL_CONTROLS", ()),)),
    Detector("audit of workspaces", (apart.leak_in_a_workspace, "audit"), ((audit._Search, "_note", lambda *_: None),)),
)  # fmt: skip

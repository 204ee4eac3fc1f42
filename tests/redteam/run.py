"""`nox -s redteam`: every case judged, caught / total by group; ends non-zero on a wrong verdict.

python tests/redteam/run.py [--group G …] [--only TEXT]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "<<cookiecutter.project_slug>>/tools"), str(ROOT / "tests")]

from oracle_gate.core.packet import Packet  # noqa: E402
from redteam.cases import CONTROLS, GROUPS  # noqa: E402
from redteam.host import Host, open_host  # noqa: E402
from redteam.model import Case  # noqa: E402


@dataclass(frozen=True)
class Result:
    """A case, and what is wrong with its verdict; empty when nothing is."""

    case: Case
    problem: str


def problem_of(case: Case, packet: Packet) -> str:
    """How a packet differs from what the case must get."""
    rules = {reason.rule for reason in packet.reasons}
    verdict = "eligible" if packet.verdict == "none" else packet.verdict
    if verdict == case.verdict and (rules & set(case.rules) if case.rules else not rules):
        return ""
    told = "; ".join(
        f"{reason.rule} {reason.subject} {reason.detail}".strip() for reason in packet.reasons[:4]
    )
    return f"got {verdict} ({told or 'no reason'}), must get {case.verdict} {' or '.join(case.rules)}".strip()


def run_cases(host: Host, cases: Iterable[Case], say: Callable[[str], None] = print) -> list[Result]:
    """Judges the cases one by one."""
    results = []
    for case in cases:
        results.append(Result(case, problem_of(case, host.judge(case))))
        if results[-1].problem:
            say(f"WRONG {case.name}: {results[-1].problem}")
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--group", action="append", choices=[*GROUPS, "controls"])
    parser.add_argument("--only", default="", help="cases whose name holds this text")
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, open_host(Path(folder)) as host:
        for group, cases in {**GROUPS, "controls": CONTROLS}.items():
            if options.group and group not in options.group:
                continue
            results = run_cases(host, [case for case in cases if options.only in case.name])
            bad = sum(bool(result.problem) for result in results)
            wrong += bad
            word = "false alarms" if group == "controls" else "caught"
            number = bad if group == "controls" else len(results) - bad
            print(f"{group:9} {word} {number} / {len(results)}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

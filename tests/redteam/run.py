"""`nox -s redteam`: every case judged, caught / total by group, this gate beside the articles' listings.

    python tests/redteam/run.py [--group G …] [--only TEXT] [--without-articles] [--table] [--detectors]

Ends non-zero on a wrong verdict. `--table` also writes the table into the README's evidence section.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "<<cookiecutter.project_slug>>/tools"), str(ROOT / "tests")]

from oracle_gate.core.canonical import Tokens, digest  # noqa: E402
from oracle_gate.core.noise import NoiseRules  # noqa: E402
from oracle_gate.core.observation import InMemory, Observation  # noqa: E402
from redteam import articles, leaks  # noqa: E402
from redteam.cases import CONTROLS, ELSEWHERE, GROUPS, NOT_CLAIMED  # noqa: E402
from redteam.cases.threads import PAIRS, SAME_PAIRS, Pair  # noqa: E402
from redteam.detectors import DETECTORS  # noqa: E402
from redteam.host import Host, open_host, problem_of  # noqa: E402
from redteam.model import Case  # noqa: E402

README = ROOT / "README.md"
BLOCK = re.compile(r"(<!-- evidence:begin -->\n).*?(<!-- evidence:end -->)", re.DOTALL)
TITLES = {
    "T": "T: tests made to say less", "D": "D: ways around the denylist", "G": "G: the gate tampered with",
    "R": "R: programs that misbehave or cheat", "L": "L: oracle in the generator's workspace",
    "cases": "cases of public threads", "outputs": "outputs that differ", "controls": "honest work stopped",
}  # fmt: skip
_TOKENS = Tokens(((b"/w/tree", "ROOT"), (b"/w/scratch", "TMP"), (b"/w", "TMP")))


@dataclass
class Score:
    """One row of the table: how many cases, how many each judge stopped; None where it was not asked."""

    total: int
    gate: int
    articles: dict[str, tuple[int, int] | None] = field(default_factory=lambda: {"A": None, "B": None})


def one_digest(pair: Pair) -> bool:
    """Whether both outputs of a pair have the same digest."""
    sides = (Observation("exited", 0, InMemory(data), InMemory(b"")) for data in (pair.before, pair.after))
    return len({digest(side, pair.format, _TOKENS, NoiseRules()).digest for side in sides}) == 1


def wrong_pairs(pairs: Iterable[Pair]) -> list[str]:
    """The pairs whose digests say the opposite of what they must."""
    return [pair.name for pair in pairs if one_digest(pair) != pair.same]


def judge_group(host: Host, group: str, cases: Sequence[Case]) -> Score:
    """Judges the cases one by one, and names those with a wrong verdict."""
    wrong = 0
    for case in cases:
        problem = problem_of(case, host.judge(case))
        wrong += bool(problem)
        if problem:
            print(f"WRONG {case.name}: {problem}", flush=True)
    word, number = ("false alarms", wrong) if group == "controls" else ("caught", len(cases) - wrong)
    print(f"{group}: {word} {number} / {len(cases)}", flush=True)
    return Score(len(cases), wrong if group == "controls" else len(cases) - wrong)


def ask_articles(
    host: Host, folder: Path, groups: dict[str, Sequence[Case]], scores: dict[str, Score]
) -> None:
    """Fills the articles' columns: cases that got no green light."""
    host.commit_of("sample")
    for setup in (articles.article_a, articles.article_b):
        article = setup(host.gate.root, folder)
        for group, cases in groups.items():
            fit = [case for case in cases if articles.fits(case)]
            stopped = sum(not article.passes(case) for case in fit)
            scores[group].articles[article.name] = (stopped, len(fit))


def judge_leaks(folder: Path, only: str) -> Score:
    """Audits a workspace with each leak; a clean one must give no finding."""
    chosen = [leak for leak in leaks.CASES if only in leak.name]
    with leaks.open_place(folder) as place:
        missed = [leak.name for leak in chosen if not place.finds(leak)]
        if not place.clean_is_clean():
            missed = ["a clean workspace gives findings", *missed]
    for name in missed:
        print(f"WRONG {name}", flush=True)
    return Score(len(chosen), len(chosen) - len(missed))


def judge_pairs(only: str) -> Score:
    """Compares outputs that must drift, and outputs that must not."""
    chosen = [pair for pair in (*PAIRS, *SAME_PAIRS) if only in pair.name]
    wrong = wrong_pairs(chosen)
    for name in wrong:
        print(f"WRONG {name}", flush=True)
    return Score(len(chosen), len(chosen) - len(wrong))


def switch_off(host: Host, only: str) -> int:
    """Prints every detector with its case, judged with it and without; returns how many rows are wrong."""
    wrong = 0
    chosen = [detector for detector in DETECTORS if only in detector.name]
    for detector in chosen:
        problem = detector.problem(host)
        wrong += bool(problem)
        print(f"{detector.name:40} off: {detector.shown}: {problem or 'gets through'}", flush=True)
    print(f"{len(chosen)} detectors, {wrong} wrong")
    return wrong


def table(scores: dict[str, Score]) -> str:
    """The scores as a table of the README."""

    def cell(number: tuple[int, int] | None) -> str:
        return f"{number[0]} / {number[1]}" if number else "-"

    lines = ["| | this gate | article A's listing | article B's listing |", "|---|---|---|---|"]
    for group, score in scores.items():
        cells = ((score.gate, score.total), score.articles["A"], score.articles["B"])
        lines.append(f"| {TITLES[group]} | {' | '.join(map(cell, cells))} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--group", action="append", choices=list(TITLES))
    parser.add_argument("--only", default="", help="cases, or detectors, whose name holds this text")
    parser.add_argument("--without-articles", action="store_true")
    parser.add_argument("--table", action="store_true", help="write the README's evidence section")
    parser.add_argument("--detectors", action="store_true", help="switch the detectors off, one by one")
    options = parser.parse_args()
    if options.detectors:
        with tempfile.TemporaryDirectory() as name, open_host(Path(name)) as host:
            return 1 if switch_off(host, options.only) else 0
    wanted = options.group or list(TITLES)
    groups: dict[str, Sequence[Case]] = {
        group: [case for case in cases if options.only in case.name]
        for group, cases in {**GROUPS, "controls": CONTROLS}.items()
        if group in wanted
    }
    scores: dict[str, Score] = {}
    with tempfile.TemporaryDirectory() as name, open_host(Path(name)) as host:
        for group, cases in groups.items():
            scores[group] = judge_group(host, group, cases)
        if "L" in wanted:
            scores["L"] = judge_leaks(Path(name), options.only)
        if "outputs" in wanted:
            scores["outputs"] = judge_pairs(options.only)
        if articles.available() and not options.without_articles:
            ask_articles(host, Path(name), groups, scores)
    scores = {group: scores[group] for group in TITLES if group in scores}
    print(table(scores))
    if not articles.available():
        print("the articles' own listings: not here")
    for row, what in NOT_CLAIMED.items():
        print(f"not claimed  {row.strip():4} {what}")
    for rows, where in ELSEWHERE.items():
        print(f"elsewhere    {rows}: {where}")
    if options.table:
        text = README.read_text(encoding="utf-8")
        README.write_text(
            BLOCK.sub(lambda found: found[1] + table(scores) + found[2], text), encoding="utf-8"
        )
    wrong = sum(
        score.gate if group == "controls" else score.total - score.gate for group, score in scores.items()
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

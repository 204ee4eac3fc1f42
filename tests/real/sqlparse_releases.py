"""Two releases of sqlparse whose differences were predicted from the change log before the first run.

PREDICTIONS holds one entry a row: whether it drifts from 0.4.4 to 0.5.0, and the line of 0.5.0's change log
(in our words) that says so; rows without such a line are predicted to stay. The predictions were written
without the difference of the sources and are never edited afterwards: what observation made of them stands
in WRONG, and the run expects the observed rows to drift, no others. (The change log's SQLParseError for deep
nesting has no row: input that is deep enough takes 0.4.4 too long for a row.)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from real.harness import (
    Case,
    Checks,
    Judgement,
    arm,
    cut_release,
    is_clean,
    judge,
    make_project,
    read_folder,
    read_releases,
    show,
)  # fmt: skip
from real.releases import Release

OLD = Release("sqlparse", "0.4.4", "d446183e84b8349fa3061f0fe7f06ca94ba65b426946ffebe6e3e8295332420c")
NEW = Release("sqlparse", "0.5.0", "714d0a4932c059d16189f58ef5411ec2287a4360f17cdd0edd2d09d4c5087c93")
PROJECT = Path(__file__).resolve().parent / "sqlparse"
SETTINGS = {("subject", "path"): '["."]', ("lanes", "required"): '["denylist", "replay"]'}


@dataclass(frozen=True)
class Prediction:
    """Whether a row drifts, and what in the change log says so."""

    drifts: bool
    why: str


UNMENTIONED = Prediction(drifts=False, why="no line of the change log speaks of it")
PREDICTIONS: Mapping[str, Prediction] = {
    "version": Prediction(True, "the release number"),
    "go-batches": Prediction(True, "Transact-SQL is split better at GO"),
    "json-arrow": Prediction(True, "statements with JSON operators are formatted better"),
    "json-arrow-spaced": Prediction(True, "some JSON operators are supported"),
    "json-contains-spaced": Prediction(True, "some JSON operators are supported"),
    "snowflake-warehouse": Prediction(True, "keywords of Snowflake are known"),
    "bigquery-qualify": Prediction(True, "keywords of BigQuery and Snowflake are known"),
    "over-clause": Prediction(True, "the OVER clause is parsed"),
    "over-named-window": Prediction(True, "the OVER clause is parsed"),
    "order-nulls": Prediction(True, "nested order clauses are parsed correctly"),
    "dollar-quote-after-operator": Prediction(True, "operators may precede a dollar-quoted string"),
    "primary-key": Prediction(False, "PRIMARY KEY is parsed otherwise, but both words were keywords before"),
    "truncate": Prediction(False, "TRUNCATE is classed as DDL; keywords of every class are put in capitals"),
    "grant": Prediction(False, "GRANT is classed as DCL; keywords of every class are put in capitals"),
    "semicolons": Prediction(
        False, "the semicolon's removal is an option of the library, not of the program"
    ),
    "help": Prediction(False, "no option of the program is mentioned"),
    "keywords-upper": UNMENTIONED,
    "identifiers-capitalize": UNMENTIONED,
    "reindent": UNMENTIONED,
    "aligned": UNMENTIONED,
    "comments-stripped": UNMENTIONED,
    "python-snippet": UNMENTIONED,
    "php-snippet": UNMENTIONED,
    "comma-first": UNMENTIONED,
    "standard-input": UNMENTIONED,
    "outfile": UNMENTIONED,
    "absent-file": UNMENTIONED,
}
#: Predictions that the first run disproved: row -> what was overlooked.
WRONG: Mapping[str, str] = {
    "snowflake-warehouse": "the change log names no keyword, and WAREHOUSE is not among those that were added",
    "order-nulls": "the clause is grouped anew below the top level only; the layout of this one is the same",
}


def expected() -> dict[str, str]:
    """The rows that drift, as observed: the predicted ones, less or more those that were wrong."""
    return {
        row: WRONG.get(row, prediction.why)
        for row, prediction in PREDICTIONS.items()
        if prediction.drifts != (row in WRONG)  # a wrong one turns round
    }


def show_predictions(judgement: Judgement, checks: Checks) -> None:
    """Prints predicted against observed, row by row; only a wrong prediction that WRONG does not list fails."""
    words = {True: "drifts", False: "stays"}
    disproved = []
    print(f"  {'row':30}predicted observed")
    for row, prediction in PREDICTIONS.items():
        observed = row in judgement.drift
        disproved += [row] if observed != prediction.drifts else []
        verdict = (
            ""
            if observed == prediction.drifts
            else f"WRONG PREDICTION: {WRONG.get(row, 'not looked into')}; "
        )
        print(f"  {row:30}{words[prediction.drifts]:10}{words[observed]:9}{verdict}{prediction.why}")
    print(f"  {len(PREDICTIONS) - len(disproved)} of {len(PREDICTIONS)} predictions right")
    checks.expect("the wrong predictions are those already known", set(disproved) == set(WRONG))


def run(folder: Path, cache: Path, checks: Checks) -> None:
    """Arms 0.4.4 in `folder` and judges 0.5.0."""
    old, new = read_releases((OLD, NEW), cache)
    rows = [
        json.loads(line)["id"] for line in (PROJECT / "corpus/inputs.jsonl").read_text("utf-8").splitlines()
    ]
    checks.expect(f"a prediction for each of {len(rows)} rows", sorted(rows) == sorted(PREDICTIONS))
    gate = make_project(folder, "sqlparse", old | read_folder(PROJECT), SETTINGS)
    arm(gate)
    case = Case("0.5.0", cut_release(gate, old, new), "block", 1, expected())
    judgement = judge(gate, case.patch)
    show(case, judgement, checks)
    show_predictions(judgement, checks)
    is_clean(gate, checks)

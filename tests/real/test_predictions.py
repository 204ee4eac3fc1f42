"""What the runs on sqlparse and csv-summary state beforehand fits their rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from oracle_gate.core.corpus import Row, parse_rows

from real import csv_summary_releases, sqlparse_releases

CORPORA = {
    "csv_summary": csv_summary_releases.PROJECT / "base",
    "sqlparse": sqlparse_releases.PROJECT,
}


def rows(project: Path) -> dict[str, Row]:
    return {row.id: row for row in parse_rows((project / "corpus/inputs.jsonl").read_bytes())}


def test_every_row_on_sqlparse_is_predicted_one_way_or_the_other() -> None:
    predictions = sqlparse_releases.PREDICTIONS
    assert rows(CORPORA["sqlparse"]).keys() == predictions.keys()
    assert len(predictions) >= 12
    assert {prediction.drifts for prediction in predictions.values()} == {True, False}
    assert sqlparse_releases.WRONG.keys() <= predictions.keys()


def test_a_wrong_prediction_turns_what_is_expected() -> None:
    for row, prediction in sqlparse_releases.PREDICTIONS.items():
        assert (row in sqlparse_releases.expected()) == (
            prediction.drifts != (row in sqlparse_releases.WRONG)
        )


def test_rows_on_csv_summary_are_of_every_kind_without_a_service() -> None:
    found = rows(CORPORA["csv_summary"])
    assert found.keys() >= csv_summary_releases.INTENDED.keys()
    kinds = [(bool(row.argv), row.file is not None, row.files is not None) for row in found.values()]
    assert set(kinds) == {(True, False, False), (False, True, False), (True, False, True)}
    assert not any(word == "python" for row in found.values() for word in row.argv)


@pytest.mark.parametrize("name", CORPORA)
def test_every_data_file_is_read_by_a_row(name: str) -> None:
    folder = CORPORA[name]
    named = {word for row in rows(folder).values() for word in (*row.argv, *row.corpus_paths)}
    there = {str(file.relative_to(folder)) for file in (folder / "corpus/data").iterdir()}
    assert there <= named


def test_a_data_file_keeps_its_line_ends() -> None:
    assert b"\r\n" in (CORPORA["csv_summary"] / "corpus/data/dos.csv").read_bytes()

"""oracle/quarantine.json: read strictly, with the line of every complaint."""

from __future__ import annotations

import datetime

import pytest
from oracle_gate.core.errors import GateError
from oracle_gate.core.ledger import Quarantined, parse_quarantine

ARTICLE = b"""{
  "tests/test_net.py::test_retry_window": {
    "reason": "depends on wall clock in CI",
    "expires": "2026-10-06"
  }
}
"""


def test_the_articles_sample_loads() -> None:
    date = datetime.date(2026, 10, 6)
    [entry] = parse_quarantine(ARTICLE)
    assert entry == Quarantined("tests/test_net.py::test_retry_window", "depends on wall clock in CI", date)


def test_an_empty_ledger_is_no_finding() -> None:
    assert parse_quarantine(b"{}\n") == ()


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (b"{}", ("", None)),
        (b'{"reason": "  ", "expires": ""}', ("", None)),
        (b'{"reason": null, "expires": null}', ("", None)),
        (b'{"reason": " x ", "expires": " 2026-02-28 "}', ("x", datetime.date(2026, 2, 28))),
    ],
)
def test_what_an_entry_lacks_is_left_to_the_policy(entry: bytes, expected: tuple[str, object]) -> None:
    [read] = parse_quarantine(b'{"t.py::test": ' + entry + b"}")
    assert (read.reason, read.expires) == expected


def test_entries_come_sorted() -> None:
    assert [entry.id for entry in parse_quarantine(b'{"b": {}, "a::x[1]": {}, "a::x": {}}')] == [
        "a::x",
        "a::x[1]",
        "b",
    ]


@pytest.mark.parametrize(
    ("data", "line", "complaint"),
    [
        (b"", 1, "empty file"),
        (b"[]", 1, "not an object"),
        (b'{\n"a": {},\n"a": {}}', 3, "duplicate key 'a'"),
        (b'{\n"a": []}', 2, "not an object"),
        (b'{\n"a": {"reason": 1}}', 2, "reason is not"),
        (b'{\n"a": {},\n"b": {"owner": "x"}}', 3, "unknown key 'owner'"),
        (b'{\n"a": {"expires": "2026-13-01"}}', 2, "no date"),
        (b'{\n"a": {"expires": "20261001"}}', 2, "no date"),
        (b'{\n"a": {"expires": "2026-W40-1"}}', 2, "no date"),
        (b'{\n"a": {"expires": "2026-10-06T00:00:00Z"}}', 2, "no date"),
        ('{\n"a": {"expires": "２０２６-10-06"}}'.encode(), 2, "no date"),  # noqa: RUF001
        (b'{\n"a": {"expires": "never"}}', 2, "no date"),
        (b'{\n"a": {"expires": 20261006}}', 2, "expires is not"),
        (b'{\n" a": {}}', 2, "no node id"),
        (b'{\n"": {}}', 2, "no node id"),
        (b'{\n"a\\nb": {}}', 2, "no node id"),
        (b'{"a": {}}\xff', 1, "UTF-8"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_refused_with_its_line(data: bytes, line: int, complaint: str) -> None:
    with pytest.raises(GateError) as caught:
        parse_quarantine(data)
    assert str(caught.value).startswith(f"oracle/quarantine.json:{line}: ")
    assert complaint in str(caught.value)

"""docs/rows.md: its rows and settings are read, its tables are whole."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import get_args

from oracle_gate.core.corpus import Row, parse_rows
from oracle_gate.core.observation import Status
from oracle_gate.core.settings import parse_settings
from support.baking import TEMPLATE

TEXT = (TEMPLATE / "docs/rows.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"(?ms)^```{kind}\n(.*?)^```$", TEXT)


def test_its_rows_and_settings_are_read() -> None:
    (rows,) = blocks("json")
    assert len(list(parse_rows(rows.encode()))) == 6
    assert len(blocks("toml")) == 2
    settings = parse_settings("\n".join(blocks("toml")).encode())
    assert settings.service.headers == ("content-type", "location")
    assert settings.subject.setup[0][0] == "cc"


def test_every_field_and_every_status_is_explained() -> None:
    own = {field.name for field in fields(Row)} - {"id", "line"}
    assert own == {name for name in own if f"`{name}`" in TEXT}
    assert [status for status in get_args(Status) if f"`{status}`" not in TEXT] == []

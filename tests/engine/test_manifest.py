"""The strict reader of sealed/MANIFEST.json."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from oracle_gate.core.decode import to_json
from oracle_gate.core.errors import GateError
from oracle_gate.core.manifest import Manifest, SealedFixture, SealedProperty, parse_manifest
from support.article_b import FREEZES, MANIFEST
from support.schema_files import FOLDER

DIGEST = "a1" * 32


def document(**changes: Any) -> dict[str, Any]:
    """A sealed manifest with changes at its top."""
    return {
        "schema": "sealed-oracle-v1",
        "parent_sha_at_lock": "1" * 40,
        "properties": [
            {"id": "p", "path": "properties/p.py", "sha256": DIGEST, "fixtures": ["f"], "in_process": False}
        ],
        "fixtures": [
            {"id": "f", "path": "fixtures/f.bin", "sha256": DIGEST},
            {"id": "g", "path": "fixtures/deep/g.bin", "sha256": DIGEST},
        ],
        "freeze_sha256": DIGEST,
    } | changes


def parse(value: Any) -> Manifest:
    return parse_manifest(json.dumps(value, indent=1).encode())


def test_the_articles_manifest_loads_word_for_word() -> None:
    manifest = parse_manifest(MANIFEST)
    assert manifest == Manifest(
        "sealed-oracle-v1",
        (
            SealedProperty("p_idempotent_put", "properties/p_idempotent_put.py"),
            SealedProperty("p_reject_empty_key", "properties/p_reject_empty_key.py"),
        ),
        (
            SealedFixture("put_ok", "fixtures/put_ok.bin", ""),
            SealedFixture("put_empty_key", "fixtures/put_empty_key.bin", ""),
        ),
        "REPLACE_WITH_PARENT_SHA",
    )
    assert manifest.fixtures_of(manifest.properties[0]) == manifest.fixtures


def test_what_seal_writes_is_read_again() -> None:
    manifest = parse(document())
    assert parse_manifest(to_json(manifest)) == manifest
    assert manifest.freeze_sha256 == DIGEST
    assert [fixture.id for fixture in manifest.fixtures_of(manifest.properties[0])] == ["f"]


def a_property(**changes: Any) -> dict[str, Any]:
    return document(properties=[document()["properties"][0] | changes])


def a_fixture(**changes: Any) -> dict[str, Any]:
    return document(fixtures=[document()["fixtures"][0] | changes])


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (document(schema="sealed-oracle-v2"), "schema is not one of"),
        (document(extra=1), "unknown key 'extra'"),
        (a_property(body="x"), "unknown key"),
        ([], "not an object"),
        (a_fixture(id=""), "'' is empty"),
        (a_fixture(id="a\u202eb"), "unprintable"),
        (a_fixture(id=7), "not a string"),
        (document(fixtures=document()["fixtures"] * 2), "'f' is a duplicate id"),
        (document(properties=document()["properties"] * 2), "'p' is a duplicate id"),
        (a_fixture(path="../secret"), "'../secret', not a file"),
        (a_fixture(path="/etc/passwd"), "'/etc/passwd', not a file"),
        (a_fixture(path="fixtures//f"), "not a file"),
        (a_fixture(path=""), "not a file"),
        (a_fixture(path="a\0b"), "not a file"),
        (a_fixture(path="MANIFEST.json"), "not a file of its own"),
        (a_property(path="freeze.json"), "not a file of its own"),
        (a_fixture(sha256=DIGEST.upper()), "not 64 hex digits"),
        (a_property(sha256="a1"), "not 64 hex digits"),
        (document(freeze_sha256="x"), "freeze_sha256 is not 64 hex digits"),
        (a_property(fixtures=["f", "h"]), "'p' names the fixture 'h', which the manifest does not list"),
        (a_property(in_process="no"), "not true or false"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(value: Any, complaint: str) -> None:
    with pytest.raises(GateError) as caught:
        parse(value)
    assert complaint in str(caught.value)
    assert str(caught.value).startswith("sealed/MANIFEST.json")


def test_a_duplicate_id_names_its_line() -> None:
    with pytest.raises(GateError, match=r"sealed/MANIFEST.json:\d+: 'p' is a duplicate"):
        parse(document(properties=document()["properties"] * 2))


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "sealed-oracle-v1",
            [json.loads(MANIFEST), document()],
            [document(extra=1), a_fixture(sha256="x"), {}],
        ),
        ("freeze-ledger-v1", [json.loads(FREEZES)], [{}, {"schema": "freeze-ledger-v1", "entries": [{}]}]),
    ],
)
def test_the_schemas_say_the_same(name: str, good: list[Any], bad: list[Any]) -> None:
    validator = Draft202012Validator(json.loads((FOLDER / f"{name}.schema.json").read_bytes()))
    assert all(validator.is_valid(item) for item in good)
    assert not any(validator.is_valid(item) for item in bad)

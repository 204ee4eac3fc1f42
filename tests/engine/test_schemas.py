"""The schemas are what the readers' types say, and say what the readers do: the same documents pass both."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
from oracle_gate.core.corpus import parse_rows
from oracle_gate.core.decode import decode, decode_json
from oracle_gate.core.errors import GateError
from oracle_gate.core.freeze_ledger import parse_freezes
from oracle_gate.core.ledger import parse_quarantine
from oracle_gate.core.manifest import parse_manifest
from oracle_gate.core.packet import Packet
from oracle_gate.core.pins import parse_digests, parse_provenance
from oracle_gate.core.settings import Settings, _check, parse_settings
from oracle_gate.core.statements import parse_statement
from oracle_gate.workspace.report import parse_report
from support.engine import run_engine
from support.gate import Gate
from support.schema_documents import BAD, GOOD, READER_ALONE, SHA, changed
from support.schema_files import FOLDER, schemas, text_of

Read = Callable[[Any], object]


def as_json(read: Callable[[bytes], object]) -> Read:
    return lambda document: read(json.dumps(document).encode())


def read_settings(document: Any) -> None:
    """gate.toml as the object that it is equal to; TOML has no null."""
    _check(decode(Settings, document, "settings"), "", "settings")


def read_statement(document: Any) -> None:
    """A statement's bytes are canonical."""
    parse_statement(json.dumps(document, sort_keys=True, separators=(",", ":")).encode() + b"\n", "statement")


READERS: dict[str, Read] = {
    "corpus-row-v1": as_json(lambda data: list(parse_rows(data))),
    "digests-v1": as_json(parse_digests),
    "provenance-v1": as_json(parse_provenance),
    "gate-settings-v1": read_settings,
    "sealed-oracle-v1": as_json(parse_manifest),
    "freeze-ledger-v1": as_json(parse_freezes),
    "quarantine-v1": as_json(parse_quarantine),
    "oracle-approval-v1": read_statement,
    "workspace-audit-v1": as_json(lambda data: parse_report(data, "report")),
    "merge-packet-v1": as_json(lambda data: decode_json(Packet, data, "packet")),
}


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((FOLDER / f"{name}.schema.json").read_bytes()))


def is_read(name: str, document: Any) -> bool:
    try:
        READERS[name](document)
    except GateError:
        return False
    return True


def cases(table: dict[str, list[Any]]) -> Iterator[tuple[str, Any]]:
    return ((name, document) for name, documents in table.items() for document in documents)


def test_the_files_are_what_the_types_say() -> None:
    """After a change of a reader: python -m support.schema_files"""
    written = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert written == {name: text_of(document) for name, document in schemas().items()}
    for text in written.values():
        jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_every_reader_has_a_schema() -> None:
    assert {f"{name}.schema.json" for name in [*READERS, "merge-packet-public-v1"]} == set(schemas())
    assert set(READERS) - {"merge-packet-v1"} == set(GOOD) == set(BAD)


def test_good_documents_pass_both() -> None:
    for name, document in cases(GOOD):
        assert is_read(name, document), (name, document)
        validator(name).validate(document)


def test_bad_documents_pass_neither() -> None:
    for name, document in cases(BAD):
        assert not is_read(name, document), (name, document)
        assert not validator(name).is_valid(document), (name, document)


def test_the_readers_know_more() -> None:
    for name, document in cases(READER_ALONE):
        assert validator(name).is_valid(document), (name, document)
        assert not is_read(name, document), (name, document)


OTHERS: tuple[Any, ...] = (None, True, 0, -1, 1.5, "", "x", SHA, [], [""], {}, {"x": "y"})


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every place in a document, and what stands there."""
    yield path, document
    if isinstance(document, dict | list):
        for key in document if isinstance(document, dict) else range(len(document)):
            yield from places(document[key], (*path, key))


def spoilt(document: Any) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The document with one other value at one place, or a key too many there."""
    for place, value in places(document):
        surplus = [{**value, "surplus": 1}] if isinstance(value, dict) else []
        for other in (*OTHERS, *surplus):
            yield place, changed(document, *place, value=other) if place else other


def is_only_the_readers(name: str, place: tuple[Any, ...]) -> bool:
    """That a property's fixtures are listed in the manifest cannot be said in a schema."""
    return name == "sealed-oracle-v1" and "fixtures" in place


def test_one_other_value_anywhere_is_judged_alike() -> None:
    validators = {name: validator(name) for name in GOOD}
    for name, document in cases(GOOD):
        for place, other in spoilt(document):
            read, valid = is_read(name, other), validators[name].is_valid(other)
            assert read == valid or (valid and is_only_the_readers(name, place)), (name, place, other)


def test_what_the_gate_writes_is_valid(quick: Gate) -> None:
    quick.edit("src/prog.sh", "tr a-z A-Z ;;", "cat ;;")
    assert run_engine(quick.root, "judge").code == 1
    packet = quick.packet()
    validator("merge-packet-v1").validate(packet)
    public = json.loads((quick.root / ".gate/packet.public.json").read_bytes())
    validator("merge-packet-public-v1").validate(public)
    for name in ("digests", "provenance"):
        validator(f"{name}-v1").validate(json.loads((quick.root / f"oracle/{name}.json").read_bytes()))
    wrong: list[tuple[tuple[str | int, ...], object]] = [
        (("verdict",), "good"), (("replay", 0, "status"), "fine"), (("merge_ok",), 1), (("extra",), 1),
    ]  # fmt: skip
    for where, value in wrong:
        spoilt = changed(packet, *where, value=value)
        assert not validator("merge-packet-v1").is_valid(spoilt), where
        assert not is_read("merge-packet-v1", spoilt), where
    assert not validator("merge-packet-public-v1").is_valid({**public, "rule": "replay.drift"})


def test_the_scaffolds_own_files_are_valid(project: Any) -> None:
    settings_file = project / "oracle/gate.toml"
    validator("gate-settings-v1").validate(tomllib.loads(settings_file.read_text()))
    parse_settings(settings_file.read_bytes())
    for line in (project / "corpus/inputs.jsonl").read_text().splitlines():
        validator("corpus-row-v1").validate(json.loads(line))
    for name, file in (
        ("sealed-oracle-v1", "sealed/MANIFEST.json"), ("freeze-ledger-v1", "sealed/freeze.json"),
        ("digests-v1", "oracle/digests.json"), ("provenance-v1", "oracle/provenance.json"),
        ("quarantine-v1", "oracle/quarantine.json"),
    ):  # fmt: skip
        validator(name).validate(json.loads((project / file).read_bytes()))

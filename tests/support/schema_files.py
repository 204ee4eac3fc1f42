"""Writes tools/oracle_gate/schemas/*.json from the readers' dataclasses: `python -m support.schema_files`.

The readers are the truth; the schemas are for editors and other languages. A test compares both.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from oracle_gate.core import corpus, freeze_ledger, manifest, packet, pins, settings

from support.baking import SCAFFOLD

FOLDER = SCAFFOLD / "tools/oracle_gate/schemas"
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}
_SHA256 = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def schema_of(hint: Any) -> dict[str, Any]:
    """The JSON Schema of a type that core/decode.py reads."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is types.UnionType:
        return {"anyOf": [schema_of(arguments[0]), {"type": "null"}]}
    if origin is tuple:
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    return _record(hint)


def _record(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    fields = [field for field in dataclasses.fields(cls) if not field.metadata.get("internal")]
    missing = dataclasses.MISSING
    required = [
        field.metadata.get("key", field.name)
        for field in fields
        if field.default is missing and field.default_factory is missing
    ]
    properties = {field.metadata.get("key", field.name): schema_of(hints[field.name]) for field in fields}
    document: dict[str, Any] = {
        "type": "object", "additionalProperties": False, "properties": properties, "required": required
    }  # fmt: skip
    summary = (cls.__doc__ or "").strip().split("\n")[0]
    return {"description": summary, **document} if summary else document


def _row() -> dict[str, Any]:
    """A row, with what corpus.py checks beyond the types."""
    row = _record(corpus.Row)
    inside = {"type": "string", "pattern": r"^corpus/[^\u0000]+$"}
    properties = row["properties"]
    properties["id"] |= {"minLength": 1}
    properties["argv"] |= {"minItems": 1}
    properties["timeout_s"]["anyOf"][0] |= {"exclusiveMinimum": 0, "maximum": 3600}
    for name in ("file", "stdin_file"):
        properties[name]["anyOf"][0] |= inside
    properties["files"]["anyOf"][0]["additionalProperties"] = inside
    return row | {"oneOf": [{"required": ["argv"]}, {"required": ["file"]}]}


def _manifest() -> dict[str, Any]:
    """The manifest; a digest is empty until `seal` fills it."""
    document = _record(manifest.Manifest)
    unsealed = {"type": "string", "pattern": "^([0-9a-f]{64})?$"}
    document["properties"]["freeze_sha256"] = unsealed
    for name in ("properties", "fixtures"):
        item = document["properties"][name]["items"]["properties"]
        item["sha256"] = unsealed
        item["id"] |= {"minLength": 1}
    return document


def schemas() -> dict[str, dict[str, Any]]:
    """File name -> document."""
    armed = schema_of(pins.Provenance)
    documents = {
        "corpus-row-v1": ("one line of corpus/inputs.jsonl", _row()),
        "digests-v1": ("oracle/digests.json", {"type": "object", "additionalProperties": _SHA256}),
        "provenance-v1": (
            "oracle/provenance.json",
            {"anyOf": [{"type": "object", "maxProperties": 0}, armed]},
        ),
        "gate-settings-v1": ("oracle/gate.toml, as the JSON it is equal to", schema_of(settings.Settings)),
        "sealed-oracle-v1": ("sealed/MANIFEST.json", _manifest()),
        "freeze-ledger-v1": ("sealed/freeze.json", schema_of(freeze_ledger.Ledger)),
        "merge-packet-v1": ("the packet, .gate/merge_packet.json", schema_of(packet.Packet)),
    }
    return {
        f"{name}.schema.json": {
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"{name}: {title}", **document
        }
        for name, (title, document) in documents.items()
    }  # fmt: skip


def text_of(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, document in schemas().items():
        (FOLDER / name).write_text(text_of(document), encoding="utf-8")

"""Writes tools/oracle_gate/schemas/*.json from the readers' dataclasses: `python -m support.schema_files`.

The readers are the truth; the schemas are for editors and other languages. A test compares both.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from oracle_gate.core import corpus, freeze_ledger, ledger, manifest, packet, pins, settings, statements
from oracle_gate.workspace import report

from support.baking import SCAFFOLD

FOLDER = SCAFFOLD / "tools/oracle_gate/schemas"
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


def _text(pattern: str) -> dict[str, Any]:
    """A string; `$` is its very end, which in Python it is not."""
    return {"type": "string", "pattern": pattern.replace("$", r"(?![\s\S])")}


_SHA256 = _text("^[0-9a-f]{64}$")


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


#: Patterns of what readers check beyond the types; `is_inside`: no component is empty, `.` or `..`.
_INSIDE = r"(?!([\s\S]*/)?\.{0,2}(/|$))[^\u0000]+$"
_REPOSITORY_PATH = r"^(?!/)(?!([\s\S]*/)?\.\.(/|$))(?![\s\S]*//)[^\u0000]+$"
_PRINTABLE = r"[^\u0000-\u001f\u007f-\u00a0\u2028\u2029\ud800-\udfff]"
_ARGUMENT = r"^[^\u0000\ud800-\udfff]*$"
_DATA_FILE = r"^(?!corpus/inputs\.jsonl$)corpus/" + _INSIDE
_CASE_FILE = r"^(?!([\s\S]*/)?\.git(/|$))" + _INSIDE
_SEALED_FILE = r"^(?!(MANIFEST|freeze)\.json$)" + _INSIDE
_SECONDS = {"exclusiveMinimum": 0, "maximum": 3600}


def _digests() -> dict[str, Any]:
    return {"type": "object", "additionalProperties": _SHA256, "propertyNames": _text(f"^{_PRINTABLE}*$")}


def _row() -> dict[str, Any]:
    """A row: one kind of three, and `files` with argv alone."""
    row = _record(corpus.Row)
    properties = row["properties"]
    properties["id"] = _text(f"^{_PRINTABLE}+$")
    properties["argv"] |= {"items": _text(_ARGUMENT), "prefixItems": [{**_text(_ARGUMENT), "minLength": 1}]}
    properties["env"] |= {
        "additionalProperties": _text(_ARGUMENT),
        "propertyNames": _text(r"^[^=\u0000\ud800-\udfff]+$"),
    }
    properties["timeout_s"]["anyOf"][0] |= _SECONDS
    for name in ("file", "stdin_file"):
        properties[name]["anyOf"][0] |= _text(_DATA_FILE)
    properties["files"]["anyOf"][0] |= {
        "additionalProperties": _text(_DATA_FILE), "propertyNames": _text(_CASE_FILE),
    }  # fmt: skip
    properties["request"]["anyOf"][0]["properties"] |= {"method": _text("^[A-Za-z]+$"), "path": _text("^/")}
    nothing: dict[str, Any] = {"type": "null"}
    no_argv: dict[str, Any] = {"argv": {"maxItems": 0}, "files": nothing}
    kinds: list[dict[str, Any]] = [
        {"argv": {"type": "array", "minItems": 1}, "file": nothing, "request": nothing},
        {"file": {"type": "string"}, "request": nothing, **no_argv},
        {"request": {"type": "object"}, "file": nothing, **no_argv},
    ]
    both = {name: {"type": "string"} for name in ("stdin", "stdin_file")}
    return row | {
        "oneOf": [{"required": list(kind)[:1], "properties": kind} for kind in kinds],
        "not": {"required": list(both), "properties": both},
    }


def _settings() -> dict[str, Any]:
    """Settings with their ranges."""
    document = _record(settings.Settings)
    tables = {name: table["properties"] for name, table in document["properties"].items()}
    for table, name in (("subject", "setup_timeout_s"), ("replay", "timeout_s"), ("service", "ready_timeout_s"),
                        ("public", "timeout_s"), ("sealed", "timeout_s")):  # fmt: skip
        tables[table][name] |= _SECONDS
    tables["sealed"]["shrink_s"] |= {"minimum": 0, "maximum": 3600}
    tables["replay"]["workers"] |= {"minimum": 0, "maximum": 64}
    for size in (tables["replay"]["output_bytes"], *tables["limits"].values()):
        size |= {"minimum": 1, "maximum": 1 << 40}
    for table, name in (("view", "hidden"), ("subject", "path"), ("public", "paths")):
        tables[table][name]["items"] = _text(_REPOSITORY_PATH)
    tables["view"]["hidden"] |= {"minItems": 1}
    return document


def _manifest() -> dict[str, Any]:
    """The manifest; a digest is empty until `seal` fills it."""
    document = _record(manifest.Manifest)
    unsealed = _text("^([0-9a-f]{64})?$")
    document["properties"]["freeze_sha256"] = unsealed
    for name in ("properties", "fixtures"):
        item = document["properties"][name]["items"]["properties"]
        item |= {"sha256": unsealed, "id": _text(f"^{_PRINTABLE}+$"), "path": _text(_SEALED_FILE)}
    # Which fixtures there are, only the reader knows; that a name is not empty, the schema says too.
    named = document["properties"]["properties"]["items"]["properties"]["fixtures"]
    named["anyOf"][0]["items"] = _text(f"^{_PRINTABLE}+$")
    return document


def _freezes() -> dict[str, Any]:
    """The freeze ledger; an expiry is a UTC moment or empty."""
    document = _record(freeze_ledger.Ledger)
    item = document["properties"]["entries"]["items"]["properties"]
    item["test_id"] = _text(rf"^(?=.*\S){_PRINTABLE}+$")
    item["expires_utc"] = _text(r"^([0-9]{4}(-[0-9]{2}){2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?Z)?$")
    return document


def _quarantine() -> dict[str, Any]:
    """The quarantine; an entry may lack what the policy then asks for."""
    entry = _record(ledger.Entry)
    entry["properties"]["expires"]["anyOf"][0] = _text(r"^\s*([0-9]{4}-[0-9]{2}-[0-9]{2})?\s*$")
    node = _text(rf"^(?!\s)(?![\s\S]*\s$){_PRINTABLE}+$")
    return {"type": "object", "additionalProperties": entry, "propertyNames": node}


def _statement() -> dict[str, Any]:
    """A statement by a human, as it is signed; which fields a kind has."""
    document = _record(statements.Statement)
    document["required"] = list(document["properties"])  # its bytes are canonical: nothing is left out
    document["properties"]["note"] = _text(r"\S")
    document["properties"]["ids"]["additionalProperties"]["properties"] = {"old": _SHA256, "new": _SHA256}
    absent = {
        "change_id": {"const": ""}, "parent": {"const": ""}, "ids": {"maxProperties": 0},
        "paths": {"maxItems": 0}, "rules": {"maxItems": 0},
    }  # fmt: skip
    present = {
        "change_id": {"minLength": 1}, "parent": {"minLength": 1}, "ids": {"minProperties": 1},
        "paths": {"minItems": 1}, "rules": {"minItems": 1},
    }  # fmt: skip
    kinds = {"drift": ("change_id", "ids"), "protected-change": ("change_id", "paths"),
             "repin": ("parent", "ids"), "accept": ("change_id", "rules")}  # fmt: skip
    return document | {
        "oneOf": [
            {"properties": absent | {name: present[name] for name in names} | {"kind": {"const": kind}}}
            for kind, names in kinds.items()
        ]
    }


def _public_packet() -> dict[str, Any]:
    """All that may go back to a generator."""
    properties = {
        "schema": {"const": "merge-packet-public-v1"},
        "verdict": schema_of(packet.Outcome),
        "unverified": {"type": "boolean"},
    }
    return {"type": "object", "additionalProperties": False, "properties": properties,
            "required": list(properties)}  # fmt: skip


def _audit() -> dict[str, Any]:
    """The report of an audit; a workspace without git has no last commit."""
    document = _record(report.Audit)
    for name in ("base", "snapshot", "head", "tree"):
        empty = "|" if name in ("head", "tree") else ""
        document["properties"][name] = _text(f"^([0-9a-f]{{40}}|[0-9a-f]{{64}}{empty})$")
    document["properties"]["hidden_sha256"] = _SHA256
    return document


def schemas() -> dict[str, dict[str, Any]]:
    """File name -> document."""
    armed = schema_of(pins.Provenance)
    documents = {
        "corpus-row-v1": ("one line of corpus/inputs.jsonl", _row()),
        "digests-v1": ("oracle/digests.json", _digests()),
        "provenance-v1": (
            "oracle/provenance.json",
            {"anyOf": [{"type": "object", "maxProperties": 0}, armed]},
        ),
        "gate-settings-v1": ("oracle/gate.toml, as the JSON it is equal to", _settings()),
        "sealed-oracle-v1": ("sealed/MANIFEST.json", _manifest()),
        "freeze-ledger-v1": ("sealed/freeze.json", _freezes()),
        "quarantine-v1": ("oracle/quarantine.json", _quarantine()),
        "oracle-approval-v1": ("oracle/approvals/*.json, canonical JSON on one line", _statement()),
        "workspace-audit-v1": ("the report of `audit`, for `judge --workspace-audit`", _audit()),
        "merge-packet-v1": ("the packet, .gate/merge_packet.json", schema_of(packet.Packet)),
        "merge-packet-public-v1": ("packet.public.json, beside the packet", _public_packet()),
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

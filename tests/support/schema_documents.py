"""Documents of every kind that the gate reads: good ones, bad ones, and bad ones that only a reader can tell."""

from __future__ import annotations

import copy
from typing import Any

from oracle_gate.core.decode import encode
from oracle_gate.core.settings import Settings
from oracle_gate.core.statements import Statement

SHA = "0123456789abcdef" * 4


def changed(document: Any, *path: Any, value: Any) -> Any:
    """A copy with the value at `path` replaced, or added."""
    result = copy.deepcopy(document)
    place = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return result


def without(document: Any, *path: Any) -> Any:
    result = copy.deepcopy(document)
    place = result
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    return result


_STATEMENT = encode(Statement("accept", "why", change_id=SHA, rules=("public.failed",)))
_PROVENANCE = {
    "canonical": "canonical-v1", "base": SHA[:40], "corpus_sha256": SHA, "noise_sha256": SHA, "settings_sha256": SHA,
    "platform": "linux-x86_64", "python": "3.11", "reviewer": "A <a@b>",
}  # fmt: skip
_MANIFEST: dict[str, Any] = {
    "schema": "sealed-oracle-v1",
    "properties": [
        {"id": "p", "path": "properties/p.py", "sha256": "", "fixtures": ["f"], "in_process": True}
    ],
    "fixtures": [{"id": "f", "path": "fixtures/f.bin", "sha256": SHA}],
    "parent_sha_at_lock": "",
    "freeze_sha256": SHA,
}
_FREEZE = {
    "test_id": "tests.test_a", "reason": "r", "owner": "o", "expires_utc": "2026-09-28T00:00:00Z",
    "parent_sha": SHA[:40], "max_runs_seen_flaky": 3,
}  # fmt: skip
_AUDIT: dict[str, Any] = {
    "schema": "workspace-audit-v1", "base": SHA[:40], "snapshot": SHA[:40], "head": SHA[:40], "tree": SHA[:40],
    "hidden_sha256": SHA, "findings": [{"kind": "hidden copy", "where": "src/x", "detail": "sealed/x"}],
    "counts": {"files": 3, "hidden": 9, "objects": 0},
}  # fmt: skip
_LEDGER = {"schema": "freeze-ledger-v1", "entries": [_FREEZE]}
_ROW = {"id": "r", "argv": ["x", ""]}
_FILE = "corpus/data/x"
GOOD: dict[str, list[Any]] = {
    "corpus-row-v1": [
        _ROW,
        {
            "id": "caf\u00e9 \u2713",
            "argv": ["x"],
            "stdin": "\ud800",
            "env": {"A": "", "b c": "="},
            "timeout_s": 3600,
            "format": "bytes",
            "tags": ["a"],
            "files": {"a/.b": _FILE, "...": "corpus/..x"},
            "request": None,
        },
        {"id": "f", "file": _FILE, "argv": [], "files": None, "stdin": None, "stdin_file": _FILE},
        {"id": "q", "request": {"method": "POST", "path": "/", "headers": {"A": "b"}, "body": None}},
        {"id": "q", "request": {}, "timeout_s": 0.001},
    ],
    "digests-v1": [{}, {"a": SHA, "b \u00e9": SHA}, {"": SHA}],
    "provenance-v1": [{}, _PROVENANCE, {**_PROVENANCE, "noise_lines": {"a": 1}, "envelope_sensitive": ["a"]}],
    "gate-settings-v1": [
        {},
        encode(Settings()),
        {"replay": {"timeout_s": 1, "workers": 64}},
        {"subject": {"path": [".", "a/"], "setup": [["a"]]}},
        {"limits": {"patch_bytes": 1, "files": 1, "literal_bytes": 1 << 40}},
        {"sealed": {"shrink_s": 0}},
        {"sandbox": {"require": "isolated"}, "lanes": {"required": []}, "view": {"hidden": ["x"]}},
    ],
    "sealed-oracle-v1": [
        _MANIFEST,
        {"schema": "sealed-oracle-v1", "properties": [], "fixtures": []},
        {**_MANIFEST, "properties": [{"id": "p", "path": "p"}, {"id": "q", "path": "p", "fixtures": None}]},
    ],
    "freeze-ledger-v1": [
        _LEDGER,
        {"schema": "freeze-ledger-v1"},
        {**_LEDGER, "entries": [{"test_id": "a::b"}]},
        {**_LEDGER, "entries": [{**_FREEZE, "expires_utc": ""}]},
        {**_LEDGER, "entries": [{**_FREEZE, "expires_utc": "2026-09-28T00:00:00.25Z"}]},
    ],
    "quarantine-v1": [
        {},
        {"a": {}},
        {"t/a.py::a[ x ]": {"reason": "r", "expires": "2026-01-31"}},
        {"a": {"reason": None, "expires": None}},
        {"a": {"reason": "", "expires": " "}},
    ],
    "oracle-approval-v1": [
        _STATEMENT,
        encode(Statement("protected-change", "why", change_id=SHA, paths=("oracle/noise.txt",))),
        {**encode(Statement("repin", "why", parent=SHA[:40])), "ids": {"a": {"old": SHA, "new": SHA}}},
        {**encode(Statement("drift", "why", change_id=SHA)), "ids": {"a": {"old": SHA, "new": SHA}}},
    ],
    "workspace-audit-v1": [
        _AUDIT,
        {**_AUDIT, "head": "", "tree": "", "findings": [], "counts": {}},
        {**_AUDIT, "base": SHA, "findings": [{"kind": "link", "where": "src/\n"}]},
    ],
}


NOTHING: list[Any] = [None, [], "x", 1, True]
_NO_FILES: list[Any] = [
    "", "corpus/", "corpus", "corpus//x", "corpus/./x", "corpus/../x", "corpus/x/..", "corpus/x/", "x", "/corpus/x",
    "corpus/inputs.jsonl", "corpus/\0", None,
]  # fmt: skip
_NO_REQUESTS: list[Any] = [{"path": "x"}, {"method": ""}, {"method": "G T"}, {"extra": 1}, [], "x"]
_NO_ARGUMENTS: list[Any] = [[], [""], ["a\0"], ["\ud800"], "x", [1], None, {}]
_NO_ENVIRONMENTS: list[Any] = [{"": ""}, {"A=B": ""}, {"A": "\0"}, {"\0": ""}, {"A": 1}, []]
BAD: dict[str, list[Any]] = {
    "corpus-row-v1": [
        *NOTHING,
        {},
        {"id": "r"},
        {"argv": ["x"]},
        *(changed(_ROW, "id", value=v) for v in ("", "a\nb", "\x7f", 1, None)),
        *(changed(_ROW, "argv", value=v) for v in _NO_ARGUMENTS),
        *(changed(_ROW, "timeout_s", value=v) for v in (0, -1, 3601, "1", True)),
        *(changed(_ROW, "format", value=v) for v in ("yaml", None, 1)),
        changed(_ROW, "extra", value=1),
        changed(_ROW, "line", value=1),
        changed(_ROW, "file", value=_FILE),
        changed(_ROW, "request", value={}),
        *({"id": "r", "file": v} for v in _NO_FILES),
        *(changed(_ROW, "stdin_file", value=v) for v in _NO_FILES[:-1]),
        *(changed(_ROW, "files", value={"a": v}) for v in _NO_FILES),
        *(
            changed(_ROW, "files", value={v: _FILE})
            for v in ("", "/a", "a/", "a//b", "..", "a/../b", ".git", "a/.git/x")
        ),
        {"id": "r", "file": _FILE, "files": {}},
        {"id": "r", "request": {}, "files": {}},
        {**_ROW, "stdin": "", "stdin_file": _FILE},
        *(changed(_ROW, "env", value=v) for v in _NO_ENVIRONMENTS),
        *({"id": "r", "request": v} for v in _NO_REQUESTS),
    ],
    "digests-v1": [
        *NOTHING,
        {"a": SHA[1:]},
        {"a": SHA + "0"},
        {"a": SHA.upper()},
        {"a": SHA[:-1] + "\n"},
        {"a": None},
        {"a": {}},
        {"\n": SHA},
    ],
    "provenance-v1": [
        *NOTHING,
        {"extra": 1},
        without(_PROVENANCE, "base"),
        changed(_PROVENANCE, "base", value=1),
        changed(_PROVENANCE, "noise_lines", value={"a": "1"}),
        changed(_PROVENANCE, "envelope_sensitive", value="a"),
    ],
    "gate-settings-v1": [
        [],
        {"extra": {}},
        {"base": 1},
        {"base": {"ref": 1}},
        {"base": {"extra": ""}},
        {"view": {"hidden": []}},
        *({"view": {"hidden": [v]}} for v in ("", "/a", "a//b", "../a", "a/..", "a\0", 1)),
        *({"replay": {"timeout_s": v}} for v in (0, -1, 3601, "1", True)),
        {"replay": {"workers": -1}},
        {"replay": {"workers": 65}},
        {"replay": {"workers": 1.5}},
        {"replay": {"output_bytes": 0}},
        {"limits": {"files": 0}},
        {"limits": {"files": (1 << 40) + 1}},
        {"sealed": {"shrink_s": -1}},
        *(
            {table: {name: 0}}
            for table, name in (
                ("subject", "setup_timeout_s"),
                ("service", "ready_timeout_s"),
                ("public", "timeout_s"),
                ("sealed", "timeout_s"),
            )
        ),
        {"sandbox": {"require": "none"}},
        {"lanes": {"required": ["nothing"]}},
        {"subject": {"setup": ["a"]}},
    ],
    "sealed-oracle-v1": [
        *NOTHING,
        {},
        without(_MANIFEST, "schema"),
        without(_MANIFEST, "fixtures"),
        changed(_MANIFEST, "schema", value="v2"),
        changed(_MANIFEST, "extra", value=1),
        changed(_MANIFEST, "freeze_sha256", value="x"),
        *(
            changed(_MANIFEST, "fixtures", 0, "path", value=v)
            for v in ("", "..", "../x", "/x", "x/", "MANIFEST.json", "freeze.json", "a/./b", 1)
        ),
        *(changed(_MANIFEST, "fixtures", 0, "sha256", value=v) for v in ("x", SHA[1:], None)),
        changed(_MANIFEST, "properties", 0, "id", value=""),
        changed(_MANIFEST, "properties", 0, "in_process", value=1),
        without(_MANIFEST, "fixtures", 0, "id"),
        without(_MANIFEST, "properties", 0, "path"),
    ],
    "freeze-ledger-v1": [
        *NOTHING,
        {},
        {"entries": []},
        changed(_LEDGER, "schema", value="x"),
        changed(_LEDGER, "entries", value={}),
        without(_LEDGER, "entries", 0, "test_id"),
        *(changed(_LEDGER, "entries", 0, "test_id", value=v) for v in ("", " ", "a\n", 1)),
        *(
            changed(_LEDGER, "entries", 0, "expires_utc", value=v)
            for v in ("2026-09-28", "2026-09-28T00:00:00", "2026-09-28T00:00:00+02:00", "x", None)
        ),
        changed(_LEDGER, "entries", 0, "max_runs_seen_flaky", value="3"),
        changed(_LEDGER, "entries", 0, "extra", value=1),
    ],
    "quarantine-v1": [
        *NOTHING,
        {"a": None},
        {"a": {"extra": 1}},
        {"a": {"reason": 1}},
        {"": {}},
        {" a": {}},
        {"a ": {}},
        {"a\nb": {}},
        *(
            {"a": {"expires": v}}
            for v in ("tomorrow", "2026-1-31", "31.01.2026", "2026-01-31T00:00:00Z", 20260131)
        ),
    ],
    "oracle-approval-v1": [
        *NOTHING,
        {},
        *(without(_STATEMENT, name) for name in _STATEMENT),
        changed(_STATEMENT, "extra", value=1),
        changed(_STATEMENT, "kind", value="drift"),
        changed(_STATEMENT, "kind", value="x"),
        *(changed(_STATEMENT, "note", value=v) for v in ("", " \n", None)),
        changed(_STATEMENT, "change_id", value=""),
        changed(_STATEMENT, "parent", value="x"),
        changed(_STATEMENT, "paths", value=["x"]),
        changed(_STATEMENT, "rules", value=[]),
        changed(GOOD["oracle-approval-v1"][3], "ids", "a", "old", value="x"),
        changed(_STATEMENT, "schema", value="v2"),
    ],
    "workspace-audit-v1": [
        *NOTHING,
        {},
        *(without(_AUDIT, name) for name in _AUDIT),
        *(
            changed(_AUDIT, name, value=v)
            for name in ("base", "snapshot", "head", "tree", "hidden_sha256")
            for v in (SHA[:39], SHA.upper(), SHA[:40] + "\n", None)
        ),
        changed(_AUDIT, "base", value=""),
        changed(_AUDIT, "hidden_sha256", value=SHA[:40]),
        changed(_AUDIT, "schema", value="workspace-audit-v2"),
        changed(_AUDIT, "extra", value=1),
        changed(_AUDIT, "findings", value={}),
        without(_AUDIT, "findings", 0, "kind"),
        changed(_AUDIT, "findings", 0, "extra", value=""),
        changed(_AUDIT, "counts", "files", value="3"),
    ],
}
#: What no schema can say; the readers refuse it all the same.
READER_ALONE: dict[str, list[Any]] = {
    "corpus-row-v1": [{"id": "a\u2003b", "argv": ["x"]}],
    "provenance-v1": [{**_PROVENANCE, "noise_lines": {"a": 1.0}}],
    "gate-settings-v1": [{"view": {"hidden": ["."]}}, {"replay": {"workers": 1.0}}],
    "sealed-oracle-v1": [
        changed(_MANIFEST, "fixtures", value=_MANIFEST["fixtures"] * 2),
        changed(_MANIFEST, "properties", 0, "fixtures", value=["unknown"]),
    ],
    "freeze-ledger-v1": [
        {**_LEDGER, "entries": [_FREEZE, _FREEZE]},
        changed(_LEDGER, "entries", 0, "expires_utc", value="2026-02-30T00:00:00Z"),
    ],
    "quarantine-v1": [{"a": {"expires": "2026-02-30"}}],
}

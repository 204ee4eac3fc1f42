"""A sealed folder of a test's own, outside the repository, with every digest filled."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def seal_folder(
    folder: Path,
    properties: Mapping[str, str],
    fixtures: Mapping[str, bytes],
    freezes: tuple[dict[str, Any], ...] = (),
    *,
    in_process: tuple[str, ...] = (),
) -> Path:
    """Writes properties and fixtures by id, and a manifest as `seal` would; returns the folder."""
    ledger = json.dumps({"schema": "freeze-ledger-v1", "entries": freezes}).encode()
    files = {f"properties/{id}.py": source.encode() for id, source in properties.items()}
    files |= {f"fixtures/{id}.bin": data for id, data in fixtures.items()}
    manifest = {
        "schema": "sealed-oracle-v1",
        "parent_sha_at_lock": "",
        "properties": [
            {"id": id, "path": f"properties/{id}.py", "sha256": digest(source.encode()),
             "fixtures": None, "in_process": id in in_process}
            for id, source in properties.items()
        ],
        "fixtures": [
            {"id": id, "path": f"fixtures/{id}.bin", "sha256": digest(data)} for id, data in fixtures.items()
        ],
        "freeze_sha256": digest(ledger),
    }  # fmt: skip
    files |= {"MANIFEST.json": json.dumps(manifest, indent=2).encode(), "freeze.json": ledger}
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def fmt_property(claim: str) -> str:
    """A property about `done`, the formatter's run on the fixture."""
    return (
        "import json\n\nFMT = ['python', '-m', 'replay_demo.fmt', '-']\n\n\n"
        f"def holds(fixture_bytes, run):\n    done = run(FMT, input=fixture_bytes)\n    return {claim}\n"
    )

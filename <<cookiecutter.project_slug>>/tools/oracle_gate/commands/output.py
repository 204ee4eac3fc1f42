"""Writes what a judgement leaves behind, below .gate/ (design, section 11)."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..core.decode import encode, to_json
from ..core.errors import GateError
from ..core.history import Past
from ..core.packet import Packet
from ..render import html, junit, markdown

PACKET = "merge_packet.json"
PUBLIC = "packet.public.json"
#: What a human reads, beside the packet, by format; only report.md may be shown to a generator.
REPORTS = {"html": "report.html", "junit": "junit.xml", "md": "report.md"}
_BESIDE = (PUBLIC, "run_meta.json", *REPORTS.values())


def rendered(packet: Packet, format: str, history: Sequence[Past]) -> bytes:
    """A report of the packet."""
    if format == "html":
        text = html.render(packet, history)
    else:
        text = junit.render(packet) if format == "junit" else markdown.render(packet)
    return text.encode(errors="backslashreplace")


def refuse_links(path: Path) -> None:
    """Raises GateError when a component of the path is a symbolic link: a patch could have planted it."""
    for part in (path, *path.parents):
        if part.is_symlink():
            raise GateError("is a symbolic link", where=str(part), todo="remove it, or name another --out")


def remove_old(path: Path) -> None:
    """Deletes an earlier packet and what lies beside it, before anything is judged."""
    refuse_links(path)
    refuse_links(path.parent / "results")
    for old in (path, *(path.with_name(name) for name in _BESIDE)):
        old.unlink(missing_ok=True)
    for name in ("fixtures", "properties", "freezes"):
        (path.parent / "results" / f"{name}.json").unlink(missing_ok=True)


def write_packet(path: Path, packet: Packet, meta: dict[str, Any], history: Sequence[Past]) -> None:
    """Writes the packet last, so that whoever finds it finds all of it."""
    folder = path.parent
    refuse_links(path)
    refuse_links(folder / "results")
    (folder / "results").mkdir(parents=True, exist_ok=True)
    for name in ("fixtures", "properties", "freezes"):
        write_whole(folder / "results" / f"{name}.json", to_json({name: getattr(packet, name)}))
    # All that may go back to a generator: no id, no count, no rule to climb by.
    public = {
        "schema": "merge-packet-public-v1",
        "verdict": packet.verdict,
        "unverified": not packet.workspace.verified,
    }
    write_whole(path.with_name(PUBLIC), to_json(public))
    for format, name in REPORTS.items():
        write_whole(path.with_name(name), rendered(packet, format, history))
    write_whole(path.with_name("run_meta.json"), json.dumps(meta, indent=2, sort_keys=True).encode() + b"\n")
    write_whole(path, to_json(encode(packet)))


def write_whole(path: Path, data: bytes) -> None:
    """Whole or not at all: written aside, then renamed."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise

"""`report PACKET`: a stored packet as text; `report --history`: what humans have let through."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..core.decode import decode_json
from ..core.errors import Exit
from ..core.history import Past, read_history
from ..core.packet import Packet
from ..render.visible import visible
from .context import Context
from .output import REPORTS, rendered


def add_arguments(parser: argparse.ArgumentParser) -> None:
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("packet", type=Path, nargs="?")
    what.add_argument(
        "--history", action="store_true", help="list the base's oracle/approvals/ instead, the newest first"
    )
    parser.add_argument(
        "--format",
        choices=sorted(REPORTS),
        default="md",
        help="md: may be shown to a generator; the others not",
    )


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Prints the report of the packet as it is stored, or one line for each statement."""
    if arguments.history:
        for past in _history(context, context.launch.base):
            print(f"{past.day or 'before':10} {past.name} {visible(past.text)}")
        return Exit.OK
    packet = decode_json(Packet, arguments.packet.read_bytes(), str(arguments.packet))
    # A packet of another repository, or from before a shallow clone, has a parent that is not here.
    parent = context.repository.resolve(packet.parent_sha)
    history = _history(context, parent) if parent else ()
    sys.stdout.buffer.write(rendered(packet, arguments.format, history))
    return Exit.OK


def _history(context: Context, commit: str) -> tuple[Past, ...]:
    return read_history(context.store, commit, context.store.entries(context.store.tree_of(commit)))

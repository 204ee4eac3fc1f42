"""`report PACKET`: a stored packet as text."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..core.decode import decode_json
from ..core.errors import Exit
from ..core.packet import Packet
from ..render import markdown
from .context import Context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("packet", type=Path)
    parser.add_argument("--format", choices=["md"], default="md", help="md: may be shown to a generator")


def run(context: Context, arguments: argparse.Namespace) -> Exit:  # noqa: ARG001
    """Prints the report of the packet as it is stored."""
    packet = decode_json(Packet, arguments.packet.read_bytes(), str(arguments.packet))
    print(markdown.render(packet), end="")
    return Exit.OK

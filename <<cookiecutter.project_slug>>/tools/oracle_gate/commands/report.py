"""`report PACKET`: a stored packet as text."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..core.decode import decode_json
from ..core.errors import Exit
from ..core.packet import Packet
from ..render import html, junit, markdown
from .context import Context

FORMATS = {"html": html.render, "junit": junit.render, "md": markdown.render}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("packet", type=Path)
    parser.add_argument(
        "--format",
        choices=sorted(FORMATS),
        default="md",
        help="md: may be shown to a generator; the others not",
    )


def run(context: Context, arguments: argparse.Namespace) -> Exit:  # noqa: ARG001
    """Prints the report of the packet as it is stored."""
    packet = decode_json(Packet, arguments.packet.read_bytes(), str(arguments.packet))
    sys.stdout.buffer.write(FORMATS[arguments.format](packet).encode(errors="backslashreplace"))
    return Exit.OK

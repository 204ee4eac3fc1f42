"""`verdict PACKET`: the policy applied again to the facts of a stored packet."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..core.decode import decode_json
from ..core.errors import Exit
from ..core.packet import Packet
from ..core.policy import exit_code, judge
from ..render.terminal import show
from .context import Context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("packet", type=Path)
    parser.add_argument("--verbose", action="store_true", help="name ids under CI as well")
    parser.add_argument("--quiet", action="store_true", help="print the verdict line alone")


def run(context: Context, arguments: argparse.Namespace) -> Exit:  # noqa: ARG001
    """Reads the packet strictly; its own verdict and reasons are not looked at."""
    packet = judge(decode_json(Packet, arguments.packet.read_bytes(), str(arguments.packet)))
    show(packet, verbose=arguments.verbose, quiet=arguments.quiet)
    return exit_code(packet)

"""`harness`: article B's replay harness, the sealed lanes alone, on a work tree, patch or head."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from ..core.errors import Exit
from ..core.policy import exit_code, verdict_line
from .context import Context
from .judge import add_case_arguments, judged
from .judging_sealed import sealed_lane

PACKET = "harness_packet.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_case_arguments(parser)


def run(context: Context, arguments: argparse.Namespace) -> Exit:
    """Prints `merge_ok` as article B does; exit 0 when it is true, else the verdict's code."""
    out = Path(arguments.out or context.own / PACKET).absolute()
    packet = judged(context, arguments, out, {"sealed": sealed_lane})
    print(json.dumps({"merge_ok": packet.merge_ok}, indent=2))
    print(f"gate: {verdict_line(packet)}", file=sys.stderr)
    return Exit.OK if packet.merge_ok else exit_code(packet)

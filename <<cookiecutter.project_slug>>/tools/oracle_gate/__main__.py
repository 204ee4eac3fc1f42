"""Entry point of the exported engine: `__main__.py LAUNCH COMMAND …`, called by tools/gate.py alone."""

import io
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from oracle_gate.commands.main import main

if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names may hold what the terminal's encoding lacks
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1], sys.argv[2:]))

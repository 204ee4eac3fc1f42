"""Article B's command line: `replay_harness.py`, or any options of `gate.py harness`."""

import sys

if not sys.flags.isolated:
    import os  # loaded by the interpreter itself, before this folder was importable

    gate = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gate.py")
    os.execv(sys.executable, [sys.executable, "-I", gate, "harness", *sys.argv[1:]])

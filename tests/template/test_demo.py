"""The demo as `make demo` runs it, without the user's HOME."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from support.baking import TEMPLATE


def test_every_verdict_of_the_demo_is_right() -> None:
    environment = {**os.environ, "HOME": "/nonexistent", "CI": "true"}
    done = subprocess.run(
        [sys.executable, str(TEMPLATE / "demo/run.py")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^honest refactor +eligible ", done.stdout, re.M)
    assert len(re.findall(r" block +\w+\.\w+ ", done.stdout)) >= 5

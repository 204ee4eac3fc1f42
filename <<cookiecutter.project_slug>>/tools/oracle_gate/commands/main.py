"""The command line: parses, opens the repository, runs one command, turns errors into one line."""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
import tempfile
from typing import NoReturn

from ..core.errors import Exit, GateError
from .context import OWN_FOLDER, Launch, opened, parse_launch
from .progress import progress

#: Command -> (module, one line of help). Modules are imported when they are needed: start-up is paid each time.
COMMANDS = {
    "env": ("env", "build the subject's environment from requirements/subject.txt"),
    "record": ("record", "pin the corpus for the first time, after a human's review"),
    "seal": ("seal", "fill the manifest of sealed/ after its null controls"),
    "replay": ("replay", "replay the corpus and compare, without a verdict"),
    "judge": ("judge", "judge a patch or the work tree: all lanes, a packet, a verdict"),
    "harness": ("harness", "the sealed lanes alone: a packet and its merge_ok"),
    "workspace": ("workspace", "create, verify or export a generator's workspace"),
    "audit": ("audit", "look for hidden bytes and names in a generator's workspace"),
    "approve": ("approve", "sign a human's statement about a packet"),
    "verdict": ("verdict", "judge a stored packet again"),
    "report": ("report", "render a stored packet"),
    "ci": ("ci", "one of the three jobs of a required check"),
    "explain": ("explain", "say what a rule means and what to do about it"),
    "doctor": ("doctor", "say what is active here and what is not"),
}
#: What also runs in a generator's workspace, whose base has no oracle.
WITHOUT_ORACLE = {"workspace", "verdict", "report", "explain"}


class _Parser(argparse.ArgumentParser):
    """An argument parser whose complaints look like every other error."""

    def error(self, message: str) -> NoReturn:
        raise GateError(message, todo=f"see `{self.prog} --help`")


def main(launch_text: str, words: list[str]) -> int:
    """Runs one command; returns its exit code (design, section 4)."""
    launch = parse_launch(launch_text)
    try:
        return _run(launch, words)
    except GateError as error:
        return _fail(str(error), error.exit_code)
    except OSError as error:
        where = error.filename or f"{tempfile.gettempdir()} or {OWN_FOLDER}"  # a full disk names no file
        return _fail(f"{where}: {error.strerror or error}; nothing was judged", Exit.USAGE)
    except KeyboardInterrupt:
        return _fail("interrupted; nothing was judged", Exit.USAGE)
    finally:
        shutil.rmtree(launch.fresh, ignore_errors=True)


def _fail(line: str, code: Exit) -> int:
    """Prints one line that cannot speak to a terminal: it may hold names of any bytes."""
    progress("")
    shown = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line)
    print(f"gate: {shown}", file=sys.stderr)
    return int(code)


def _run(launch: Launch, words: list[str]) -> int:
    parser = _Parser(
        prog="gate.py", description="Judges changes with evidence their author could not read or write."
    )
    common = _Parser(add_help=False)
    common.add_argument(
        "--repo", metavar="DIR", help="the judged repository (default: the one this file lies in)"
    )
    common.add_argument("--base", metavar="REF", help="the commit to judge against (default: the merge base)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    modules = {}
    for name, (module, text) in COMMANDS.items():
        chosen = name in words[:1]
        sub = commands.add_parser(name, help=text, description=text, parents=[common], allow_abbrev=False)
        if chosen:
            modules[name] = importlib.import_module(f"..{module}", __name__)
            modules[name].add_arguments(sub)
    arguments = parser.parse_args(words)
    with opened(launch) as context:
        if arguments.command not in WITHOUT_ORACLE:
            context.require_oracle()
        return int(modules[arguments.command].run(context, arguments))

"""Thin fronts: a session runs `python3 tools/gate.py COMMAND`, and `-- ARGS` go to that command.

The gate needs no virtual environment of its own; only lock, tests and lint build one.
nox turns every failure into exit code 1: the verdict is in .gate/merge_packet.json.
"""

from pathlib import Path

import nox

nox.options.sessions = ["tests", "lint"]
nox.options.error_on_missing_interpreters = True

PACKET = Path(".gate/merge_packet.json")
COMMANDS = {
    "env": "Build the subject's environment from requirements/subject.txt.",
    "seal": "Fill the manifest of sealed/ and run its null controls.",
    "record": "Pin the digests of a reviewed corpus.",
    "replay": "Replay the corpus and compare, without a verdict.",
    "harness": "Run the sealed lanes alone.",
    "relations": "Run the metamorphic relations alone.",
    "workspace": "Create, verify or export a generator's workspace.",
    "audit": "Check a generator's workspace for hidden objects.",
    "approve": "Sign a human statement about a packet.",
    "verdict": "Judge a stored packet again.",
    "report": "Render a stored packet.",
    "explain": "Explain a rule of the policy.",
    "doctor": "Show what is active on this machine.",
}


def gate(session: nox.Session, command: str) -> None:
    """Run a command of the gate; its failure fails the session."""
    session.run("python3", "tools/gate.py", command, *session.posargs, external=True)


def judge(session: nox.Session) -> None:
    """Judge a change: --patch FILE, --head REF, or the work tree. The verdict is in the packet."""
    if any(argument.split("=")[0] == "--out" for argument in session.posargs):
        session.error("--out: call python3 tools/gate.py judge; this session answers for " + str(PACKET))
    PACKET.unlink(missing_ok=True)
    gate(session, "judge")
    if not PACKET.is_file():
        session.error(f"the gate left no packet at {PACKET}: nothing was judged")


def front(command: str, summary: str) -> None:
    """Register a session for one command."""

    def run(session: nox.Session) -> None:
        gate(session, command)

    run.__doc__ = summary
    nox.session(name=command, venv_backend="none")(run)


for name, summary in COMMANDS.items():
    front(name, summary)
for name in ("judge", "gate"):
    nox.session(name=name, venv_backend="none")(judge)


@nox.session
def lock(session: nox.Session) -> None:
    """Pin requirements/subject.in with hashes; no index address gets into the file."""
    session.install("pip-tools==7.6.2")
    session.run(
        *("pip-compile", "--quiet", "--generate-hashes", "--strip-extras", "--allow-unsafe"),
        *("--no-header", "--no-emit-index-url", "--no-emit-trusted-host", "--no-emit-find-links"),
        *("--output-file", "requirements/subject.txt", *session.posargs, "requirements/subject.in"),
    )


@nox.session
def tests(session: nox.Session) -> None:
    """Run the public tests in the pinned environment."""
    session.install("--require-hashes", "-r", "requirements/subject.txt")
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and formatting of what is yours; the gate's code is the template's."""
    session.install("ruff==0.17.6")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")

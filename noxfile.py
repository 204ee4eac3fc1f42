"""The template's own checks. All run in the environment that nox runs in, which `make` builds from pins."""

import sys
import tempfile
import tomllib
from pathlib import Path

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "typecheck", "tests"]

ENGINE = Path("<<cookiecutter.project_slug>>/tools").resolve()
PYTHONPATH = {"PYTHONPATH": f"{ENGINE}:{Path('tests').resolve()}", "PYTHONDONTWRITEBYTECODE": "1"}


def python(session: nox.Session, *arguments: str) -> None:
    """Run this environment's Python; a non-zero exit fails the session."""
    session.run(sys.executable, *arguments, env=PYTHONPATH, external=True)


def bake(session: nox.Session, folder: str) -> Path:
    """Bake the defaults into `folder`."""
    python(session, "-m", "support.baking", folder)
    return Path(folder, "replay-demo")


@nox.session
def lint(session: nox.Session) -> None:
    """Style, import floors and size limits; style of a fresh project as well."""
    python(session, "-m", "ruff", "check", ".")
    python(session, "-m", "ruff", "format", "--check", ".")
    session.run(
        str(Path(sys.executable).with_name("lint-imports")), "--no-cache", env=PYTHONPATH, external=True
    )
    python(session, "-m", "support.size_limits")
    with tempfile.TemporaryDirectory() as folder:
        project = str(bake(session, folder))
        python(session, "-m", "ruff", "check", "--no-cache", project)
        python(session, "-m", "ruff", "format", "--no-cache", "--check", project)


@nox.session
def typecheck(session: nox.Session) -> None:
    """mypy --strict over the engine, the hooks, the tests, and over a fresh project with its noxfile."""
    python(session, "-m", "mypy")
    with tempfile.TemporaryDirectory() as folder, session.chdir(bake(session, folder)):
        python(session, "-m", "mypy", "noxfile.py", "src", "tests", "tools/metamorphic.py")


@nox.session
def tests(session: nox.Session) -> None:
    """All tests but those on real projects; `-- ARGS` go to pytest."""
    # Three for two cores: a good part of the time tests wait for what must not happen.
    python(session, "-m", "pytest", *(session.posargs or ("-n", "3", "--dist", "worksteal")))


@nox.session
def demo(session: nox.Session) -> None:
    """Bake, arm, then judge an honest patch and dishonest ones."""
    python(session, "demo/run.py", *session.posargs)


@nox.session
def real(session: nox.Session) -> None:
    """The gate on real projects; needs the package index."""
    python(session, "tests/real/run.py", *session.posargs)


@nox.session
def isolation(session: nox.Session) -> None:
    """Attacks from inside the sandbox, under every layer and user; `--allow-unavailable LAYER`."""
    python(session, "tests/isolation/run.py", *session.posargs)


@nox.session
def redteam(session: nox.Session) -> None:
    """Every known trick and honest work, judged: caught / total by group; `--group G`."""
    python(session, "tests/redteam/run.py", *session.posargs)


@nox.session
def reports(session: nox.Session) -> None:
    """report.html in a headless Chromium, which must be installed; `--pictures docs` takes those of the docs."""
    python(session, "tests/browser/run.py", *session.posargs)


@nox.session
def lock(session: nox.Session) -> None:
    """Pin the dependency group dev with hashes; run it on the oldest supported Python."""
    group = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]["dev"]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "dev.in")
        source.write_text("\n".join(group) + "\n", encoding="utf-8")
        python(
            session,
            *(
                "-m",
                "piptools",
                "compile",
                "--quiet",
                "--generate-hashes",
                "--strip-extras",
                "--allow-unsafe",
            ),
            *("--no-header", "--no-annotate"),
            *("--no-emit-index-url", "--no-emit-trusted-host", "--no-emit-find-links"),
            *("--output-file", "requirements/dev.txt", *session.posargs, str(source)),
        )

"""Runs a tree's public tests with pytest: which tests it collects, and how each one ended.

Patched code runs in the same process and may say what it likes; the caller treats this as its claim.
pytest is imported before the tree is on the import path, so that the tree cannot pose as it.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..core.gitdb import Entries
from ..core.observation import Observation
from ..core.settings import Public
from ..sandbox.layer import Inside
from .job import Job
from .replayer import Bench

NO_PYTEST = "the subject's environment has no pytest"
_NO_PYTEST = 86
_PROGRAM = f"""
import os, sys
tree, *paths = os.environ["PYTHONPATH"].split(os.pathsep)
sys.path[:] = [entry for entry in sys.path if entry not in (tree, *paths)]
try:
    import json, pytest
except ImportError:
    sys.exit({_NO_PYTEST})
case = os.getcwd()
os.environ["PYTHONPATH"] = os.pathsep.join(paths)
sys.path[:0] = paths
os.chdir(tree)
class Listing:
    def pytest_collection_finish(self, session):
        with open(os.path.join(case, "ids.json"), "w") as file:
            json.dump([item.nodeid for item in session.items], file)
sys.exit(pytest.main([*sys.argv[1:], "--junitxml=" + os.path.join(case, "junit.xml")], plugins=[Listing()]))
"""
_OPTIONS = (
    "-q", "--rootdir=.", "-p", "no:cacheprovider", "--continue-on-collection-errors", "--maxfail=0", "--tb=no",
    "--show-capture=no", "--junit-prefix=", "-o", "junit_family=xunit2", "-o", "junit_logging=no",
)  # fmt: skip
_WORST = ("passed", "skipped", "failed", "error")


@dataclass(frozen=True)
class TestRun:
    """The node ids that were collected, in order, and how they ended: passed, skipped, failed or error.

    An outcome whose id was not collected is a file that could not be imported. `problem` says why there is
    no list, or no report.
    """

    ids: tuple[str, ...] | None = None
    outcomes: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


def run_tests(bench: Bench, tree: Entries, public: Public, *, only_list: bool = False) -> TestRun:
    """One pytest process on the public folders of a prepared tree; `only_list` runs no test."""
    folders = [folder for folder in public.paths if _is_folder(folder, tree)]
    if not folders:
        return TestRun(ids=())
    plugins = [word for name in public.plugins for word in ("-p", name)]
    listing = ["--collect-only"] if only_list else []
    # The tree itself comes first, for the program to find it; it takes it off again.
    subject = replace(bench.subject, import_path=(".", *bench.subject.import_path))
    job = Job(
        "public tests", ("python", "-P", "-c", _PROGRAM, *_OPTIONS, *plugins, *listing, *folders),
        {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, files={}, timeout_s=public.timeout_s,
    )  # fmt: skip
    with replace(bench, subject=subject).replayer(tree, workers=1) as replayer:
        ((_, run),) = replayer.pool.run([job], _read)
    return run


def list_ids(bench: Bench, tree: Entries, command: Sequence[str], timeout_s: float) -> TestRun:
    """The ids that `[identities] command` prints, one a line."""
    with bench.replayer(tree, workers=1) as replayer:
        ((_, run),) = replayer.pool.run([Job("identities", tuple(command), timeout_s=timeout_s)], _printed)
    return run


def _printed(_job: Job, observation: Observation, _inside: Inside) -> TestRun:
    if observation.status != "exited" or observation.exit_code:
        return TestRun(problem=f"[identities] command: {_ending(observation)}")
    text = b"".join(observation.stdout.chunks()).decode("utf-8", "replace")
    return TestRun(tuple(line.strip() for line in text.splitlines() if line.strip()))


def _read(_job: Job, observation: Observation, _inside: Inside) -> TestRun:
    if observation.status == "exited" and observation.exit_code == _NO_PYTEST:
        return TestRun(problem=NO_PYTEST)
    files = {change.path: b"".join(change.content.chunks()) for change in observation.files}
    ids = _ids(files.get(b"ids.json", b""))
    if ids is None:
        return TestRun(problem=f"pytest lists no tests: {_ending(observation)}")
    outcomes = _outcomes(files.get(b"junit.xml", b""), ids)
    if outcomes is None:
        return TestRun(ids, problem=f"there is no whole JUnit file: {_ending(observation)}")
    return TestRun(ids, outcomes)


def _ending(observation: Observation) -> str:
    how = f"exit {observation.exit_code}" if observation.status == "exited" else observation.status
    text = b"".join(observation.stderr.chunks())[-2000:] or b"".join(observation.stdout.chunks())[-2000:]
    return f"{how}: {' '.join(text.decode('utf-8', 'replace').split())[-200:]}"


def _ids(data: bytes) -> tuple[str, ...] | None:
    try:
        ids = json.loads(data)
    except (ValueError, RecursionError):
        return None
    well_formed = isinstance(ids, list) and all(isinstance(id, str) for id in ids)
    return tuple(ids) if well_formed else None


def _outcomes(data: bytes, ids: Sequence[str]) -> dict[str, str] | None:
    """The outcome of each reported id; None for what is no whole report."""
    found: dict[tuple[str, str], str] = {}
    try:
        text = data.decode("utf-8")
        if "<!" in re.sub(r"<!\[CDATA\[.*?\]\]>", "", text, flags=re.S):  # entities can grow without bound
            return None
        for case in ElementTree.fromstring(text).iter("testcase"):  # noqa: S314
            key = (case.get("classname", ""), case.get("name", ""))
            tags = {child.tag for child in case}
            kinds = ["error" if "error" in tags else "failed" if "failure" in tags else "passed"]
            kinds += ["skipped"] if "skipped" in tags else []
            found[key] = max(found.get(key, "passed"), *kinds, key=_WORST.index)
    except (ValueError, ElementTree.ParseError, LookupError):
        return None
    outcomes = {id: found.pop(_key(id)) for id in ids if _key(id) in found}
    return outcomes | {
        f"{place} {name}".strip(): kind for (place, name), kind in found.items() if kind != "passed"
    }


def _key(id: str) -> tuple[str, str]:
    """The class name and name under which a JUnit file of pytest speaks of a node id."""
    address, bracket, case = id.partition("[")
    path, *names = address.split("::")
    places = [path.removesuffix(".py").replace("/", "."), *names]
    return ".".join(places[:-1]), places[-1] + bracket + case


def _is_folder(folder: str, tree: Entries) -> bool:
    prefix = folder.rstrip("/").encode()
    return prefix == b"." or any(path == prefix or path.startswith(prefix + b"/") for path in tree)

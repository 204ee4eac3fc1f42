"""Rows with a request: the program is a service, its status, declared headers and body are what counts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.engine import record, run_engine
from support.gate import Gate, copy_repository
from support.gitenv import commit_all, only_git
from support.objects import write_files
from support.orphans import adopted
from support.quick import SETTINGS, make_quick, rows_text

SERVICE = """\
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    seen = 0
    def do_GET(self):
        Handler.seen += 1
        self.answer(200, f"{self.command} {self.path} {self.headers['X-Name']}")
    def do_POST(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(201, data.decode().upper())
    def answer(self, status, text):
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("X-Version", "1")
        self.send_header("X-Port", os.environ["PORT"])
        self.end_headers()
        self.wfile.write(text.encode())
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Handler).serve_forever()
"""
ROWS: tuple[dict[str, object], ...] = (
    {"id": "get", "request": {"path": "/a?b=c", "headers": {"X-Name": "Ada"}}, "timeout_s": 3},
    {"id": "post", "request": {"method": "POST", "path": "/up", "body": "grüße"}},
    {"id": "unknown", "request": {"method": "PUT", "path": "/"}},
)
TABLE = """\
[service]
argv = ["python", "src/serve.py"]
ready_path = "/ready"
ready_timeout_s = 3.0
headers = ["content-type", "X-Version"]
"""
#: What is edited, old and new text, and the rows that drift.
DRIFTS = [
    ("body", "{self.command} {self.path}", "{self.command}  {self.path}", {"get"}),
    ("status", "self.answer(201", "self.answer(200", {"post"}),
    ("declared header", '"X-Version", "1"', '"X-Version", "2"', {"get", "post"}),
    ("undeclared header", '"X-Port", os.environ["PORT"]', '"X-Other", "2"', set[str]()),
]
_END = "self.wfile.write(text.encode())\n"
#: Likewise, and what becomes of the rows; the ready path is answered like any other, unless it is told apart.
MISBEHAVIOUR = [
    ("never starts", "http.server.HTTPServer((", "raise SystemExit; ((", "killed_service"),
    ("is never ready", "Handler.seen += 1", "self.send_error(503); return", "timeout"),
    ("dies on a request", "Handler.seen += 1", "'ready' in self.path or os._exit(0)", "killed_service"),
    ("never answers", "Handler.seen += 1", "__import__('time').sleep('/a?' in self.path and 60)", "timeout"),
    ("dies after its answer", _END, _END + "        self.wfile.flush(); 'ready' in self.path or os._exit(0)\n",
     "killed_service"),
    ("talks nonsense", "Handler.seen += 1",
     "if 'ready' not in self.path: self.wfile.write(b'SSH-2.0-x\\r\\n'); return", "killed_service"),
    ("promises more than it sends", 'self.send_header("X-Version", "1")',
     'self.send_header("X-Version", "1"); self.send_header("Content-Length", "1000")', "timeout"),
    ("sends a malformed header", 'self.send_header("X-Version", "1")',
     'self.send_header("X-Version", "1"); self._headers_buffer.append(b"no header\\r\\n")', "timeout"),
    ("drips", _END, "for c in text * 9:\n            self.wfile.write(c.encode())\n"
     "            'ready' in self.path or __import__('time').sleep(0.7)\n", "timeout"),
    ("answers too much", 'f"{self.command}', '"x" * (9 << 20) + f"{self.command}', "output_limit"),
]  # fmt: skip


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose program is a service, armed."""
    gate = make_quick(tmp_path_factory.mktemp("service") / "repository")
    write_files(gate.root, {
        "src/serve.py": SERVICE, "corpus/inputs.jsonl": rows_text(*ROWS), "oracle/gate.toml": SETTINGS + TABLE,
    })  # fmt: skip
    commit_all(gate.root, "A service")
    done = record(gate.root)
    assert done.code == 0, done
    commit_all(gate.root, "Arm the oracle")
    return gate.root


@pytest.fixture
def service(source: Path, tmp_path: Path) -> Gate:
    return copy_repository(source, tmp_path / "repository")


def judged(gate: Gate, *words: str) -> dict[str, dict[str, Any]]:
    """The packet's rows by their id."""
    done = run_engine(gate.root, "judge", *words)
    assert "Traceback" not in done.stderr
    return {row["id"]: row for row in gate.packet()["replay"]}


def test_what_is_pinned(source: Path) -> None:
    assert json.loads((source / "oracle/digests.json").read_bytes()).keys() == {row["id"] for row in ROWS}


@pytest.mark.parametrize(
    ("old", "new", "rows"), [case[1:] for case in DRIFTS], ids=[case[0] for case in DRIFTS]
)
def test_status_declared_headers_and_body_count(service: Gate, old: str, new: str, rows: set[str]) -> None:
    service.edit("src/serve.py", old, new)
    found = judged(service)
    assert {name for name, row in found.items() if row["status"] == "drift"} == rows
    assert {row["status"] for row in found.values()} <= {"drift", "match"}


def test_the_difference_is_shown(service: Gate) -> None:
    service.edit("src/serve.py", "{self.path} {", "{self.path} for {")
    lines = judged(service)["get"]["diff"]
    assert [line for line in lines if line[0] in "+-" and line[1] != line[0]] == [
        "-GET /a?b=c Ada", "+GET /a?b=c for Ada"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "status"), [case[1:] for case in MISBEHAVIOUR], ids=[case[0] for case in MISBEHAVIOUR]
)
def test_a_service_that_does_not_serve_misbehaves(service: Gate, old: str, new: str, status: str) -> None:
    service.edit("src/serve.py", old, new)
    with adopted() as orphans:
        found = judged(service)["get"]
        assert orphans.left(seconds=5) == []
    assert (found["status"], found["detail"]) == ("misbehaved", status)


def test_no_row_sees_what_another_left_in_the_service(service: Gate) -> None:
    """Else results would depend on the order of rows and the number of workers."""
    service.edit(
        "src/serve.py", "{self.command} {self.path}", "{Handler.seen > 2 or self.command} {self.path}"
    )
    for workers in ("1", "3"):
        assert {row["status"] for row in judged(service, "--workers", workers).values()} == {"match"}


def test_where_only_landlock_is_there_a_request_is_not_isolated(
    service: Gate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.edit("oracle/gate.toml", 'require = "plain"', 'require = "isolated"')
    commit_all(service.root, "Require isolation")
    monkeypatch.setenv("PATH", str(only_git(tmp_path / "bin")))
    assert {row["status"] for row in judged(service).values()} == {"unisolated"}
    packet = service.packet()
    assert packet["sandbox"]["mode"] == "landlock"
    assert {reason["rule"] for reason in packet["reasons"]} == {"replay.unisolated"}
    assert packet["verdict"] == "hold"
    service.write("corpus/inputs.jsonl", rows_text(*ROWS, {"id": "new", "request": {"path": "/new"}}))
    done = record(service.root, "--add")
    assert (done.code, done.stderr.splitlines()[-1]) == (
        2, "gate: corpus/inputs.jsonl:4: a row with a request cannot be isolated here; install bubblewrap"
    )  # fmt: skip

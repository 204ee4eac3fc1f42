"""A headless Chromium, spoken to over a pipe by the DevTools protocol: no port, no library, no driver."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_ANSWER_S = 60.0
_ENDED = "the browser ended; start it by hand to see why"
_OPTIONS = (
    "--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--force-color-profile=srgb", "--disable-lcd-text", "--remote-debugging-pipe",
)  # fmt: skip
#: Chromium reads commands from descriptor 3 and answers on 4, whatever numbers the pipes got here.
_START = """\
import fcntl, os, sys
ends = [fcntl.fcntl(int(word), fcntl.F_DUPFD, 10) for word in sys.argv[1:3]]
os.dup2(ends[0], 3)
os.dup2(ends[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class BrowserError(Exception):
    """The browser is missing, died, is silent, or refused a command."""


@dataclass
class Browser:
    """One page of a running browser; `events` are what the page told since it was opened."""

    commands: int
    answers: int
    session: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    _number: int = 0
    _rest: bytes = b""

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command and its answer; events that come meanwhile are kept."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        try:
            os.write(self.commands, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise BrowserError(_ENDED) from None
        while True:
            answer = self._next()
            if answer.get("id") != self._number:
                self.events.append(answer)
            elif "error" in answer:
                raise BrowserError(f"{method}: {answer['error']['message']}")
            else:
                result: dict[str, Any] = answer["result"]
                return result

    def wait(self, method: str) -> None:
        """Returns when the page has told an event of this name."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._next())

    def ask(self, script: str) -> Any:
        """The value of an expression on the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        if "exceptionDetails" in answer:
            raise BrowserError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def _next(self) -> dict[str, Any]:
        deadline = time.monotonic() + _ANSWER_S
        while b"\0" not in self._rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.answers], [], [], left)[0]:
                raise BrowserError(f"the browser gave no answer within {_ANSWER_S:g} s")
            data = os.read(self.answers, 1 << 20)
            if not data:
                raise BrowserError(_ENDED)
            self._rest += data
        line, self._rest = self._rest.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        return message


def find_browser(wanted: str = "") -> str:
    """The path of a Chromium; BrowserError when there is none."""
    found = next((path for name in ([wanted] if wanted else NAMES) if (path := shutil.which(name))), None)
    if not found:
        raise BrowserError(f"no {wanted or 'Chromium'} here: install one, or name it with --browser")
    return found


@contextmanager
def opened_page(program: str) -> Iterator[Browser]:
    """A fresh browser with a fresh profile and one empty page, whose events are on; killed at the end."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        to_browser, from_browser = os.pipe(), os.pipe()
        command = [sys.executable, "-c", _START, str(to_browser[0]), str(from_browser[1]), program]
        unconfined = ["--no-sandbox"] if os.geteuid() == 0 else []  # it refuses to start as root otherwise
        process = subprocess.Popen(
            [*command, *_OPTIONS, *unconfined, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_browser[0], from_browser[1]), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True, env={"PATH": os.environ["PATH"], "HOME": profile},
        )  # fmt: skip
        os.close(to_browser[0])
        os.close(from_browser[1])
        try:
            browser = Browser(to_browser[1], from_browser[0])
            target = browser.call("Target.createTarget", url="about:blank")["targetId"]
            attached = browser.call("Target.attachToTarget", targetId=target, flatten=True)
            browser.session = attached["sessionId"]
            for domain in ("Page", "Network", "Log", "Runtime"):
                browser.call(f"{domain}.enable")
            browser.events.clear()
            yield browser
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(to_browser[1])
            os.close(from_browser[0])


def load(browser: Browser, page: Path) -> None:
    """Opens a file; returns when it is loaded and painted."""
    browser.events.clear()
    browser.call("Page.navigate", url=page.resolve().as_uri())
    browser.wait("Page.loadEventFired")
    browser.call(
        "Runtime.evaluate",
        expression="new Promise(done => requestAnimationFrame(() => done()))",
        awaitPromise=True,
    )

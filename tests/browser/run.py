"""`nox -s reports`: report.html in a headless Chromium, light, dark and on a phone.

    python tests/browser/run.py [--browser PROGRAM] [--pictures DIR] [--packet FILE]

Three pages: one of a real judgement of a fresh project (or of `--packet`), one of a packet whose every text is
hostile, one whose every text is one long word. Ends non-zero when something is not visible, the page asks for
anything, says anything on the console, scrolls sideways, or is hard to read; also when there is no browser, and
when a page that was spoiled in one of these ways passes.
"""

from __future__ import annotations

import argparse
import base64
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "<<cookiecutter.project_slug>>/tools"), str(ROOT / "tests")]

from browser.devtools import Browser, BrowserError, find_browser, load, opened_page  # noqa: E402
from oracle_gate.core.decode import decode_json  # noqa: E402
from oracle_gate.core.history import Past  # noqa: E402
from oracle_gate.core.packet import Packet  # noqa: E402
from oracle_gate.core.statements import Statement  # noqa: E402
from oracle_gate.render import html  # noqa: E402
from oracle_gate.render.visible import visible  # noqa: E402
from support.baking import bake  # noqa: E402
from support.gate import Gate  # noqa: E402
from support.gitenv import commit_all, make_repository  # noqa: E402
from support.reported import HOSTILE, blocked  # noqa: E402

#: The least contrast of text that WCAG 2.2 calls sufficient (level AA, 1.4.3).
CONTRAST = 4.5
#: Every element with text of its own: what it says, where it is, and how its colours differ.
SURVEY = """(() => {
  const light = text => {
    const [r, g, b] = text.match(/[0-9.]+/g).map(Number).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!colour.endsWith(', 0)')) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const found = [];
  for (const element of document.body.querySelectorAll('*')) {
    const own = [...element.childNodes].filter(node => node.nodeType === 3 && node.data.trim());
    if (!own.length) continue;
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    const [one, two] = [light(style.color), light(behind(element))].sort((a, b) => b - a);
    found.push({
      text: own.map(node => node.data).join(''), left: box.left, right: box.right, height: box.height,
      hidden: style.visibility !== 'visible' || style.opacity !== '1' || !element.checkVisibility(),
      contrast: (one + 0.05) / (two + 0.05),
    });
  }
  return {found, width: document.documentElement.scrollWidth, scripts: document.scripts.length,
    paper: light(behind(document.body)), text: document.body.innerText};
})()"""


#: The history of approvals on the pages that were not judged.
HISTORY = [Past("2026-01-31", "0" * 500, Statement("accept", HOSTILE + "x" * 500, rules=("y" * 500,)))]


@dataclass(frozen=True)
class Screen:
    """How a page is looked at; sizes in CSS pixels."""

    name: str
    width: int
    height: int
    scheme: str
    phone: bool = False


SCREENS = (
    Screen("light", 900, 1520, "light"),
    Screen("dark", 900, 1520, "dark"),
    Screen("phone", 375, 812, "light", phone=True),
    Screen("phone-dark", 375, 812, "dark", phone=True),
)
#: Those that the documentation shows.
SHOWN = ("light", "dark", "phone")
#: Ways to spoil a page: what to replace by what, and how the complaint begins.
IMAGE = ("</main>", '<img src="http://127.0.0.1:9/x.png"></main>')
SPOILED = (
    ([IMAGE], "console: "),
    ([IMAGE, ("default-src 'none'", "default-src *")], "requests: "),
    ([("</main>", "<script>1</script></main>")], "1 script(s)"),
    ([("overflow-wrap:anywhere", "")], "it scrolls sideways"),
    ([("prefers-color-scheme:dark", "prefers-color-scheme:none")], "not dark"),
    ([("pre{", "pre{display:none;")], "missing: '+new"),
    ([("h1{", "h1{position:absolute;left:-99rem;")], "not to be seen"),
    ([(".block{color:var(--block)}", ".block{color:#777}")], "contrast "),
)


def main() -> int:
    parser = argparse.ArgumentParser(description="Look at report.html in a browser.")
    parser.add_argument("--browser", default="", help="the Chromium to use (default: the one on PATH)")
    parser.add_argument(
        "--pictures", type=Path, metavar="DIR", help="write report-{light,dark,phone}.png there"
    )
    parser.add_argument("--packet", type=Path, metavar="FILE", help="show this packet instead of a fresh one")
    arguments = parser.parse_args()
    try:
        program = find_browser(arguments.browser)
        with tempfile.TemporaryDirectory() as folder:
            given = arguments.packet.read_bytes() if arguments.packet else judged(Path(folder))
            pages = {
                "judged": decode_json(Packet, given, "packet"),
                "hostile": blocked(HOSTILE),
                "long": blocked("x" * 500),
            }
            return look(program, pages, Path(folder), arguments.pictures)
    except BrowserError as error:
        print(f"reports: {error}", file=sys.stderr)
        return 2


def judged(folder: Path) -> bytes:
    """The packet of a fresh project's change that breaks rows and a property, and adds a dependency."""
    project = bake(folder)
    make_repository(project)
    commit_all(project, "Scaffold")
    gate = Gate(project)
    gate.arm()
    gate.edit(
        "src/replay_demo/fmt.py",
        "return str(value)",
        'return str(float(value)) if "." in value else str(value)',
    )
    gate.edit("requirements/subject.in", "pytest==", "attrs\npytest==")
    gate.run("judge", "--now", "2026-01-31", check=1)
    return (project / ".gate/merge_packet.json").read_bytes()


def look(program: str, pages: dict[str, Packet], folder: Path, pictures: Path | None) -> int:
    """Every page on every screen; prints a line for each and what is wrong with it."""
    wrong = 0
    with opened_page(program) as browser:
        for name, packet in pages.items():
            file = folder / f"{name}.html"
            file.write_text(html.render(packet, () if name == "judged" else HISTORY), encoding="utf-8")
            for screen in SCREENS:
                complaints = list(survey(browser, file, packet, screen))
                print(f"{name:8} {screen.name:11} {'ok' if not complaints else 'WRONG'}")
                print("".join(f"    {complaint}\n" for complaint in complaints), end="")
                wrong += bool(complaints)
                if pictures and name == "judged" and screen.name in SHOWN:
                    (pictures / f"report-{screen.name}.png").write_bytes(picture(browser, screen))
        for edits, complaint in SPOILED:
            seen = spoiled(browser, folder / "spoiled.html", edits, pages["long"], complaint)
            print(f"spoiled  {complaint:20} {'ok' if seen else 'WRONG'}")
            wrong += not seen
    print(f"reports: {len(pages) * len(SCREENS) + len(SPOILED)} looked at, {wrong} wrong")
    return 1 if wrong else 0


def spoiled(
    browser: Browser, file: Path, edits: list[tuple[str, str]], packet: Packet, complaint: str
) -> bool:
    """Whether a page with these edits is complained about as it should be."""
    text = html.render(packet, HISTORY)
    for old, new in edits:
        if old not in text:
            return False
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")
    return any(words.startswith(complaint) for words in survey(browser, file, packet, SCREENS[-1]))


def survey(browser: Browser, file: Path, packet: Packet, screen: Screen) -> Iterator[str]:
    """What is wrong with a page on a screen."""
    browser.call(
        "Emulation.setDeviceMetricsOverride", width=screen.width, height=screen.height,
        deviceScaleFactor=1, mobile=screen.phone,
    )  # fmt: skip
    scheme = {"name": "prefers-color-scheme", "value": screen.scheme}
    browser.call("Emulation.setEmulatedMedia", features=[scheme])
    load(browser, file)
    seen = browser.ask(SURVEY)
    requests = [
        event["params"]["request"]["url"]
        for event in browser.events
        if event.get("method") == "Network.requestWillBeSent"
    ]
    if requests != [file.resolve().as_uri()]:
        yield f"requests: {requests}"
    for event in browser.events:
        if event.get("method") in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            yield f"console: {event['params']}"
    if seen["width"] > screen.width:
        yield f"it scrolls sideways: {seen['width']} px wide on {screen.width}"
    if seen["scripts"]:
        yield f"{seen['scripts']} script(s)"
    if (seen["paper"] < 0.2) != (screen.scheme == "dark"):
        yield f"not {screen.scheme}: the paper's luminance is {seen['paper']:.2f}"
    for item in seen["found"]:
        if item["hidden"] or item["height"] < 1 or item["left"] < 0 or item["right"] > screen.width:
            yield f"not to be seen: {item['text'][:60]!r}"
        if item["contrast"] < CONTRAST:
            yield f"contrast {item['contrast']:.2f}: {item['text'][:60]!r}"
    yield from unseen(packet, " ".join(seen["text"].split()))


def unseen(packet: Packet, text: str) -> Iterator[str]:
    """What a human needs and does not get: the verdict, each reason with its next step, each line of a diff."""
    needed = [f"Replay gate: {packet.verdict}"]
    for reason in packet.reasons:
        needed += [reason.rule, reason.subject, reason.detail, reason.next_step]
    for row in packet.replay:
        needed += [row.id, *row.diff] if row.diff else []
    for words in needed:
        if " ".join(visible(words).split()) not in text:
            yield f"missing: {words[:80]!r}"


def picture(browser: Browser, screen: Screen) -> bytes:
    """What is on the screen, as PNG; on a phone the whole page."""
    shot = browser.call("Page.captureScreenshot", format="png", captureBeyondViewport=screen.phone)
    return base64.b64decode(shot["data"])


if __name__ == "__main__":
    sys.exit(main())

"""How long a person waits for the live page, in a real browser: a table, and build/bench/play.json.

python -m benchmarks.waits.play

Needs Playwright and Chromium. Times are what the page sees, up to the frame after the change.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, TypedDict

from benchmarks.frame import show, speed_parser
from benchmarks.machine import load_average, processor_time, provenance
from gnarl_dsl.specs import find_spec

STARTS, KEYS, PICKS, NODES = 5, 20, 20, 64
TYPED = "pickup_delivery"  # a spec of 45 lines
PLAYED = ("bfs", "mvc", "bellman_ford", "tsp")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# A word goes wrong and comes right again; what is waited for is the list of findings.
_TYPE = """([at, text]) => new Promise(done => {
  const area = document.getElementById("source"), list = document.getElementById("findings");
  area.focus();
  area.setSelectionRange(at, at);
  const began = performance.now();
  new MutationObserver((_, watcher) => {
    if (!list.children.length) return;
    watcher.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  }).observe(list, { childList: true });
  document.execCommand("insertText", false, text);
})"""
_PICK = """() => new Promise(done => {
  const open = [...document.querySelectorAll(".stage .node.open")];
  const node = open[Math.floor(open.length / 2)], said = document.querySelector(".said");
  const name = node.querySelector(".name").textContent;
  const began = performance.now();
  new MutationObserver((_, watcher) => {
    if (!said.textContent.includes(`Node ${name} was picked`)) return;
    watcher.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
  }).observe(said, { childList: true, characterData: true, subtree: true });
  node.dispatchEvent(new MouseEvent("click", { bubbles: true }));
})"""


class Row(TypedDict):
    what: str
    goal_ms: float
    median_ms: float
    best_ms: float
    worst_ms: float
    runs: int


def row(what: str, goal: float, times: Sequence[float]) -> Row:
    return {
        "what": what,
        "goal_ms": goal,
        "median_ms": round(median(times), 1),
        "best_ms": round(min(times), 1),
        "worst_ms": round(max(times), 1),
        "runs": len(times),
    }


@contextmanager
def server(folder: Path, spec: str) -> Iterator[tuple[str, int]]:
    """The command as a user starts it; the address of its page, and its process."""
    command = [sys.executable, "-m", "gnarl_runtime.commands.servers.play", f"{spec}.gnarl"]
    command += ["--no-browser", "--port", "0"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


def usable(page: Any, address: str) -> None:
    """The spec can be edited, and there is a graph to play on."""
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")
    page.wait_for_selector(".said:not(:empty)", state="attached")


def starts(browser: Any, folder: Path) -> list[Row]:
    """From the command to a page that can be used, in a browser that is open already."""
    times, worked = [], []
    for _ in range(STARTS):
        page = browser.new_page()
        began = perf_counter()
        with server(folder, "bfs") as (address, pid):
            usable(page, address)
            times.append(1e3 * (perf_counter() - began))
            worked.append(processor_time(pid))
            page.close()
    return [
        row("page usable after `gnarl-play bfs.gnarl`", 2_000, times),
        row("  processor time of the server by then", 2_000, worked),
    ]


def keystrokes(browser: Any, folder: Path) -> Row:
    """From a keystroke that makes a mistake to the diagnostic on the screen."""
    with server(folder, TYPED) as (address, _):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        usable(page, address)
        text = page.input_value("#source")
        at = text.index("allow ") + len("allow ")
        times = []
        for _ in range(KEYS):
            page.wait_for_selector("#found.clean")
            page.wait_for_timeout(300)
            times.append(page.evaluate(_TYPE, [at, "("]))
            page.keyboard.press("Backspace")
        page.close()
    return row(f"first diagnostic, {TYPED} ({len(text.splitlines())} lines)", 300, times)


def picks(browser: Any, folder: Path, spec: str) -> list[Row]:
    """From a click on a node to the picture with what it changed."""
    with server(folder, spec) as (address, pid):
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        usable(page, address)
        page.fill(".tools input >> nth=0", str(NODES))
        page.keyboard.press("Enter")
        page.wait_for_selector(f".stage .node >> nth={NODES - 1}")
        page.wait_for_timeout(4_000)  # what experts reach has been found
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        times, worked = [], []
        for _ in range(PICKS):
            before = page_time(session) + processor_time(pid)
            times.append(page.evaluate(_PICK))
            page.wait_for_timeout(500)  # the experts have been asked
            worked.append(page_time(session) + processor_time(pid) - before)
        page.close()
    return [
        row(f"pick drawn, {spec}, {NODES} nodes", 50, times),
        row("  processor time of page and server", 50, worked),
    ]


def page_time(session: Any) -> float:
    """Milliseconds that the page's own thread has worked so far."""
    found = session.send("Performance.getMetrics")["metrics"]
    return 1e3 * float(next(one["value"] for one in found if one["name"] == "TaskDuration"))


def measure() -> list[Row]:
    from playwright.sync_api import sync_playwright

    program = os.environ.get("GNARL_BROWSER") or next(filter(None, map(shutil.which, BROWSERS)))
    with tempfile.TemporaryDirectory() as home, sync_playwright() as driver:
        folder = Path(home)
        for name in (TYPED, *PLAYED):
            spec = find_spec(name)
            assert spec is not None
            (folder / f"{name}.gnarl").write_bytes(spec.read_bytes())
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        rows = [*starts(browser, folder), keystrokes(browser, folder)]
        rows += [own for name in PLAYED for own in picks(browser, folder, name)]
        browser.close()
    return rows


def report_lines(rows: Sequence[Row]) -> Iterator[str]:
    yield f"{'ms':44} {'goal':>6} {'median':>8} {'best':>8} {'worst':>8}"
    for own in rows:
        figures = "".join(f" {own[key]:8.1f}" for key in ("median_ms", "best_ms", "worst_ms"))
        yield f"{own['what']:44} {own['goal_ms']:6.0f}{figures}"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print the table, write the JSON."""
    options = speed_parser(__doc__, "play").parse_args(arguments)
    before = load_average()
    rows = measure()
    record = {**provenance(load=before, load_after=load_average()), "rows": rows}
    show(options.output, record, "\n".join(report_lines(rows)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

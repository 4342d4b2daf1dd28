"""Nothing in, pictures of the live page out: docs/pictures/playing.gif, and stills beside it.

python docs/make_playing.py

A spec gets a mistake, which is mended by a click; nodes are pointed at and picked; an expert plays
to the end. Needs Playwright and Chromium.
"""

from __future__ import annotations

import io
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image

from gnarl_dsl.specs import find_spec

PICTURES = Path(__file__).parent / "pictures"
SPEC, NODES, SEED = "bfs", "9", "4"
WIDE, HIGH = 1180, 760
COLOURS, EXACT = 112, 24
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of the page of a folder."""
    command = [sys.executable, "-m", "gnarl_runtime.commands.servers.play", f"{SPEC}.gnarl"]
    command += ["--no-browser", "--port", "0"]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


class Recorder:
    """Pictures of a page, each with the milliseconds that it is shown."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.frames: list[tuple[Image.Image, int]] = []

    def take(self, shown: int) -> None:
        picture = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        self.frames.append((picture, shown))

    def palette(self) -> Image.Image:
        """Large areas as they are; few nodes are green or orange, but they are what it is about."""
        some = Image.new("RGB", (WIDE, HIGH * 3))
        for place, number in enumerate((0, len(self.frames) // 2, -1)):
            some.paste(self.frames[number][0], (0, place * HIGH))
        spread = some.quantize(COLOURS - EXACT, Image.Quantize.MAXCOVERAGE).getpalette() or []
        flat = [part for colour in common(some) for part in colour]
        made = Image.new("P", (1, 1))
        made.putpalette([*flat, *spread[: 3 * (COLOURS - EXACT)]])
        return made

    def save(self, path: Path) -> None:
        """One palette for all, so that what stays the same costs nothing."""
        palette = self.palette()
        pictures = [
            picture.quantize(palette=palette, dither=Image.Dither.NONE)
            for picture, _ in self.frames
        ]
        pictures[0].save(
            path,
            save_all=True,
            append_images=pictures[1:],
            duration=[shown for _, shown in self.frames],
            loop=0,
            optimize=True,
        )


def common(picture: Image.Image) -> list[tuple[int, int, int]]:
    """The colours of most of a picture, as they are."""
    found = picture.getcolors(WIDE * HIGH * 4) or []
    return [colour for _, colour in sorted(found, reverse=True)[:EXACT]]


def node(page: Any, name: str) -> Any:
    return page.locator(".stage .name", has_text=re.compile(f"^{name}$"))


def said(page: Any, text: str) -> None:
    page.wait_for_selector(f".said:has-text('{text}')")
    page.wait_for_timeout(500)  # the experts have been asked


def open_page(browser: Any, address: str, scheme: str) -> Any:
    page = browser.new_page(viewport={"width": WIDE, "height": HIGH}, color_scheme=scheme)
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")
    page.fill(".tools input >> nth=0", NODES)
    page.fill(".tools input >> nth=1", SEED)
    page.keyboard.press("Enter")
    page.wait_for_selector(f".stage .node >> nth={int(NODES) - 1}")
    said(page, f"of {NODES} nodes")
    return page


def mend(page: Any, film: Recorder) -> None:
    """A slip of the pen, and the click that mends it."""
    film.take(1400)
    at = page.input_value("#source").index("edge(u, v)")
    page.focus("#source")
    page.evaluate(f"document.getElementById('source').setSelectionRange({at}, {at + 4})")
    for letter in "egde":
        page.keyboard.type(letter)
        film.take(160)
    page.wait_for_selector("button.fix")
    film.take(2600)
    page.hover("button.fix")
    film.take(700)
    page.click("button.fix")
    page.wait_for_selector("#found.clean")
    page.wait_for_timeout(400)
    film.take(900)


def explore(page: Any, film: Recorder) -> None:
    """Point at a node that may be picked and at one that may not, pick one."""
    start = page.locator(".stage .node .gem:visible").first.evaluate(
        "gem => gem.parentElement.querySelector('.name').textContent"
    )
    node(page, start).click()
    said(page, "was picked")
    page.mouse.move(5, 5)
    film.take(1100)
    barred = page.locator(".stage .node.barred .name").all_text_contents()
    node(page, next(name for name in barred if name != start)).hover()
    page.wait_for_selector("#tip b.not")
    film.take(2400)
    chosen = page.locator(".stage .node.open .name").first.text_content()
    node(page, chosen).hover()
    page.wait_for_selector("#tip b.may")
    page.wait_for_timeout(200)
    film.take(2200)
    node(page, chosen).click()
    said(page, f"Node {chosen} was picked")
    page.mouse.move(5, 5)
    page.wait_for_timeout(200)
    film.take(1100)


def finish(page: Any, film: Recorder) -> None:
    """The expert plays to the end."""
    while "The end" not in str(page.text_content(".said")):
        before = page.text_content(".counters")
        page.click("[aria-label^='The player picks']")
        while page.text_content(".counters") == before:
            page.wait_for_timeout(30)
        page.wait_for_timeout(450)
        film.take(450)
    page.wait_for_selector(".said:has-text('correct')")
    page.wait_for_timeout(300)
    film.take(3200)


def main() -> None:
    from playwright.sync_api import sync_playwright

    spec, program = find_spec(SPEC), next(filter(None, map(shutil.which, BROWSERS)))
    assert spec is not None
    with tempfile.TemporaryDirectory() as home, sync_playwright() as driver:
        shutil.copy(spec, home)
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        with served(Path(home)) as address:
            page = open_page(browser, address, "light")
            film = Recorder(page)
            mend(page, film)
            explore(page, film)
            finish(page, film)
            film.save(PICTURES / "playing.gif")
        browser.close()
    size = (PICTURES / "playing.gif").stat().st_size
    print(f"{PICTURES / 'playing.gif'}: {len(film.frames)} pictures, {size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()

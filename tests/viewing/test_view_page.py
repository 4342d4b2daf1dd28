"""The page of `gnarl-view` in a real browser: steps, keys, autoplay, and nothing fetched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Opened, open_page
from house import ROOT
from view_cases import HOSTILE

from gnarl_runtime.commands.view import main

SHOTS = ROOT / "build" / "screenshots"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    (folder / "hostile.gnarl").write_text(HOSTILE, "utf-8")
    for name, *args in (
        ("bfs", "bfs", "--nodes", "6"),
        ("crowd", "mvc_rich", "--nodes", "64", "--policy", "random"),
        ("hostile", str(folder / "hostile.gnarl"), "--nodes", "4"),
    ):
        assert main([*args, "-o", str(folder / f"{name}.html")]) == 0
    return folder


@pytest.fixture
def bfs(chromium: Any, pages: Path) -> Iterator[Opened]:
    opened = open_page(chromium, pages / "bfs.html")
    yield opened
    # Whatever a test does: no error, no warning, and nothing but the file itself is asked for.
    assert opened.complaints == []
    assert len(opened.requests) == 1
    opened.page.close()


def step(opened: Opened) -> int:
    return int(opened.page.input_value("#scrub"))


def test_buttons_step_and_stop_at_the_ends(bfs: Opened) -> None:
    page = bfs.page
    assert bfs.text("#counter") == "step 1 / 10"
    assert page.is_disabled("#back")
    page.click("#next")
    assert step(bfs) == 1
    assert bfs.text("#status").startswith("Step 2 of 10: round 1, phase to.")
    page.click("#last")
    assert bfs.text("#counter") == "end, 10 steps"
    assert "valid, correct" in bfs.text("#status")
    assert page.is_disabled("#next")
    page.click("#back")
    assert step(bfs) == 9
    page.click("#first")
    assert step(bfs) == 0


def test_keys_do_the_same_wherever_the_focus_is(bfs: Opened) -> None:
    press = bfs.page.keyboard.press
    for focus in ("body", "#scrub", "#next"):
        bfs.page.focus(focus)
        press("Home")
        assert step(bfs) == 0
        press("ArrowRight")
        press("ArrowRight")
        press("ArrowLeft")
        assert step(bfs) == 1
        press("End")
        assert step(bfs) == 10


def test_scrubbing_shows_the_step_under_the_pointer(bfs: Opened) -> None:
    box = bfs.page.locator("#scrub").bounding_box()
    bfs.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert step(bfs) == 5
    assert bfs.text("#counter") == "step 6 / 10"
    bfs.page.mouse.click(box["x"] + box["width"] - 1, box["y"] + box["height"] / 2)
    assert step(bfs) == 10


def test_autoplay_runs_to_the_end_and_can_be_paused(bfs: Opened) -> None:
    page = bfs.page
    page.focus("body")
    page.keyboard.press("Space")
    page.wait_for_selector("#play[aria-pressed='true'][aria-label='Pause']")
    bfs.wait_for(lambda: step(bfs) >= 2)
    page.keyboard.press("Space")
    page.wait_for_selector("#play[aria-pressed='false'][aria-label='Play']")
    paused = step(bfs)
    page.wait_for_timeout(1200)  # longer than a step at this speed
    assert step(bfs) == paused < 10
    page.select_option("#speed", "150")
    page.click("#play")
    page.wait_for_selector("#play[aria-pressed='false']")
    assert step(bfs) == 10


def test_picture_table_and_spec_tell_the_same_pick(bfs: Opened) -> None:
    frames = bfs.value("data.frames")
    for number in (1, 3, 5):
        bfs.value(f"go({number})")
        frame, after = frames[number], frames[number + 1]
        assert bfs.text("tr.picked th") == str(frame["pick"])
        count = {
            kind: bfs.page.locator(f"#graph {kind}").count()
            for kind in (".ring:visible", ".gem:visible", ".barred", ".arrow.coming")
        }
        assert list(count.values()) == [1, len(frame["advice"]), 6 - len(frame["legal"]), 1]
        changed = sum(
            old != new
            for before, now in zip(frame["nodes"][1:], after["nodes"][1:], strict=True)
            for old, new in zip(before, now, strict=True)
        )
        assert bfs.page.locator("td.changed").count() == changed > 0
        assert bfs.page.locator("#source .wrote").count() == len(frame["written"])
        assert bfs.text("#source .allow code").strip() == "allow edge(u, v)"


def test_a_node_under_the_pointer_says_why_not(bfs: Opened) -> None:
    bfs.page.click("#next")
    frame = bfs.value("data.frames[1]")
    node, reason = frame["why_not"][0]
    bfs.page.locator("#graph .name", has_text=re.compile(f"^{node}$")).hover()
    assert bfs.value(f"data.reasons[{reason}]") in bfs.text("#here")


def test_words_of_a_spec_stay_words(chromium: Any, pages: Path) -> None:
    opened = open_page(chromium, pages / "hostile.html")
    assert opened.value("typeof window.evil") == "undefined"
    assert "</script><script>" in opened.text("#doc")
    assert opened.value("document.images.length") == 0
    assert opened.value("document.scripts.length") == 2
    assert opened.complaints == []
    assert len(opened.requests) == 1


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (900, "dark"), (420, "light")])
def test_64_nodes_fit_and_can_be_told_apart(
    chromium: Any, pages: Path, width: int, scheme: str
) -> None:
    opened = open_page(chromium, pages / "crowd.html", width, color_scheme=scheme)
    opened.value("go(9)")
    SHOTS.mkdir(parents=True, exist_ok=True)
    opened.page.screenshot(path=SHOTS / f"view_64_{width}_{scheme}.png", full_page=True)
    assert opened.value("document.documentElement.scrollWidth") <= width
    boxes = opened.value(
        "[...document.querySelectorAll('#graph .disc')].map(d => d.getBoundingClientRect())"
        ".map(b => [b.x + b.width / 2, b.y + b.height / 2, b.width])"
    )
    assert len(boxes) == 64
    for k, (x, y, size) in enumerate(boxes):
        assert size >= 14
        for u, v, _ in boxes[:k]:
            assert (x - u) ** 2 + (y - v) ** 2 > (0.9 * size) ** 2
    assert opened.complaints == []

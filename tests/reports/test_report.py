"""`gnarl-report`: one file with everything, harmless whatever a spec says, within its time."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

import gnarl_dsl as gnarl
from gnarl_runtime.reports.as_html import html_of
from gnarl_runtime.reports.contents import Chart, Line, Report, Sheet, Watched
from gnarl_runtime.reports.report import main
from gnarl_runtime.reports.svg_charts import svg_of

sys.path.insert(0, str(Path(__file__).parents[1] / "viewing"))
from browser import browser, open_page

SMALL = {
    "bc.updates": 6,
    "bc.graphs": 4,
    "data.pool": 8,
    "data.nodes": 5,
    "policy.width": 8,
    "validation.every": 3,
    "validation.graphs": 2,
    "validation.nodes": 5,
}
QUICK = ("--sizes", "5", "--graphs", "4", "--search", "sample:2,time:0.05")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A policy that has hardly learned anything, so that it fails."""
    folder = tmp_path_factory.mktemp("report") / "run"
    gnarl.train("bfs", out=str(folder), overrides=SMALL, seed=3)
    return folder


@pytest.fixture(scope="module")
def page(run: Path) -> str:
    out = run.parent / "report.html"
    assert main([str(run), *QUICK, "-o", str(out)]) == 0
    return out.read_text("utf-8")


def test_the_page_says_what_was_trained_and_how_good_it_is(page: str, run: Path) -> None:
    text = unescape(re.sub(r"<[^>]+>", " ", re.sub(r' srcdoc="[^"]*"', "", page)))
    problem = gnarl.load("bfs")
    for part in (
        problem.hash,
        problem.doc,
        "gnarl 1\nproblem bfs",
        "torch 2",
        "random",
        "sample:2",
    ):
        assert part in text, part
    assert "right, %" in text  # BFS has a right answer
    assert "step" in text
    assert page.count("<iframe") == 3
    assert page.count("<figure>") >= 2


def test_nothing_is_fetched_and_nothing_else_may_run(page: str) -> None:
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in policy
    outside = re.sub(r' srcdoc="[^"]*"', "", page)
    assert not re.findall(r"(?:src|href)=|<script|https?://", outside)


def test_failures_say_where_they_left_the_expert(page: str) -> None:
    lost = page.partition("Where it fails")[2].partition("</section>")[0]
    assert "ended in a state that is not right" in lost
    rows = re.findall(r"<tr><td>\d+</td>(.*?)</tr>", lost)
    assert rows
    assert all("not correct" in row for row in rows)
    assert any(re.search(r"<td>\d+</td><td>\w+ \d+</td>", row) for row in rows)


def test_as_markdown(run: Path, capsys: Capture) -> None:
    out = run.parent / "appendix.md"
    assert main([str(run), *QUICK, "-o", str(out)]) == 0
    text = out.read_text("utf-8")
    assert "| nodes | player | graphs | right, % |" in text
    assert f"]({run.as_posix()}/curves.png)" in text
    assert "```gnarl\ngnarl 1\nproblem bfs" in text
    assert f"gnarl-report {run}" in text
    capsys.readouterr()
    assert main([str(run), *QUICK, "--markdown"]) == 0
    shown = capsys.readouterr().out
    assert figures(shown) == figures(text)


def figures(text: str) -> list[str]:
    """The table of results without times, which are never the same."""
    rows = text.partition("## How good it is")[2].partition("##")[0].splitlines()
    return [row.rpartition("|")[0].rpartition("|")[0] for row in rows]


def test_what_there_is_no_time_for_is_left_out(run: Path, capsys: Capture) -> None:
    out = run.parent / "short.html"
    sizes = ("--sizes", "5,40", "--graphs", "500", "--search", "time:5")
    assert main([str(run), *sizes, "--minutes", "0.01", "-o", str(out)]) == 0
    assert "left out for lack of time" in capsys.readouterr().out
    assert "Left out for lack of time: " in out.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere"], "there is no nowhere"),
        ([], "expected"),
        (["RUN", "-o", "report.pdf"], ".html"),
        (["RUN", "--minutes", "0"], "above 0"),
        (["RUN", "--graphs", "0"], "1 or more"),
        (["RUN", "--search", "magic"], "magic"),
        (["RUN", "-o", "RUN/best.safetensors"], ".html"),
        (["RUN", "--against", "nobody"], "nobody"),
    ],
)
def test_mistakes_are_told_before_the_work(
    words: list[str], told: str, run: Path, capsys: Capture
) -> None:
    assert main([word.replace("RUN", str(run)) for word in words]) in (1, 2)
    assert told in capsys.readouterr().err


def test_charts_stand_whatever_the_numbers() -> None:
    for points in (((1.0, 2.0),), ((0.0, 1.0), (5.0, 1.0)), ((1.0, -3.0), (2.0, 1e9))):
        drawn = svg_of(
            Chart("a < b", "updates", (Line("<one>", points), Line("two", points, False)))
        )
        assert drawn.startswith("<figure><svg")
        assert "nan" not in drawn
        assert "<one>" not in drawn
    timed = Chart("t", "seconds", (Line("x", ((0.001, 1.0), (10.0, 2.0))),), logarithmic=True)
    assert ">0.01<" in svg_of(timed)


# In a browser


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as running:
        yield running


def test_episodes_can_be_stepped_through(chromium: Any, page: str, run: Path) -> None:
    opened = open_page(chromium, run.parent / "report.html")
    frame = opened.page.frame_locator("iframe >> nth=0")
    before = frame.locator("#counter").inner_text()
    frame.locator("#next").click()
    assert frame.locator("#counter").inner_text() != before
    assert opened.complaints == []
    assert [r for r in opened.requests if not r.startswith("about:")] == opened.requests[:1]
    opened.page.close()


def test_what_a_spec_says_is_only_shown(chromium: Any, tmp_path: Path) -> None:
    """Whatever stands in a spec, a recipe or on the command line."""
    evil = "</style></script><script>window.evil = 1</script><img src=x onerror='evil = 1'>`"
    sheet = Sheet((evil, evil), ((evil, evil), (evil, evil)), 1, (evil,))
    chart = Chart(evil, evil, (Line(evil, ((1.0, 2.0), (2.0, 3.0))), Line(evil, ((1.0, 2.5),))))
    report = Report(
        title=evil,
        doc=evil,
        made=evil,
        command=evil,
        facts=sheet,
        verdict=(evil,),
        curves=(chart,),
        results=sheet,
        searches=sheet,
        over_time=chart,
        failures=sheet,
        told=evil,
        episodes=(Watched(evil, f"<p>an episode {evil}</p>"),),
        specs=((evil, evil),),
        recipe=evil,
        left_out=(evil,),
        seconds=1.0,
    )
    out = tmp_path / "report.html"
    out.write_text(html_of(report), "utf-8")
    opened = open_page(chromium, out)
    assert opened.value("window.evil") is None
    assert "<img src=x" in opened.text("header")
    # The episode stands for one of ours; what it would run is not what the page allows.
    frame = opened.page.frames[1]
    assert frame.evaluate("window.evil") is None
    assert len(opened.requests) <= 2
    opened.page.close()

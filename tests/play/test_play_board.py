"""Playing in a real browser: picks, reasons, undo, players, keys, reloads, servers that end."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from browser import Opened
from house import ROOT
from served import Served, open_live, own_server, wait_until_usable

import gnarl_dsl as gnarl
from gnarl_compiler.instances.draw import choose_split, draw_instance, family_of
from gnarl_dsl.specs import find_spec
from gnarl_runtime.commands.work.trace_command import Request, start

SHOTS = ROOT / "build" / "screenshots"


def said(live: Opened, board: int = 0) -> str:
    return live.text(f".said >> nth={board}")


def legal(live: Opened) -> list[str]:
    found = live.value(
        "[...document.querySelectorAll('.stage .node.open .name')].map(n => n.textContent)"
    )
    return sorted(map(str, found))


def node(live: Opened, name: str, board: int = 0) -> Any:
    stage = live.page.locator(".stage").nth(board)
    return stage.locator(".name", has_text=re.compile(f"^{name}$"))


def pick(live: Opened, name: str, board: int = 0) -> None:
    node(live, name, board).click()
    live.wait_for(lambda: f"Node {name} was picked" in said(live, board))


def counter(live: Opened, name: str, board: int = 0) -> str:
    own = live.page.locator(".board").nth(board).locator(".counters div")
    named = own.filter(has=live.page.locator("dt", has_text=re.compile(f"^{name}$")))
    return str(named.locator("dd").text_content())


def test_an_episode_is_the_one_of_the_interpreter(server: Served) -> None:
    """Every state that the page gets, against gnarl-trace's episode on the same graph."""
    problem = gnarl.load("mvc")
    asked = Request(8, 5, "random", None, None, None, True, "text")
    trace = start(problem, asked)
    text = (server.folder / "mvc.gnarl").read_text("utf-8")
    graph = {"kind": "drawn", "nodes": 8, "seed": 5}
    begun = server.told("begin", spec={"path": "mvc.gnarl", "text": text}, graph=graph)
    instance = draw_instance(problem, family_of(choose_split(problem, "train"), 0), 5, 0, nodes=8)
    assert begun["scene"]["edges"] == instance.graph.edges().tolist()
    picks: list[int] = []
    for step in trace.steps(explain=True):
        where = {"game": begun["game"], "picks": picks}
        (frame,) = server.told("look", **where)
        assert frame["legal"] == list(step.legal)
        for illegal, reason in step.why:
            reasons = server.told("why", **where, node=illegal)
            assert reason in [one["text"] for one in reasons]
        if step.why:
            assert server.refused("would", **where, node=step.why[0][0])[0] == 400
        picks.append(step.pick)
    (frame,) = server.told("look", game=begun["game"], picks=picks)
    assert frame["ended"] == trace.state.ended
    assert float(frame["total"]) == pytest.approx(trace.total, rel=1e-3)
    ending = server.told("ending", game=begun["game"], picks=picks)
    assert ending["valid"] is True
    assert server.refused("look", game="unknown", picks=[])[0] == 410


def test_picks_reasons_and_undo(live: Opened) -> None:
    page = live.page
    assert "Pick u (phase from): 12 of 12 nodes" in said(live)
    pick(live, "1")
    assert "Pick v (phase to)" in said(live)
    open_nodes = legal(live)
    closed = next(str(v) for v in range(12) if str(v) not in [*open_nodes, "1"])
    node(live, closed).hover()
    page.wait_for_selector("#tip b.not")
    assert "`edge(u, v)` is false with u = 1" in live.text("#tip")
    assert "line 19" in live.text("#tip")
    assert live.text(".row.forbids .code").strip() == "allow edge(u, v)"
    node(live, open_nodes[0]).hover()
    page.wait_for_selector("#tip b.may")
    assert f"pred[{open_nodes[0]}] {open_nodes[0]} → 1" in live.text("#tip")
    assert page.locator(".stage .arrow.coming").count() == 1
    pick(live, open_nodes[0])
    assert f"pred[{open_nodes[0]}]" in live.text(".changed ul")
    assert page.locator(".spark:visible").count() > 0
    assert page.locator(".row.wrote").count() >= 2
    page.click("[aria-label^='Take the pick back']")
    live.wait_for(lambda: "Node 1 was picked" in said(live))
    page.click("[aria-label^='Make it again']")
    live.wait_for(lambda: f"Node {open_nodes[0]} was picked" in said(live))
    page.click("[aria-label^='From the start']")
    live.wait_for(lambda: "12 of 12" in said(live))


def test_keys_alone_play_an_episode(live: Opened) -> None:
    page = live.page
    page.focus(".stage")
    page.keyboard.press("ArrowRight")
    live.wait_for(lambda: "may be picked" in said(live))
    page.keyboard.press("Enter")
    live.wait_for(lambda: "was picked" in said(live))
    page.keyboard.press("u")
    live.wait_for(lambda: "was picked" not in said(live))
    page.keyboard.press("r")
    live.wait_for(lambda: "was picked" in said(live))
    page.keyboard.press("n")
    live.wait_for(lambda: counter(live, "Round").startswith("2"))
    page.select_option(".pace select", "0")
    page.focus(".stage")
    page.keyboard.press("p")
    live.wait_for(lambda: "The end: terminated" in said(live))
    page.keyboard.press("Home")
    live.wait_for(lambda: "12 of 12" in said(live))


def test_two_players_side_by_side(live: Opened) -> None:
    page = live.page
    page.check(".right input")
    page.wait_for_selector(".board >> nth=1 >> .node")
    page.select_option(".player >> nth=0", "expert shallowest")
    page.select_option(".player >> nth=1", "random")
    for board in (0, 1):
        page.select_option(f".pace select >> nth={board}", "0")
    page.click("text=▶ Both")
    live.wait_for(lambda: all("valid" in said(live, board) for board in (0, 1)))
    assert counter(live, "End") == "✓ correct"
    assert float(counter(live, "Reward matches", 0)) > float(counter(live, "Reward matches", 1))


def test_what_is_edited_is_played_at_once(live: Opened) -> None:
    page = live.page
    pick(live, "1")
    first = legal(live)[0]
    pick(live, first)
    at = str(page.input_value("#source")).index("edge(u, v)")
    page.focus("#source")
    live.value(f"document.getElementById('source').setSelectionRange({at + 10}, {at + 10})")
    old = page.get_attribute(".board", "data-game")
    page.keyboard.insert_text(" and not reach[v]")
    live.wait_for(lambda: page.get_attribute(".board", "data-game") != old)
    pick(live, "1")  # from the same picks on
    live.wait_for(lambda: counter(live, "Round").startswith("2"))
    live.wait_for(lambda: first not in legal(live))
    node(live, first).hover()
    page.wait_for_selector("#tip b.not")
    assert "`not reach[v]` is false" in live.text("#tip")


def test_a_reload_and_another_tab_change_nothing(
    live: Opened, chromium: Any, server: Served
) -> None:
    pick(live, "1")
    pick(live, legal(live)[0])
    before = (said(live), legal(live))
    other = open_live(chromium, server)
    assert "12 of 12" in said(other)
    pick(other, "3")
    live.page.reload()
    wait_until_usable(live)
    live.wait_for(lambda: (said(live), legal(live)) == before)
    assert other.complaints == []
    other.page.close()


def test_a_graph_of_ones_own(live: Opened, tmp_path: Path) -> None:
    page, file = live.page, tmp_path / "animals.json"
    links = [("ant", "bee"), ("bee", "cat"), ("cat", "ant"), ("cat", "dog")]
    graph = {
        "nodes": [{"id": name} for name in ("ant", "bee", "cat", "dog")],
        "links": [{"source": u, "target": v} for u, v in links],
    }
    file.write_text(json.dumps(graph), "utf-8")
    page.select_option("#files", "mvc.gnarl")
    live.wait_for(lambda: "cover" in live.text(".counters"))
    page.set_input_files("#graph-file", file)
    live.wait_for(lambda: page.locator(".stage .node").count() == 4)
    pick(live, "bee")
    node(live, "cat").click()
    live.wait_for(lambda: "The end: terminated after 2 rounds, valid" in said(live))
    assert "Best known" in live.text(".counters")
    file.write_text("{", "utf-8")
    page.set_input_files("#graph-file", file)
    page.wait_for_selector(".refused")
    assert "animals.json" in live.text(".refused")


@pytest.mark.long
def test_a_killed_server_is_told_and_nothing_is_lost(chromium: Any, tmp_path: Path) -> None:
    spec = find_spec("bfs")
    assert spec is not None
    (tmp_path / "bfs.gnarl").write_bytes(spec.read_bytes())
    with own_server("bfs.gnarl", "--port", "0", cwd=tmp_path) as (process, address):
        window = chromium.new_context()
        live = open_live(window, address)
        port = address.split(":")[2].split("/")[0]
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        page = live.page
        page.focus("#source")
        page.keyboard.press("Control+End")
        page.keyboard.type("# typed in vain?")
        page.wait_for_selector("#banner:has-text('The server has ended')")
    with own_server("bfs.gnarl", "--port", port, cwd=tmp_path) as (_, new):
        page.wait_for_selector("#banner:has-text('started anew')")
        fresh = open_live(window, new)
        assert "# typed in vain?" in str(fresh.page.input_value("#source"))
        assert "unsaved text from before" in fresh.text("#saved")
        assert fresh.complaints == []
    window.close()


@pytest.mark.parametrize(
    ("width", "scheme"),
    [
        (1440, "dark"),
        pytest.param(1440, "light", marks=pytest.mark.long),
        pytest.param(390, "light", marks=pytest.mark.long),
    ],
)
def test_64_nodes_can_be_read(live: Opened, width: int, scheme: str) -> None:
    page = live.page
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)
    page.fill(".tools input >> nth=0", "64")
    page.keyboard.press("Enter")
    live.wait_for(lambda: page.locator(".stage .node").count() == 64)
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SHOTS / f"play_64_{width}_{scheme}.png", full_page=True)
    assert live.value("document.documentElement.scrollWidth") <= width
    boxes = live.value(
        "[...document.querySelectorAll('.stage .disc')].map(d => d.getBoundingClientRect())"
        ".map(b => [b.x + b.width / 2, b.y + b.height / 2, b.width])"
    )
    for k, (x, y, size) in enumerate(boxes):
        assert size >= (12 if width > 700 else 7)
        for u, v, _ in boxes[:k]:
            assert (x - u) ** 2 + (y - v) ** 2 > (0.9 * size) ** 2


@pytest.mark.long
def test_200_nodes_are_painted_and_can_be_picked(live: Opened) -> None:
    page = live.page
    page.fill(".tools input >> nth=0", "200")
    page.keyboard.press("Enter")
    page.wait_for_selector(".stage canvas")
    page.focus(".stage")
    page.keyboard.press("ArrowRight")
    live.wait_for(lambda: "may be picked" in said(live))
    page.keyboard.press("Enter")
    live.wait_for(lambda: "was picked" in said(live))
    page.screenshot(path=SHOTS / "play_200.png")

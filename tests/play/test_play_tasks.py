"""What takes long, started from the page: checks, trainings, searches, as other processes."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from browser import Opened
from served import Served, own_server

import gnarl_dsl as gnarl
from gnarl_dsl.specs import find_spec

BROKEN = ("allow not in_cover[v]", "allow in_cover[v] or not in_cover[v]")


def spec_of(name: str) -> str:
    path = find_spec(name)
    assert path is not None
    return path.read_text("utf-8")


def finished(server: Served, id: str, seconds: float = 120) -> dict[str, Any]:
    until = time.monotonic() + seconds
    while True:
        job = server.told("job", id=id)
        if job["state"] != "running":
            return dict(job)
        assert time.monotonic() < until, job
        time.sleep(0.2)


def test_a_counterexample_is_found_and_played(live: Opened, server: Served) -> None:
    text = spec_of("mvc").replace(*BROKEN)
    assert text != spec_of("mvc")
    server.told("save", path="broken.gnarl", text=text, known=None)
    page = live.page
    page.reload()
    page.wait_for_selector("#files option[value='broken.gnarl']", state="attached")
    page.select_option("#files", "broken.gnarl")
    live.wait_for(lambda: "cover" in live.text(".counters"))
    page.click("#tab-check")
    page.click("text=Quick check")
    page.wait_for_selector(".verdict.bad")
    assert "invalid-end" in live.text(".failure >> nth=0")
    page.click("text=Play the counterexample >> nth=0")
    live.wait_for(lambda: page.locator(".stage .node").count() == 3)
    live.wait_for(lambda: "not valid" in live.text(".said"))
    assert "counterexample: invalid-end" in live.text(".given")
    page.click("[aria-label^='Take the pick back']")
    live.wait_for(lambda: "may be picked" in live.text(".said"))


def test_what_cannot_be_started_says_so(server: Served) -> None:
    wrong = {"path": "bfs.gnarl", "text": "gnarl 1\nproblem bfs\n"}
    assert server.refused("start/check", spec=wrong, fast=True)[0] == 422
    right = {"path": "bfs.gnarl", "text": spec_of("bfs")}
    assert "more than 0" in server.refused("start/train", spec=right, minutes=-1)[1]
    graph = {"kind": "drawn", "nodes": 5, "seed": 0}
    assert "search" in server.refused("start/solve", spec=right, graph=graph, search="magic")[1]
    for run in ("../bfs", "none", ".hidden", "a/b"):
        assert server.refused("start/resume", run=run)[0] == 400
    assert server.refused("job", id="77")[0] == 410


@pytest.mark.long
def test_a_short_training_stops_goes_on_and_plays(live: Opened, server: Served) -> None:
    page = live.page
    page.click("#tab-train")
    page.fill("#panel-train input >> nth=0", "0.3")
    page.click("#panel-train button.main")
    live.wait_for(lambda: page.locator("#panel-train .line").count() > 0, 120)
    page.click("#panel-train .progress button")
    live.wait_for(lambda: "was stopped and saved" in live.text("#panel-train .problem"), 60)
    points = server.told("run", run="bfs-1")
    page.reload()
    page.wait_for_selector("text=Resume")
    page.click("text=Resume")
    page.reload()  # in the middle: the training goes on, and the page finds it
    page.wait_for_selector("#panel-train .progress:visible")
    live.wait_for(lambda: "fresh graphs" in live.text("#panel-train"), 180)
    assert len(server.told("run", run="bfs-1")) > len(points)
    assert server.told("runs")[0]["finished"]
    page.click("text=Watch it play")
    live.wait_for(lambda: page.locator(".stage .gauge:visible").count() > 0, 60)
    page.select_option(".pace select", "0")
    page.focus(".stage")
    page.keyboard.press("p")
    live.wait_for(lambda: "The end" in live.text(".said") and "valid" in live.text(".said"), 60)


@pytest.mark.long
def test_a_search_shows_its_value_and_its_solution(
    live: Opened, server: Served, tmp_path: Path
) -> None:
    page, file = live.page, tmp_path / "mine.json"
    links = [(u, v) for u in range(12) for v in range(u) if (u * v + u) % 3]
    named = [{"source": f"n{u}", "target": f"n{v}"} for u, v in links]
    nodes = [{"id": f"n{v}", "w": 0.1 * (v + 1)} for v in range(12)]
    file.write_text(json.dumps({"nodes": nodes, "links": named}), "utf-8")
    page.select_option("#files", "mvc.gnarl")
    live.wait_for(lambda: "cover" in live.text(".counters"))
    page.click("#tab-solve")
    page.set_input_files("#solve-file", file)
    page.select_option("#panel-solve select >> nth=1", "exact")
    page.click("#panel-solve button.main")
    page.wait_for_selector("#panel-solve .verdict.good", timeout=120_000)
    (best,) = gnarl.solve(None, str(file), problem="mvc", search="exact")
    assert best.objective is not None
    assert f"cover {best.objective:.5g}" in live.text("#panel-solve .verdict")
    with page.expect_download() as download:
        page.click("text=Download")
    found = json.loads(Path(download.value.path()).read_text("utf-8"))
    assert found["objective"] == pytest.approx(best.objective)
    page.click("text=Show it on the board")
    live.wait_for(lambda: "valid" in live.text(".said"))
    assert live.text(".stage .name >> nth=0").startswith("n")


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_training_does_not_outlive_its_server(tmp_path: Path, how: signal.Signals) -> None:
    """It saves and ends; the next server goes on with it."""
    (tmp_path / "bfs.gnarl").write_text(spec_of("bfs"), "utf-8")
    with own_server("bfs.gnarl", "--port", "0", cwd=tmp_path) as (process, address):
        server = Served(tmp_path, address)
        spec = {"path": "bfs.gnarl", "text": spec_of("bfs")}
        server.told("start/train", spec=spec, minutes=5)
        until = time.monotonic() + 120
        while not server.told("run", run="bfs-1"):
            assert time.monotonic() < until
            time.sleep(0.2)
        (worker,) = _children(process.pid)
        process.send_signal(how)
        process.wait(30)
        while _is_alive(worker):
            assert time.monotonic() < until
            time.sleep(0.2)
    assert (tmp_path / "runs" / "bfs-1" / "state.safetensors").is_file()
    with own_server("bfs.gnarl", "--port", "0", cwd=tmp_path) as (_, address):
        again = Served(tmp_path, address)
        (run,) = again.told("runs")
        assert (run["name"], run["finished"], run["job"]) == ("bfs-1", False, None)
        job = again.told("start/resume", run="bfs-1")
        assert httpx.get(address).status_code == 200
        again.told("stop", id=job["id"])
        assert finished(again, job["id"])["state"] == "stopped"


def _children(pid: int) -> list[int]:
    """Of whatever thread of a process."""
    texts = [path.read_text("ascii") for path in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(word) for text in texts for word in text.split()]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text("ascii").split()[2] != "Z"


@pytest.mark.long
def test_two_tasks_at_once_are_enough(server: Served) -> None:
    spec = {"path": "bfs.gnarl", "text": spec_of("bfs")}
    jobs = [server.told("start/check", spec=spec, fast=True) for _ in range(2)]
    assert server.refused("start/check", spec=spec, fast=True)[0] == 409
    for job in jobs:
        server.told("stop", id=job["id"])
    assert {finished(server, job["id"])["state"] for job in jobs} == {"stopped"}

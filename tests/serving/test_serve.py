"""Graphs POSTed to a served policy: the answers of gnarl.solve, whatever else is asked then."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import pytest

import gnarl_dsl as gnarl
from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.report.failures import Failure
from gnarl_runtime.commands.servers.serve import main
from gnarl_runtime.evaluation.solving import Attempts
from gnarl_runtime.readers.raw import Imported
from gnarl_runtime.serving.batches import Batcher, Full, Limits
from gnarl_runtime.serving.serve_app import serve_app
from gnarl_runtime.serving.served_policy import Bounds, load_served
from gnarl_runtime.web.running import Running, address_of, listen


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    served = [load_served("mvc", Bounds(100, 20.0), Limits())]
    listening, ready = listen(0, 0), threading.Event()
    running = Running(serve_app(served, 40.0), listening, "", ready.set)
    thread = threading.Thread(target=running.run, daemon=True)
    thread.start()
    assert ready.wait(20)
    yield address_of(listening, "")
    running.end()
    thread.join(20)


def as_json(instance: Instance) -> dict[str, Any]:
    weights = np.asarray(instance.inputs["w"])
    return {
        "nodes": [{"id": v, "w": float(weights[v])} for v in range(instance.graph.n)],
        "edges": [{"source": u, "target": v} for u, v in instance.graph.edges().tolist()],
    }


def post(address: str, graph: object, **more: Any) -> httpx.Response:
    return httpx.post(f"{address}solve", json={"graph": graph, **more}, timeout=60)


def test_many_at_once_get_the_answers_of_each_alone(address: str) -> None:
    drawn = gnarl.draw("mvc", count=24, nodes=(6, 14), seed=3)
    expected = gnarl.solve("mvc", drawn)
    with ThreadPoolExecutor(24) as pool:
        replies = list(pool.map(lambda one: post(address, as_json(one)), drawn))
    assert [reply.status_code for reply in replies] == [200] * 24
    for reply, solution in zip(replies, expected, strict=True):
        told = reply.json()
        assert told["objective"] == pytest.approx(solution.objective, rel=1e-6)
        assert told["picks"] == [list(pick) for pick in solution.picks]
        assert told["valid"] is True
    metrics = httpx.get(f"{address}metrics").text
    figures = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if line[0] != "#")
    assert int(figures['gnarl_graphs_total{policy="mvc"}']) >= 24
    assert int(figures['gnarl_batches_total{policy="mvc"}']) < 24
    assert httpx.get(f"{address}healthz").json() == {"status": "ok", "policies": ["mvc"]}
    assert httpx.get(address).json()["policies"][0]["problem"] == "mvc"


@pytest.mark.parametrize(
    ("graph", "more", "status", "said"),
    [
        ({"nodes": [{"id": 1}]}, {}, 400, "edges"),
        ({"nodes": [{"id": v} for v in range(101)], "edges": []}, {}, 400, "takes 100"),
        ("text", {}, 400, "expected an object"),
        ({"nodes": [], "edges": []}, {}, 400, "nodes"),
        ({"nodes": [{"id": 1}], "edges": []}, {"search": "magic"}, 400, "no way to search"),
        ({"nodes": [{"id": 1}], "edges": []}, {"search": "time:99"}, 400, "time up to 20 s"),
        ({"nodes": [{"id": 1}], "edges": []}, {"search": "exact"}, 400, "expected one of"),
        ({"nodes": [{"id": 1}], "edges": []}, {"more": 1}, 422, "not understood: more"),
    ],
)
def test_mistakes_are_told(
    address: str, graph: object, more: dict[str, Any], status: int, said: str
) -> None:
    reply = post(address, graph, **more)
    assert reply.status_code == status
    assert said in reply.json()["error"]


def test_who_may_ask(address: str) -> None:
    graph = {"graph": {"nodes": [{"id": 0}, {"id": 1}], "edges": []}}
    evil = {"origin": "http://evil.example"}
    assert httpx.post(f"{address}solve", json=graph, headers=evil).status_code == 403
    assert httpx.post(f"{address}solve", json=graph, headers={"host": "x"}).status_code == 421
    assert httpx.post(f"{address}solve/none", json=graph).status_code == 404
    assert httpx.post(f"{address}solve", content=b"{}").status_code == 415


def graph_of(n: int) -> Imported:
    (drawn,) = gnarl.draw("mvc", count=1, nodes=n)
    return Imported(drawn.graph, drawn.inputs, drawn.tags, labels=tuple(range(n)))


def test_a_graph_that_spoils_a_batch_spoils_no_other() -> None:
    sizes: list[int] = []

    def solve(graphs: Any, attempts: Attempts) -> list[int]:
        sizes.append(len(graphs))
        if any(own.graph.n == 5 for own in graphs):
            raise Failure("five nodes")
        return [own.graph.n for own in graphs]

    batcher, graphs = Batcher(solve, Limits(moment=2.0, most=3)), [graph_of(n) for n in (4, 5, 6)]
    answers = [batcher.put(graph, Attempts()) for graph in graphs]
    assert answers[0].result(10) == 4
    with pytest.raises(Failure, match="five nodes"):
        answers[1].result(10)
    assert answers[2].result(10) == 6
    assert sizes[0] == 3
    batcher.end()


def test_who_asks_otherwise_waits_for_the_next_batch() -> None:
    groups: list[list[int]] = []
    batcher = Batcher(
        lambda graphs, attempts: groups.append([g.graph.n for g in graphs]) or [0] * len(graphs),
        Limits(moment=2.0, most=3),
    )
    ways = (Attempts(), Attempts(seed=1), Attempts())
    graphs = [graph_of(n) for n in (4, 6, 8)]
    answers = [batcher.put(graph, way) for graph, way in zip(graphs, ways, strict=True)]
    assert [answer.result(10) for answer in answers] == [0, 0, 0]
    assert groups == [[4, 8], [6]]
    batcher.end()


def test_a_full_queue_says_so() -> None:
    gate = threading.Event()

    def solve(graphs: Any, attempts: Attempts) -> list[int]:
        gate.wait(10)
        return [0] * len(graphs)

    batcher = Batcher(solve, Limits(most=1, moment=0, room=2))
    first = batcher.put(graph_of(4), Attempts())
    while not first.running():
        pass
    for _ in range(2):
        batcher.put(graph_of(4), Attempts())
    with pytest.raises(Full):
        batcher.put(graph_of(4), Attempts())
    gate.set()
    batcher.end()


def test_mistakes_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nothing-of-that-name"]) == 2
    assert "no such run folder" in capsys.readouterr().err
    assert main(["mvc", "--batch", "0"]) == 2
    code = "import gnarl_runtime.commands.servers.serve, sys; print('torch' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"

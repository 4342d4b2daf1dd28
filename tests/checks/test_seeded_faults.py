"""Mistakes that people make in specs, each found on a handful of nodes with a smallest witness.

Most are mistakes of the paper's own text or of its first readers. Every fault is an exchange of
a few words in a shipped spec; what finds it, and on how many nodes at least, is argued here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from gnarl_dsl.loading import loads
from gnarl_dsl.report.diagnostics import SpecError
from gnarl_dsl.specs import find_spec
from gnarl_runtime.checks.findings.findings import Failure, Property
from gnarl_runtime.checks.findings.wishes import Options
from gnarl_runtime.checks.run import check_problem
from gnarl_runtime.checks.witness import witness_files
from gnarl_runtime.checks.witness.replay import holds
from gnarl_runtime.checks.witness.telling import render

QUICK = Options(max_nodes=3, examples=0, jit=False, lints=False)


@dataclass(frozen=True)
class Fault:
    """Words to exchange in a spec, what then breaks, and the size of the smallest witness."""

    spec: str
    old: str
    new: str
    property: Property
    nodes: int
    edges: int
    picks: int
    expert: str | None = None

    def text(self) -> str:
        path = find_spec(self.spec)
        assert path is not None
        text = path.read_text("utf-8")
        assert text.count(self.old) == 1, "the words to exchange must be there, once"
        return text.replace(self.old, self.new)


COVERED = "forall (x, y) in edges: in_cover[x] or in_cover[y]"

FAULTS = {
    # One node is its own answer. With two, no node may be picked and nothing is reached.
    "Bellman-Ford, start node not marked": Fault(
        "bellman_ford", "mask      = s[x] ", "mask      = false", "dead-end", 2, 1, 0
    ),
    "Prim, start node not marked": Fault(
        "mst_prim", "mask      = s[x]", "mask      = false", "dead-end", 2, 1, 0
    ),
    # The pointer of `here` is overwritten before the new node has taken it over: with two nodes
    # the second points to itself and the tour never returns to s.
    "TSP, pointer written before it is read": Fault(
        "tsp",
        "next[v]    := next[here]\n    next[here] := v",
        "next[here] := v\n    next[v]    := next[here]",
        "invalid-end",
        2,
        1,
        2,
    ),
    # Two nodes of different weight and one edge: the dearer one is now worth more.
    "MVC, wrong sign in the objective": Fault(
        "mvc", "cover = -sum", "cover = sum", "reference", 2, 1, 1, "optimal"
    ),
    # All tours of three nodes have the same length, and four are beyond this test.
    # The last pair that is not joined: it may be begun, but not finished.
    "RGC, the mask forbids the last edge": Fault(
        "rgc",
        "allow free(u, v)",
        "allow free(u, v) and m + 1 < n * (n - 1) / 2",
        "dead-end",
        2,
        0,
        1,
    ),
    # A tie needs two nodes left to choose from, and s is visited first.
    "TSP, an expert that ignores ties": Fault(
        "tsp",
        "expert nearest\n  visit: uniform v minimising A[here, v]",
        "expert nearest\n  visit: uniform v where "
        "v == (any argmin(x in nodes where not in_tour[x]: A[here, x]) otherwise s)",
        "expert-uneven",
        3,
        3,
        1,
        "nearest",
    ),
    # What is covered already may not be picked, so nothing is left of the expert's choice.
    "MVC, an expert outside the mask": Fault(
        "mvc",
        "add: uniform v where best[v]",
        "add: uniform v where in_cover[v]",
        "expert-silent",
        2,
        1,
        0,
        "optimal",
    ),
    # One node needs no round. Two need one and get none.
    "BFS, a horizon one too short": Fault(
        "bfs", "horizon n - 1 rounds", "horizon n - 2 rounds", "expert-late", 2, 1, 0, "shallowest"
    ),
    "DFS, a horizon one too short": Fault(
        "dfs", "horizon n rounds", "horizon n - 1 rounds", "expert-late", 1, 0, 0, "deepest"
    ),
    # Two nodes are joined before the test matters. With three, the first edge stays "useful"
    # and the expert, which stays where it is active, never leaves s.
    "Prim, <= in the key test": Fault(
        "mst_prim", "A[x, y] < key[y]", "A[x, y] <= key[y]", "expert-fails", 3, 2, 18, "prim"
    ),
    # Two nodes are right once both are reached. With three, another node than s may be asked to go
    # on before the third is reached: it can only lead back to s, and what leads from s then leads
    # to the node that is reached already as well as to the third, again and again.
    "Bellman-Ford, an expert that repairs what is right": Fault(
        "bellman_ford",
        "leads(x, y) and not leads(pred[y], y)",
        "leads(x, y)",
        "expert-lost",
        3,
        2,
        3,
        "sticky",
    ),
    # Going to and fro between two nodes until the limit, twice two rounds, leaves the third alone.
    "Bellman-Ford, a promise that is broken at the limit": Fault(
        "bellman_ford",
        "valid   forall x in nodes: edge(pred[x], x) or pred[x] == x",
        "valid   forall x in nodes: edge(pred[x], x) or s[x]",
        "invalid-end",
        3,
        2,
        8,
    ),
    # A single node has no successor to go to.
    "DFS without the self-pick": Fault(
        "dfs", "allow edge(u, v) or v == u", "allow edge(u, v)", "dead-end", 1, 0, 1
    ),
    # The second phase picks, but what it picks is not reached.
    "BFS, a transition that forgets a phase": Fault(
        "bfs",
        "    reach[u] := true\n    reach[v] := true\n    pred[v]  := u",
        "    reach[u] := true",
        "expert-fails",
        2,
        1,
        2,
        "shallowest",
    ),
    # The one edge is left.
    "MVC that terminates one edge early": Fault(
        "mvc",
        f"terminate when {COVERED}",
        "terminate when count((x, y) in edges where not (in_cover[x] or in_cover[y])) <= 1",
        "invalid-end",
        2,
        1,
        0,
    ),
}


def found_failure(fault: Fault) -> Failure:
    report = check_problem(loads(fault.text()), QUICK)
    found = [f for f in report.failures if (f.property, f.expert) == (fault.property, fault.expert)]
    assert found, [(f.property, f.expert) for f in report.failures]
    return found[0]


@pytest.mark.parametrize("name", FAULTS)
def test_the_fault_is_found_with_a_smallest_witness(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    problem, failure = loads(fault.text()), found_failure(fault)
    assert holds(problem, failure)
    graph = failure.instance.graph
    assert (graph.n, graph.m, len(failure.picks)) == (fault.nodes, fault.edges, fault.picks)
    assert failure.span is not None
    path = find_spec(fault.spec)
    assert path is not None
    assert not holds(loads(path.read_text("utf-8")), failure), "the spec itself is right"
    text = render(problem, failure)
    assert failure.property in text
    assert f":{problem.line_of(failure.span)} |" in text
    witness_files.write(tmp_path / "w.json", problem, failure)
    assert witness_files.replay(tmp_path / "w.json").happens


COMPILE_ERRORS = {
    "TSP, pointer read before it is set": (
        Fault("tsp", "last(visit) otherwise s", "last(visit)", "run-error", 0, 0, 0),
        "GN301",
    ),
    "MVC, a mask that reads an oracle": (
        Fault("mvc", "allow not in_cover[v]", "allow best[v]", "run-error", 0, 0, 0),
        "GN401",
    ),
    "Bellman-Ford, a mask that reads an oracle through a let": (
        Fault("bellman_ford", "allow mask[u]", "allow found(u) ~= dist[u]", "run-error", 0, 0, 0),
        "GN401",
    ),
}


@pytest.mark.parametrize("name", COMPILE_ERRORS)
def test_the_fault_does_not_even_compile(name: str) -> None:
    fault, words = COMPILE_ERRORS[name]
    with pytest.raises(SpecError, match=words):
        loads(fault.text())

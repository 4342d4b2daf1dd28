"""The specs of CLRS-30's algorithms go in, docs/clrs30.md comes out: an index of all thirty."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import gnarl_dsl as gnarl
from gnarl_compiler.build.files import write_whole
from gnarl_dsl.model import Problem
from gnarl_dsl.specs import clrs30_specs, find_spec, specs_folder

PAGE = Path(__file__).parent / "clrs30.md"
# What a pick is, and how instances differ, in the specs that were there before.
BEFORE = {
    "bellman_ford": "A round picks an edge and takes the way along it, whether it is shorter or "
    "not; what is left to learn is which edges help. CLRS relaxes all at once.",
    "bfs": "A round picks an edge and makes its first end the predecessor of the other; nothing "
    "says that the first has been reached. What is left to learn is to go level by level.",
    "dfs": "A round picks an edge to go along, or a root. What is left to learn is to go on from "
    "where the search is deepest.",
    "dijkstra": "CLRS takes undirected graphs.",
    "mst_kruskal": "CLRS goes through the edges in order of weight; here the next has to be found.",
    "mst_prim": "A round picks a node of the tree and a neighbour, whose key may fall. What is "
    "left to learn is which node of the queue is next, and when a node has nothing left to do.",
    "topological_sort": "CLRS sorts by a depth-first search; here a pick is the next in the row.",
}
HEAD = """# CLRS-30

<!-- Written by `python docs/make_clrs30.py`; change the specs or the script, not this page. -->

The thirty algorithms of the CLRS-30 benchmark (Veličković et al., 2022), each as one spec that
checks itself: `gnarl-check heapsort`, `gnarl-train --spec heapsort` and all other commands know
them by name. In CLRS an algorithm is a trajectory to be copied; here it is a game of picks in which
something is left to decide, with the algorithm of the book as the expert. `correct` says what a
right answer is without asking the expert, and accepts any right answer.

`python -m benchmarks.suites.clrs30 --check` compiles, formats and checks all of them. Episodes of
the experts come out as [CLRS-style probes](clrs_export.md) by `gnarl-export --clrs`.

Policies are trained by one recipe for all, `gnarl-train --spec heapsort --recipe clrs30`, unless a
spec has one of its own; `gnarl-eval --pretrained heapsort` plays one that comes along. [A
table](results/clrs30.md) says how they do on 64 nodes, [another](results/nar.md) what standard
neural algorithmic reasoning makes of the same specs.
"""
ROW_NOTE = """Rows of keys, letters or points are complete graphs whose nodes have a `position`, as
in CLRS: the network hears between any two of them.
"""


def main() -> int:
    write_whole(PAGE, page().encode(), durable=False)
    return 0


def page() -> str:
    """The whole page."""
    names = [path.stem for path in clrs30_specs()]
    problems = [gnarl.load(name) for name in names]
    return "\n".join([HEAD, *contents(problems), ROW_NOTE, *(_section(p) for p in problems)])


def contents(problems: list[Problem]) -> Iterator[str]:
    yield "| algorithm | spec | graph | phases | experts |\n|---|---|---|---|---|"
    for problem in problems:
        experts = ", ".join(f"`{expert.name}`" for expert in problem.experts)
        link = f"[{problem.name}](#{problem.name})"
        phases = len(problem.phases)
        yield f"| {link} | {_place(problem)} | {_graph_words(problem)} | {phases} | {experts} |"
    yield ""


def _section(problem: Problem) -> str:
    """What a pick is and what is left to learn, and how its instances differ from those of CLRS."""
    law = BEFORE.get(problem.name) or _law(problem)
    return "\n".join([f"## {problem.name}", "", problem.doc, "", *([law, ""] if law else [])])


def _place(problem: Problem) -> str:
    path = find_spec(problem.name)
    assert path is not None
    return f"`{path.relative_to(specs_folder().parent).as_posix()}`"


def _graph_words(problem: Problem) -> str:
    graph = problem.graph
    words = [word for word in ("connected", "complete", "acyclic") if getattr(graph, word)]
    return " ".join(["directed" if graph.directed else "undirected", *words])


def _law(problem: Problem) -> str:
    """The comments above the instances of a spec, or of the one that it extends."""
    for source in problem.sources:
        before, found, _ = source.text.partition("\ninstances")
        lines = before.splitlines()
        comments = []
        while found and lines and lines[-1].startswith("# "):
            comments.insert(0, lines.pop().removeprefix("# "))
        if comments:
            return " ".join(comments)
    return ""


if __name__ == "__main__":
    sys.exit(main())

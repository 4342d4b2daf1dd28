"""How far back does depth-first search step? For each expert of dfs, the share of graphs by that.

    python -m benchmarks.studies.lookback
    python -m benchmarks.studies.lookback --nodes 128 --graphs 100

A policy with k rounds of messages sees k steps up the predecessors. Writes docs/results/lookback.md
and .json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.frame import publish, results_parser
from benchmarks.machine import load_average, provenance, short

STEPS = range(7)


def main(arguments: list[str] | None = None) -> int:
    """Play both experts, print and write the table."""
    options = parse_options(arguments)
    rows = [
        {"expert": expert, "shares": shares_within(expert, options)}
        for expert in ("deepest", "scarcest")
    ]
    record: dict[str, Any] = {"rows": rows, "nodes": options.nodes, "graphs": options.graphs}
    record["written"] = provenance(load=load_average())
    publish(options.output, "lookback", lines_of(record), record)
    return 0


def shares_within(expert: str, options: argparse.Namespace) -> list[float]:
    """The share of graphs on which an expert never steps back further than each of STEPS."""
    import gnarl_dsl as gnarl
    from gnarl_runtime.envs.engine import compile_for
    from gnarl_runtime.instances.pools import draw_pool
    from gnarl_runtime.search.outcomes import Keep
    from gnarl_runtime.search.players import ExpertPlayer
    from gnarl_runtime.search.rollout import play_with

    compiled = compile_for(gnarl.load("dfs"), experts=(expert,))
    graphs = draw_pool(
        compiled.problem, count=options.graphs, nodes=options.nodes, seed=options.seed, split="test"
    )
    player = ExpertPlayer(expert, options.seed)
    found = play_with(player, compiled, graphs, keep=Keep(picks=True))
    assert found.picks is not None
    furthest = [longest_way_back(picks) for picks in found.picks]
    return [sum(back <= k for back in furthest) / len(furthest) for k in STEPS]


def longest_way_back(picks: tuple[int, ...]) -> int:
    """Of an episode's picks (from, to, from, to, …): most steps from a node to where it goes on."""
    parent: dict[int, int] = {}
    last, longest = None, 0
    for source, target in zip(picks[::2], picks[1::2], strict=True):
        here, back = last, 0
        while here is not None and here != source:
            here, back = parent.get(here), back + 1
        if here is not None:  # None: a new tree, which anybody can begin
            longest = max(longest, back)
        if source != target:
            parent[target] = source
        last = target
    return longest


def lines_of(record: dict[str, Any]) -> Iterator[str]:
    yield "# How far back depth-first search steps"
    yield ""
    yield "    python -m benchmarks.studies.lookback"
    yield ""
    yield (
        f"Per cent of {record['graphs']} directed graphs of {record['nodes']} nodes, p = 0.5, on "
        "which an expert of `dfs` never goes back more than so many steps to a node with an "
        "unreached successor."
    )
    yield ""
    yield "| expert | " + " | ".join(map(str, STEPS)) + " |"
    yield "|---" * (len(STEPS) + 1) + "|"
    for row in record["rows"]:
        yield f"| `{row['expert']}` | " + " | ".join(f"{100 * s:.1f}" for s in row["shares"]) + " |"
    yield ""
    yield f"Written at {short(record['written']['commit'])}."


def parse_options(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = results_parser(__doc__)
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--graphs", type=int, default=600)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())

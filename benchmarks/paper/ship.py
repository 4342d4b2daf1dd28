"""Weights of the runs of the tables in, those that come with GNARL out.

    python -m benchmarks.paper.ship [NAME …]

Of several seeds, the one whose best validation is best is taken: success, then reward, then fewer
steps. Test graphs have no say in it. BFS and DFS are not among them: their shipped weights are of
`gnarl-train --spec bfs --recipe bfs_deep --seed 0` and the same of dfs (docs/results/depth.md), and
those of tsp_local come from benchmarks/studies/tours_again.
"""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.machine import ROOT
from benchmarks.paper.outcomes import Places
from gnarl_compiler.build.files import write_whole
from gnarl_runtime.checkpoints.checkpoint import BEST, load_checkpoint

ROWS = {  # by problem, as `--pretrained` has it
    "bellman_ford": "bellman_ford_wide",  # of docs/results/laws.md, of no table of the paper
    "mst_prim": "mst_prim_wide",  # likewise
    "mvc": "mvc_bc",
    "tsp": "tsp_bc_wide",
    "tsp_insertion": "tsp_insertion_bc",
    "rgc": "rgc_sparse_random_ppo",
}
WEIGHTS = ROOT / "runtime" / "gnarl_runtime" / "checkpoints" / "pretrained_weights"


def main(names: list[str], kept: Path = Places.weights, output: Path = WEIGHTS) -> int:
    """Copy the weights of these problems, or of all that have some."""
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        print(f"unknown problem {unknown[0]}; expected {', '.join(ROWS)}", file=sys.stderr)
        return 2
    for name in names or ROWS:
        finished = sorted(kept.glob(f"{ROWS[name]}-seed*/{BEST}"))
        if not finished:
            print(f"{name}: no weights of a finished run in {kept}", file=sys.stderr)
            continue
        chosen = max(finished, key=validation)
        write_whole(output / f"{name}.safetensors", chosen.read_bytes())
        print(f"{name}: {chosen.parent.name}")
    return 0


def validation(weights: Path) -> tuple[float, float, float]:
    """(success, reward, -steps) on the validation graphs."""
    scores = load_checkpoint(weights).meta.scores
    return scores["success"], scores["reward"], -scores["steps"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

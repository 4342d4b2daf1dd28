"""Finished runs of the tables in, the weights that come with GNARL out.

    python benchmarks/ship_weights.py [NAME …]

Of several seeds, the one whose best validation is best is taken: success, then reward, then fewer
steps. Test graphs have no say in it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

if __package__ in (None, ""):  # run as a script: the checkout is not on the path yet
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.machine import ROOT
from gnarl_compiler.files import write_whole

ROWS = {  # by problem, as `--pretrained` has it
    "bfs": "bfs",
    "dfs": "dfs",
    "bellman_ford": "bellman_ford",
    "mst_prim": "mst_prim",
    "mvc": "mvc_bc",
    "tsp": "tsp_bc_wide",
    "rgc": "rgc_sparse_random_ppo",
}
WEIGHTS = ROOT / "runtime" / "gnarl_runtime" / "pretrained_weights"


def main(names: list[str], runs: Path = ROOT / "runs" / "paper", output: Path = WEIGHTS) -> int:
    """Copy the weights of these problems, or of all whose runs are there."""
    unknown = [name for name in names if name not in ROWS]
    if unknown:
        print(f"unknown problem {unknown[0]}; expected {', '.join(ROWS)}", file=sys.stderr)
        return 2
    for name in names or ROWS:
        finished = [file.parent for file in runs.glob(f"{ROWS[name]}-seed*/finished.json")]
        if not finished:
            print(f"{name}: no finished run in {runs}", file=sys.stderr)
            continue
        chosen = max(sorted(finished), key=best_validation)
        write_whole(output / f"{name}.safetensors", (chosen / "best.safetensors").read_bytes())
        print(f"{name}: {chosen.name}")
    return 0


def best_validation(run: Path) -> tuple[float, float, float]:
    """(success, reward, -steps) of the weights that a run kept."""
    entries = map(json.loads, (run / "metrics.jsonl").read_text("utf-8").splitlines())
    return max(
        (entry["valid_success"], entry["valid_reward"], -entry["valid_steps"])
        for entry in entries
        if "valid_success" in entry
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Specs of the gallery go in, the figures of trained policies (docs/results/gallery.json) come out.

python docs/gallery_results.py                 all specs, one after the other
python docs/gallery_results.py max_cut         only these; the others keep their figures
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import gnarl_dsl as gnarl
from gnarl_compiler.build.files import write_whole
from gnarl_dsl.specs import gallery_specs

RESULTS = Path(__file__).parent / "results" / "gallery.json"
GRAPHS = 100


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", metavar="SPEC")
    wanted = parser.parse_args().specs or [path.stem for path in gallery_specs()]
    for name in wanted:
        entry = measured(name)
        known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
        text = json.dumps({**known, name: entry}, indent=1, sort_keys=True) + "\n"
        write_whole(RESULTS, text.encode(), durable=False)
    return 0


def measured(name: str) -> dict[str, Any]:
    """One spec, trained by its recipe and evaluated against its experts and random picks."""
    problem = gnarl.load(name)
    recipe = f"gallery_{'bc' if clear_expert(problem) else 'ppo'}"
    against = ",".join(["random", *(expert.name for expert in problem.experts)])
    train = ["gnarl-train", "--spec", name, "--recipe", recipe, "--out", "run"]
    evaluate = ["gnarl-eval", "run", "--graphs", str(GRAPHS), "--against", against]
    with tempfile.TemporaryDirectory() as folder:
        for command in (train, [*evaluate, "--json", "figures.json"]):
            print("$", *command, flush=True)
            subprocess.run(command, cwd=folder, check=True, stdout=sys.stderr)
        figures = json.loads((Path(folder) / "figures.json").read_text("utf-8"))
    rows = {"policy": figures["results"], **figures["baselines"]}
    return {
        "commands": [" ".join(train), " ".join(evaluate)],
        "spec_hash": figures["spec_hash"],
        "updates": figures["training"]["updates"],
        "rows": {player: [compact(row) for row in rows[player]] for player in rows},
    }


def clear_expert(problem: gnarl.Problem) -> bool:
    """Whether the first expert is worth imitating: it is right, or the best there is."""
    return problem.correct is not None or problem.experts[0].name == "optimal"


def compact(row: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of a row; times are those of one busy machine and are left out."""
    kept = ("nodes", "graphs", "success", "objective", "ratio", "steps", "metrics")
    return {key: row[key] for key in kept if row.get(key) is not None}


if __name__ == "__main__":
    sys.exit(main())

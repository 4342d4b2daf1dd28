"""Nothing in, tests/compat/0.1 out: files of version 0.1, and what version 0.1 made of them.

This was run once, with version 0.1.0 (commit e06ddff), from its folder and with its own Python:

    GNARL_JIT=off GNARL_KERNEL=torch OMP_NUM_THREADS=1 python .../tests/compat/make_0_1.py .../0.1

Never run it with a later version, and never edit what it wrote: the files are the promise. The
modules that it imports are where 0.1 had them. It writes

    specs/             the shipped specs, gallery and recipes, byte for byte
    instances/         two small graphs per spec, with solved oracles
    checkpoints/       untrained policies of every kind of network
    run_folders/       bc on bfs and ppo on mvc, each finished and stopped half-way
    witnesses/         a counterexample of gnarl-check, and the wrong spec that it is about
    refused/           specs that 0.1 reads and later versions may refuse; refused.json says how
    *.json             questions (see answers.py) with the answers of 0.1, paths relative to here
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import answers
import numpy as np
import torch
from safetensors.numpy import load_file

import gnarl_dsl as gnarl

VARIANTS: list[tuple[str, dict[str, str]]] = [
    ("bellman_ford", {"stop": "settled"}),
    ("mvc", {"eps": "0.3"}),
    ("rgc", {"removal": "targeted"}),
    ("gallery/orienteering", {"budget": "1.5"}),
    ("gallery/steiner_tree", {"share": "0.6"}),
]
CHECKPOINTS: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "max_distance": ("mvc", {}, {}),
    "sum_product": (
        "tsp",
        {},
        {
            "aggregation": "sum",
            "pooling": "mean",
            "message_depth": 3,
            "actor": "product",
            "layer_norm": True,
        },
    ),
    "gatv2": ("bellman_ford", {"stop": "settled"}, {"processor": "gatv2"}),
    "changing_graph": ("rgc", {"removal": "targeted"}, {"rounds": 1}),
    "extended": ("mvc_rich", {}, {}),
    "gallery": ("gallery/graph_colouring", {}, {}),
}
RUNS = {"bfs_bc": ("bfs", "bfs"), "mvc_ppo": ("mvc", "mvc")}
SETTINGS = (
    "bc.updates=8",
    "bc.graphs=8",
    "ppo.updates=8",
    "ppo.graphs=8",
    "ppo.steps=4",
    "ppo.minibatch=16",
    "data.pool=16",
    "data.nodes=5",
    "policy.width=8",
    "validation.every=4",
    "validation.graphs=4",
    "validation.nodes=5",
    "validation.stop_when_perfect=false",
)
STOPPED_AFTER = 5  # updates; between two validations
FEW = ["--sizes", "4,6", "--graphs", "4", "--against", "expert,random"]
DATA = {"bfs_bc": "instances/bfs.gnarl.npz", "mvc_ppo": "instances/mvc.gnarl.npz"}

BOTH_ENDS = ("forall (x, y) in edges: in_cover[x] or", "forall (x, y) in edges: in_cover[x] and")
OPTIONAL_UNEQUAL = """\
gnarl 1
problem optional_unequal
  "Visit every node; no node twice in a row, once there was one."

graph undirected

features
  seen  state  node  mask  = false

phase visit(v)
  allow v != last(visit) or not seen[v]
  update
    seen[v] := true

horizon 2 * n rounds
terminate when forall x in nodes: seen[x]
objective left = -count(x in nodes where not seen[x])

expert fresh
  visit: uniform v where not seen[v]

instances er
  train 10  er(n = 5, p = 0.5)
  valid 10  er(n = 5, p = 0.5)
  test  10  er(n = 5, p = 0.5)
"""
# What a later version must say if it refuses one of refused/: all of `names`, one of `remedies`.
REFUSALS = {
    "refused/optional_unequal.gnarl": {
        "names": ["!=", "last(visit)"],
        "remedies": ["==", "otherwise"],
    }
}


def main(target: Path) -> None:
    assert gnarl.__version__ == "0.1.0"
    assert not (target / "problems.json").exists(), f"{target} is there already, and stays"
    copy_specs(Path(str(gnarl.__file__)).parents[1] / "specs", target / "specs")
    os.chdir(target)
    for folder in ("instances", "checkpoints", "run_folders", "witnesses", "refused"):
        Path(folder).mkdir()
    played = specs()
    for spec, params in played:
        write_instances(spec, params)
    asked = [{"spec": spec, "params": params} for spec, params in played]
    record("problems", "problem", asked)
    record("traces", "trace", [{**entry, "nodes": 6, "seed": 3} for entry in asked])
    episodes = [
        {**entry, "file": data_of(entry["spec"], entry["params"]), "number": number}
        for entry in asked
        for number in (0, 1)
    ]
    record("interpreted", "interpreted", episodes)
    record("compiled", "compiled", episodes)
    files = [{**entry, "file": data_of(entry["spec"], entry["params"])} for entry in asked]
    record("instances", "instances", files[:: len(files) // 6])
    recipes = sorted(str(path) for path in Path("specs/recipes").glob("*.toml"))
    record("recipes", "recipe", [{"file": path} for path in recipes])
    make_witness()
    make_refused()
    make_policies()


def copy_specs(source: Path, target: Path) -> None:
    for path in (*source.rglob("*.gnarl"), *source.rglob("*.toml")):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())


def specs() -> list[tuple[str, dict[str, str]]]:
    plain = [(str(path), {}) for path in sorted(Path("specs").rglob("*.gnarl"))]
    return [*plain, *((spec_path(name), params) for name, params in VARIANTS)]


def spec_path(name: str) -> str:
    return f"specs/{name}.gnarl"


def data_of(spec: str, params: dict[str, str]) -> str:
    return f"instances/{'-'.join([Path(spec).stem, *params.values()])}.gnarl.npz"


def write_instances(spec: str, params: dict[str, str]) -> None:
    problem = gnarl.load(spec, **params)
    oracles = [f.name for f in problem.features if f.stage == "oracle"]
    draw_pool = import_module("gnarl_runtime.pools").draw_pool
    pool = draw_pool(problem, count=2, nodes=(5, 7), seed=3, oracles=oracles)
    pool.write(data_of(spec, params))


def record(file: str, question: str, asked: list[dict[str, Any]]) -> None:
    """Questions with the answers of this version, one per line."""
    with np.errstate(all="ignore"):
        told = [(entry, getattr(answers, question)(**entry)) for entry in asked]
    lines = [json.dumps({"asked": entry, "answer": answer}) for entry, answer in told]
    Path(f"{file}.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{file}: {len(lines)}")


def make_witness() -> None:
    right = Path(spec_path("mvc")).read_text().replace("problem mvc", "problem both_ends")
    before, _, after = right.rpartition(BOTH_ENDS[0])  # of `valid`, not of `terminate`
    Path("witnesses/both_ends.gnarl").write_text(before + BOTH_ENDS[1] + after)
    arguments = ("witnesses/both_ends.gnarl", "--fast", "--save", "witnesses")
    assert answers.run("gnarl-check", *arguments)[0] == 1
    found = sorted(str(path) for path in Path("witnesses").glob("*.json"))
    assert found
    record("witnesses", "witness", [{"file": path} for path in found])


def make_refused() -> None:
    Path("refused/optional_unequal.gnarl").write_text(OPTIONAL_UNEQUAL)
    record("refused", "trace", [{"spec": s, "params": {}, "nodes": 5, "seed": 3} for s in REFUSALS])
    Path("refusals.json").write_text(json.dumps(REFUSALS, indent=1) + "\n")


# Policies


def make_policies() -> None:
    for name, (spec, params, config) in CHECKPOINTS.items():
        make_checkpoint(name, gnarl.load(spec_path(spec), **params), config)
    scored = [
        {"file": f"checkpoints/{name}.safetensors", "data": data_of(spec_path(spec), params)}
        for name, (spec, params, _) in CHECKPOINTS.items()
    ]
    record("scores", "scores", scored)
    for name, (spec, recipe) in RUNS.items():
        make_runs(name, spec, recipe)
    targets = [entry["file"] for entry in scored]
    targets += [f"run_folders/{name}{end}" for name in RUNS for end in ("", "_half")]
    record("evaluations", "evaluation", [{"target": target, "args": FEW} for target in targets])
    solved = [{"target": f"run_folders/{name}", "data": DATA[name]} for name in RUNS]
    record("solutions", "solutions", solved)


def make_checkpoint(name: str, problem: Any, config: dict[str, Any]) -> None:
    checkpoint = import_module("gnarl_runtime.training.checkpoint")
    policy = import_module("gnarl_runtime.policy")
    recipe = import_module("gnarl_runtime.training.recipe").Recipe(
        policy=policy.PolicyConfig(**{"width": 8, **config})
    )
    torch.manual_seed(1)
    provenance = import_module("gnarl_runtime.provenance").provenance()
    meta = checkpoint.make_meta(problem, recipe, 0, 0, {"success": 0.5}, provenance)
    weights = policy.Policy(problem, recipe.policy)
    checkpoint.save_checkpoint(Path(f"checkpoints/{name}.safetensors"), weights, meta)


def make_runs(name: str, spec: str, recipe: str) -> None:
    """One to the end, one with Ctrl-C on the way; the second must be able to catch up."""
    whole, half = Path("run_folders", name), Path("run_folders", f"{name}_half")
    assert train(spec, recipe, whole) == 0
    loop = import_module("gnarl_runtime.training.loop").Loop
    after_update = loop._after_update

    def stop(self: Any, *arguments: Any) -> None:
        after_update(self, *arguments)
        if self.trainer.done == STOPPED_AFTER:
            os.kill(os.getpid(), signal.SIGINT)

    loop._after_update = stop
    assert train(spec, recipe, half) == 130
    loop._after_update = after_update
    for run in (whole, half):
        shutil.rmtree(run / "events")  # pictures and logs, which nothing reads
        (run / "curves.png").unlink(missing_ok=True)
    verify_catches_up(whole, half)


def verify_catches_up(whole: Path, half: Path) -> None:
    copy = half.with_name("copy")
    shutil.copytree(half, copy)
    assert answers.resumed(str(copy))["exit"] == 0
    wanted, found = (load_file(run / "last.safetensors") for run in (whole, copy))
    assert wanted.keys() == found.keys()
    assert all(np.array_equal(wanted[k], found[k]) for k in wanted)
    shutil.rmtree(copy)


def train(spec: str, recipe: str, out: Path) -> int:
    sets = [part for entry in SETTINGS for part in ("--set", entry)]
    given = ("--spec", spec_path(spec), "--recipe", f"specs/recipes/{recipe}.toml", "--seed", "1")
    return answers.run("gnarl-train", *given, "--out", str(out), *sets)[0]


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())

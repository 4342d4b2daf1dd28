"""Files of any version in, answers of the version that is imported out, as plain JSON values.

`make_0_1.py` asked the old code and kept what it said; the tests ask the code as it is now. So
nothing here may depend on a version: only the front door, the commands, and a few names that are
looked for in each home they have had.

As a program: a JSON list of questions on standard input, the list of answers on standard output.
The tests run it so with GNARL_JIT=off, which must be set before the first import.
"""

from __future__ import annotations

import io
import json
import sys
import tomllib
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import gnarl_dsl as gnarl

Params = Mapping[str, str]

# Where a name is now, then where it was; a version has it in one of them.
HOMES = {
    "Interpreter": ("gnarl_compiler.interpret.episode", "gnarl_compiler.interpret"),
    "load_checkpoint": (
        "gnarl_runtime.checkpoints.checkpoint",
        "gnarl_runtime.training.checkpoint",
    ),
    "load_recipe": (
        "gnarl_runtime.checkpoints.recipe_files",
        "gnarl_runtime.training.recipe_files",
    ),
    "pack": ("gnarl_runtime.batch.pack", "gnarl_runtime.pack"),
    "read_graphs": ("gnarl_runtime.readers.read", "gnarl_runtime.imports"),
}
SECONDS = ("seconds_per_graph", "seconds")  # figures that no version repeats


def named(name: str) -> Any:
    """Something of ours, wherever this version keeps it."""
    for home in HOMES[name]:
        try:
            return getattr(import_module(home), name)
        except (ModuleNotFoundError, AttributeError):
            continue
    raise LookupError(f"add the new home of {name} to HOMES")


@cache
def command(name: str) -> Any:
    """The function behind a command, as this version's pyproject.toml names it."""
    project = Path(str(gnarl.__file__)).parents[1] / "pyproject.toml"
    module, _, function = tomllib.loads(project.read_text())["project"]["scripts"][name].partition(
        ":"
    )
    return getattr(import_module(module), function)


def run(name: str, *args: str) -> tuple[int, str, str]:
    """A command's exit code, and what it writes to standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = command(name)(list(args))
    return code, out.getvalue(), err.getvalue()


def flags(params: Params) -> list[str]:
    return [part for name, value in params.items() for part in ("-p", f"{name}={value}")]


# Specs


@cache
def checked(spec: str, params: tuple[tuple[str, str], ...]) -> Any:
    """A problem; recorded questions ask several things about each."""
    return gnarl.load(spec, **dict(params))


@cache
def environment(
    spec: str, params: tuple[tuple[str, str], ...], file: str, reward: str | None
) -> Any:
    return gnarl.make(checked(spec, params), instances=file, reward=reward, expert=True)


def problem(spec: str, params: Params) -> dict[str, Any]:
    """What a spec is, apart from what happens in its episodes."""
    code, out, _ = run("gnarl-compile", spec, *flags(params), "--format", "json")
    (record,) = json.loads(out)["files"]
    errors = [entry for entry in record["diagnostics"] if entry["severity"] == "error"]
    found = checked(spec, tuple(params.items()))
    return {
        "exit": code,
        "errors": errors,
        "name": found.name,
        "hash": found.hash,
        "deployable": found.deployable,
        "params": {param.name: str(param.value) for param in found.params},
        "features": [f"{f.name}: {f.stage} {f.place} {f.type}" for f in found.features],
        "phases": [entry.name for entry in found.phases],
        "experts": [entry.name for entry in found.experts],
        "rewards": [entry.name for entry in found.rewards],
        "objectives": [entry.name for entry in found.objectives],
        "metrics": [entry.name for entry in found.metrics],
        "instances": [entry.name for entry in found.instances],
    }


def trace(spec: str, params: Params, nodes: int, seed: int) -> dict[str, Any]:
    """An episode of the first expert on a graph drawn from a seed: `gnarl-trace`."""
    size = ("--nodes", str(nodes), "--seed", str(seed))
    code, out, _ = run("gnarl-trace", spec, *flags(params), *size, "--format", "json")
    told = json.loads(out)
    kept = ("phase", "legal", "pick", "changed", "reward")
    steps = [[step[name] for name in kept] for step in told["steps"]]
    return {"exit": code, "edges": told["edges"], "steps": steps, "ending": told["ending"]}


def interpreted(spec: str, params: Params, file: str, number: int) -> dict[str, Any]:
    """The first expert's episode on an instance of a file, in the interpreter.

    Of picks that the expert likes equally the first is taken; it stops if it likes none.
    """
    found = checked(spec, tuple(params.items()))
    instance = list(named("read_graphs")(file, found))[number]
    rewards: dict[str, list[float]] = {}
    for name in payments(found):  # a state remembers what its own game has paid
        game = named("Interpreter")(found, name or None)
        state = game.reset(instance)
        masks, picks, rewards[name] = [], [], []
        while state.ended is None and (chances := game.expert(state)).any():
            masks.append(bits(game.mask(state)))
            picks.append(int(np.argmax(chances)))
            moved = game.step(state, picks[-1])
            state = moved.state
            rewards[name].append(float(moved.reward))
    return {
        "masks": masks,
        "picks": picks,
        "rewards": rewards,
        "ended": state.ended,
        "valid": None if found.valid is None else bool(game.valid(state)),
        "correct": None if found.correct is None else bool(game.correct(state)),
        "objectives": {o.name: float(game.objective(state, o.name)) for o in found.objectives},
        "metrics": {m.name: float(game.metric(state, m.name)) for m in found.metrics},
    }


def compiled(spec: str, params: Params, file: str, number: int) -> dict[str, Any]:
    """The same episode in the compiled kernels, through `gnarl.make`."""
    given = tuple(params.items())
    first, *others = [
        through_kernels(environment(spec, given, file, name or None), number, name)
        for name in payments(checked(spec, given))
    ]
    for other in others:
        first["rewards"] |= other["rewards"]
    return first


def through_kernels(env: Any, number: int, reward: str) -> dict[str, Any]:
    seen, info = env.reset(seed=0, options={"instance": number})
    start, masks, picks, rewards, ended = seen, [], [], [], None
    while ended is None and (chances := env.expert()).any():
        masks.append(bits(info["action_mask"][: int(seen["n"].item())]))
        picks.append(int(np.argmax(chances)))
        seen, paid, terminated, truncated, info = env.step(picks[-1])
        rewards.append(float(paid))
        ended = "terminated" if terminated else "truncated" if truncated else None
    return {
        "masks": masks,
        "picks": picks,
        "rewards": {reward: rewards},
        "ended": ended,
        "start": {name: np.asarray(values).tolist() for name, values in start.items()},
        "end": {name: np.asarray(values).tolist() for name, values in seen.items()},
    }


def payments(found: Any) -> list[str]:
    """What a step may pay, by name; "" if the spec names nothing."""
    return [entry.name for entry in (*found.objectives, *found.rewards)] or [""]


def bits(mask: Any) -> str:
    return "".join("1" if legal else "0" for legal in mask)


def mistakes(spec: str) -> list[dict[str, str]]:
    """Why a spec is refused; empty if it is not."""
    _, out, _ = run("gnarl-compile", spec, "--format", "json")
    (record,) = json.loads(out)["files"]
    return [entry for entry in record["diagnostics"] if entry["severity"] == "error"]


# Other files


def instances(file: str, spec: str, params: Params) -> list[dict[str, Any]]:
    """The arrays of an instance file."""
    found = checked(spec, tuple(params.items()))
    return [
        {
            "directed": bool(instance.graph.directed),
            "nodes": int(instance.graph.n),
            "edges": instance.graph.edges().tolist(),
            "tags": [str(int(tag)) for tag in instance.tags],
            "inputs": {name: np.asarray(v).tolist() for name, v in instance.inputs.items()},
            "oracles": {name: np.asarray(v).tolist() for name, v in instance.oracles.items()},
        }
        for instance in named("read_graphs")(file, found)
    ]


def recipe(file: str) -> dict[str, Any]:
    """A recipe with everything that it leaves open filled in."""
    found: dict[str, Any] = named("load_recipe")(file).model_dump(mode="json")
    return found


def witness(file: str) -> dict[str, Any]:
    """What `gnarl-check --replay` says."""
    code, out, _ = run("gnarl-check", "--replay", file, "--format", "json")
    return {"exit": code, **json.loads(out)}


# Policies


def scores(file: str, data: str) -> dict[str, Any]:
    """What a checkpoint's policy thinks of states of two instances: the first, and some later."""
    loaded = named("load_checkpoint")(file)
    told: dict[str, Any] = {"hash": loaded.problem.hash, "states": []}
    env = gnarl.make(loaded.problem, instances=data)
    for number in (0, 1):
        _, info = env.reset(seed=0, options={"instance": number})
        told["states"].append(opinion(loaded.policy, env))
        for _ in range(3):
            legal = np.flatnonzero(info["action_mask"])
            *_, info = env.step(int(legal[-1])) if len(legal) else (info,)
        told["states"].append(opinion(loaded.policy, env))
    return told


def opinion(policy: Any, env: Any) -> dict[str, Any]:
    """Scores of nodes and the value, with a digit more than is compared; None is illegal."""
    import torch

    with torch.inference_mode():
        output = policy(named("pack")(env.engine.batch, np.array([0])))
    known = [float(score) for score in output.logits]
    return {
        "scores": [None if np.isinf(score) else round(score, 6) for score in known],
        "value": round(float(output.values[0]), 6),
    }


def evaluation(target: str, args: list[str]) -> dict[str, Any]:
    """The figures of `gnarl-eval --json`, without times and machines."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "figures.json"
        code, out, err = run("gnarl-eval", target, *args, "--json", str(file))
        assert code == 0, out + err
        told = json.loads(file.read_text())
    rows = {"policy": told["results"], **told["baselines"]}
    return {
        "spec_hash": told["spec_hash"],
        "evaluation": told["evaluation"],
        "players": {name: [timeless(row) for row in of] for name, of in rows.items()},
    }


def timeless(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in SECONDS}


def solutions(target: str, data: str) -> Any:
    """What `gnarl-solve` finds."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "solutions.json"
        code, _, _ = run("gnarl-solve", target, "--data", data, "--out", str(file))
        told = json.loads(file.read_text())["solutions"]
    return {"exit": code, "solutions": [timeless(entry) for entry in told]}


def resumed(folder: str) -> dict[str, Any]:
    """Go on with a run to its end; the weights are in its folder then."""
    code, out, err = run("gnarl-train", "--resume", folder)
    told = out.strip().splitlines() + err.strip().splitlines()
    return {"exit": code, "weights": (Path(folder) / "last.safetensors").is_file(), "told": told}


QUESTIONS = {
    function.__name__: function for function in (compiled, scores, evaluation, solutions, resumed)
}


def main() -> None:
    asked = json.load(sys.stdin)
    with np.errstate(all="ignore"):  # uncompiled arithmetic warns of infinities
        told = [QUESTIONS[name](**arguments) for name, arguments in asked]
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main()

"""A random spec in, the same with functions that somebody brings out, and code for them."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import gnarl_dsl as gnarl
from gnarl_dsl.language.signatures import WHOLE
from gnarl_dsl.model import Brought, Problem
from gnarl_dsl.model.kinds import NODE

_CALLED = 3  # externs in a spec


def with_externs(text: str, seed: int) -> str:
    """A few externs on features of the spec, called in metrics, objectives, derived features."""
    rng, problem = random.Random(seed), gnarl.loads(text)
    whole = [f for f in problem.features if (f.place, f.type) in WHOLE and not f.type.apart]
    lines: list[str] = []
    for number in range(_CALLED):
        own = rng.sample(whole, min(len(whole), rng.randrange(3)))
        unseen = any(not feature.observed for feature in own)
        name, at_node = f"xf{number}", bool(rng.randrange(2))
        params = [f"p{k} : {f.place} {f.type}" for k, f in enumerate(own)]
        params = [*params, "at : node", "k : scalar"] if at_node else params
        truth = rng.randrange(3) == 0
        lines.append(f"extern {name}({', '.join(params)}) : graph {'mask' if truth else 'scalar'}")
        call = f"{name}({', '.join([f.name for f in own] + ['xq', '0.5'] * at_node)})"
        call = f"(if {call} then 1 else 0)" if truth else call
        value = f"sum(xq in nodes: {call})" if at_node else call
        lines.append(f"metric xm{number} = {value}")
        if not unseen:
            lines.append(f"objective xo{number} = {value}")
            derived = call if at_node else f"{call} + n"
            lines.append(f"features\n  xd{number}  derived  node(xq)  scalar  = {derived}")
    lines.append("expert xgreedy = greedy xo0" if "objective xo0" in "\n".join(lines) else "")
    return text + "\n".join(lines) + "\n"


def code_for(problem: Problem, twins: bool = False) -> list[Brought]:
    """A function for every extern: numbers that depend on all they are given."""
    return [_function(problem, extern.name, twins) for extern in problem.externs]


def _function(problem: Problem, name: str, twin: bool) -> Brought:
    declared = problem.extern(name)
    assert declared is not None
    truth = declared.type.name == "mask"
    names = [param.name for param in declared.params]

    def function(graph: Any, **given: Any) -> Any:
        assert list(given) == names
        total = graph.m + 0.25 * graph.n + 0.125 * len(graph.neighbours(0))
        for number, value in enumerate(given.values()):
            ranks = np.arange(1, np.size(value) + 1) % 5
            total += (
                (number + 1) * float(np.rint(np.clip(np.ravel(value), -1e4, 1e4) * 8) @ ranks) / 16
            )
        return bool(round(total * 16) % 3) if truth else float(np.clip(total, -1e6, 1e6))

    function.__name__ = name
    given = ", ".join(["graph", *names])
    scope: dict[str, Any] = {"function": function}
    text = (
        f"def {name}({given}):\n    return function(graph, {', '.join(f'{n}={n}' for n in names)})"
    )
    exec(text, scope)
    if not twin:
        return gnarl.extern(scope[name])  # type: ignore[no-any-return]
    exec(
        _TWIN.format(name=name, names=", ".join(["b", *names]), **_twin_parts(problem, name)), scope
    )
    return gnarl.extern(  # type: ignore[no-any-return]
        twin=scope[f"{name}_twin"], arrays=("n", "m", "rowptr", "src", "adjacency")
    )(scope[name])


_TWIN = """
import numpy as np
def {name}_twin({names}, n, m, rowptr, src, adjacency):
    first = 0
    for v in range(n[b]):
        first += (adjacency[b, 0, v // 64] >> np.uint64(v % 64)) & np.uint64(1)
    total = m[b] + 0.25 * n[b] + 0.125 * first
{body}
    {answer}
"""


def _twin_parts(problem: Problem, name: str) -> dict[str, str]:
    declared = problem.extern(name)
    assert declared is not None
    lines = []
    for number, param in enumerate(declared.params):
        part = f"part{number}"
        if param.place is None:
            lines += [f"{part} = np.rint(max(-1e4, min(1e4, float({param.name}))) * 8)"]
        else:
            cells = (
                f"{param.name}[i]" if param.place is NODE else f"{param.name}[i // n[b], i % n[b]]"
            )
            size = "n[b]" if param.place is NODE else "n[b] * n[b]"
            lines += [f"{part} = 0.0", f"for i in range({size}):"]
            cell = f"max(-1e4, min(1e4, float({cells})))"
            lines += [f"    {part} += np.rint({cell} * 8) * ((i + 1) % 5)"]
        lines += [f"total += {number + 1} * {part} / 16"]
    truth = declared.type.name == "mask"
    answer = "round(total * 16) % 3 != 0" if truth else "max(-1e6, min(1e6, total))"
    return {
        "body": "\n".join(f"    {line}" for line in lines),
        "answer": f"return {answer}",
    }

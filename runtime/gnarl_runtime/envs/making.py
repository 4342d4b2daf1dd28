"""A spec in, environments out: what `gnarl.make`, `gnarl.make_vec` and `gymnasium.make` call."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.externs import Given
from gnarl_dsl.loading import Spec, problem_of
from gnarl_dsl.model import Problem
from gnarl_dsl.report.failures import UsageError
from gnarl_runtime.envs.engine import Compiled, Engine, compile_for
from gnarl_runtime.envs.graph_env import GraphEnv
from gnarl_runtime.envs.vector_env import GraphVectorEnv
from gnarl_runtime.instances.pools import Pool, draw_pool, pool_of, verify_room

Nodes = int | tuple[int, int]
Instances = str | Path | Sequence[Instance]
Illegal = Literal["raise", "end"]


def make(
    spec: Spec,
    nodes: Nodes | None = None,
    seed: int = 0,
    *,
    illegal: Illegal = "raise",
    render_mode: str | None = None,
    copy: bool = True,
    pool: int = 256,
    **options: Any,
) -> GraphEnv:
    """A Gymnasium environment for one graph at a time; options as for `make_engine`."""
    engine = make_engine(spec, slots=1, nodes=nodes, seed=seed, pool=pool, **options)
    return GraphEnv(engine, illegal, render_mode, copy)


def make_vec(
    spec: Spec,
    num_envs: int = 1024,
    nodes: Nodes | None = None,
    seed: int = 0,
    *,
    illegal: Illegal = "raise",
    copy: bool = True,
    pool: int = 1024,
    **options: Any,
) -> GraphVectorEnv:
    """A native vector environment of `num_envs` graphs; options as for `make_engine`."""
    engine = make_engine(spec, slots=num_envs, nodes=nodes, seed=seed, pool=pool, **options)
    return GraphVectorEnv(engine, illegal, copy)


def make_engine(
    spec: Spec,
    *,
    slots: int,
    nodes: Nodes | None = None,
    seed: int = 0,
    instances: Instances | None = None,
    split: str = "train",
    pool: int = 1024,
    reward: str | None = None,
    expert: str | bool = False,
    extern: Sequence[Given] = (),
    **params: str | float,
) -> Engine:
    """The engine behind the environments.

    nodes      size of the graphs, or (smallest, largest); None takes the spec's own sizes
    instances  the name of an instance set of the spec, a file, or a list of instances
    split      which split of the set to draw from
    pool       how many different instances to draw
    reward     which reward or objective to pay; None takes the spec's first
    expert     an expert to offer by `expert()`: its name, or True for the first
    extern     code for what the spec declares as `extern`: files, modules, functions
    params     values for the params of the spec
    """
    if slots < 1:
        raise UsageError(f"num_envs must be 1 or more, found {slots}")
    if not isinstance(nodes, int | tuple | None):
        raise UsageError(f"nodes={nodes!r}: expected a number, or (smallest, largest)")
    verify_room(slots, 1 if nodes is None else max(nodes) if isinstance(nodes, tuple) else nodes)
    problem = problem_of(spec, params, extern)
    _verify_expert(problem, _experts(problem, expert))
    compiled = compile_for(problem, reward, _experts(problem, expert))
    return Engine(compiled, _pool(compiled, instances, nodes, seed, split, pool), slots, seed)


def _experts(problem: Problem, expert: str | bool) -> tuple[str, ...]:
    if isinstance(expert, str):
        return (expert,)
    return (problem.experts[0].name,) if expert and problem.experts else ()


def _verify_expert(problem: Problem, names: tuple[str, ...]) -> None:
    """A UsageError for an expert that is made for each instance, which nobody does here."""
    own = [expert.name for expert in problem.own_experts]
    for expert in problem.experts:
        if expert.name in names and expert.name not in own:
            raise UsageError(
                f"expert={expert.name!r} is made for each instance by playing or searching, which "
                f"an environment does not do; expected one of: {', '.join(own) or 'none'}"
            )


def _pool(
    compiled: Compiled,
    instances: Instances | None,
    nodes: Nodes | None,
    seed: int,
    split: str,
    count: int,
) -> Pool:
    problem, oracles = compiled.problem, compiled.oracles
    named = {entry.name for entry in problem.instances}
    if instances is None or (isinstance(instances, str) and instances in named):
        return draw_pool(
            problem,
            count=count,
            nodes=nodes,
            seed=seed,
            split=split,
            instances=instances,
            oracles=oracles,
        )
    if isinstance(instances, str | Path):
        from gnarl_runtime.readers.read import read_graphs

        if not Path(instances).is_file():
            known = ", ".join(sorted(named)) or "none"
            raise UsageError(
                f"instances={str(instances)!r}: there is no such file, and no such instance set; "
                f"{problem.name} has: {known}"
            )
        return pool_of(problem, read_graphs(Path(instances), problem), oracles)
    return pool_of(problem, list(instances), oracles)

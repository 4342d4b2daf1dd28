"""Nothing in, findings out: a small spec on its whole way, from its text to a policy's scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gnarl_runtime.doctor.looks import Finding, State, Stopwatch

if TYPE_CHECKING:
    from gnarl_dsl.model import Problem
    from gnarl_runtime.envs.engine import Compiled, Engine

SPEC = """\
gnarl 1
problem doctor
  "Marks every node once."

graph undirected

features
  w       input  node  scalar  ~ uniform(0, 1)
  marked  state  node  mask    = false

phase mark(v)
  allow not marked[v]
  update
    marked[v] := true

horizon n rounds
objective size = count(x in nodes where marked[x])

expert heavy
  mark: uniform v maximising w[v]

instances er
  train 4  er(n = 5, p = 0.5)
  valid 4  er(n = 5, p = 0.5)
  test  4  er(n = 5, p = 0.5)
"""
SLOTS, NODES = 2, 5


def self_test() -> Iterator[Finding]:
    """Each step needs the one before it; the first that fails is the last that is tried."""
    watch = Stopwatch()
    problem = _check()
    yield _fine("checks a spec", watch)
    compiled = _compile(problem)
    yield _fine("compiles it", watch)
    engine = _play(compiled)
    yield _fine("plays an episode", watch)
    _score(problem, engine)
    yield _fine("scores nodes by a policy", watch)


def _fine(what: str, watch: Stopwatch) -> Finding:
    return Finding("self-test", f"{what}: {watch.lap():.1f} s", State.OK)


def _check() -> Problem:
    import gnarl_dsl as gnarl

    return gnarl.loads(SPEC)


def _compile(problem: Problem) -> Compiled:
    from gnarl_runtime.envs.engine import compile_for

    return compile_for(problem)


def _play(compiled: Compiled) -> Engine:
    """A whole episode in every slot, which pays one point per node; then a new one."""
    from gnarl_runtime.envs.engine import Engine
    from gnarl_runtime.instances.pools import draw_pool

    pool = draw_pool(compiled.problem, count=4, nodes=NODES, seed=0, oracles=compiled.oracles)
    engine = Engine(compiled, pool, SLOTS)
    engine.reset()
    paid = 0.0
    for _ in range(NODES):
        engine.step(engine.batch.legal.argmax(axis=1))
        paid += float(engine.rewards.sum())
    expect(paid == SLOTS * NODES, f"the rewards of {SLOTS} episodes", SLOTS * NODES, paid)
    expect(len(engine.finished()) == SLOTS, "finished episodes", SLOTS, len(engine.finished()))
    engine.reset()
    return engine


def _score(problem: Problem, engine: Engine) -> None:
    import torch

    from gnarl_runtime.batch.pack import pack
    from gnarl_runtime.network.policy import Policy, PolicyConfig

    policy = Policy(problem, PolicyConfig(width=32))
    with torch.inference_mode():
        output = policy(pack(engine.batch, range(SLOTS)))
    finite = bool(torch.isfinite(output.logits).all())
    expect(finite and len(output.logits) == SLOTS * NODES, "scores", "finite", output.logits)


def expect(holds: bool, what: str, wanted: object, found: object) -> None:
    """Raise unless the self-test came out as it must."""
    if not holds:
        raise RuntimeError(f"{what}: expected {wanted}, found {found}")

"""A batch in, Gymnasium observations out: the spec's features by name, padded to one size.

Keys besides the features are words that no feature can be called:

    n      (1,)    nodes in use               edges  (E, 2)  both ends of each edge, -1 unused
    phase  (1,)    which phase picks now      last   (P,)    latest pick per phase, -1 unset

Where phases may be skipped, `when` (P,) tells which of them have had their pick in this round.

Node features are (N,), points (N, 2), pair features (N, N), edge features (E,) in the order of
`edges`; graph features and the node of a mask_one are (1,), -1 where no node is marked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from gnarl_dsl.model import Feature
from gnarl_runtime.batch.layout import BatchLayout
from gnarl_runtime.envs.engine import Engine

Observation = dict[str, NDArray[Any]]


def observation_space(layout: BatchLayout) -> spaces.Dict:
    """The space of one graph's observation."""
    nodes, edges, phases = layout.nodes, layout.edges, len(layout.problem.phases)
    own = {f.name: _space(f, layout) for f in layout.stored() if f.observed}
    return spaces.Dict(
        {
            "n": spaces.Box(0, nodes, (1,), np.int32),
            "phase": spaces.Box(0, max(1, phases - 1), (1,), np.int32),
            "last": spaces.Box(-1, nodes - 1, (phases,), np.int32),
            "edges": spaces.Box(-1, nodes - 1, (edges, 2), np.int32),
            **({"when": spaces.MultiBinary(phases)} if layout.problem.may_skip else {}),
            **own,
        }
    )


def _space(feature: Feature, layout: BatchLayout) -> spaces.Space[Any]:
    shape = feature.room(layout.nodes, layout.edges) or (1,)
    if feature.is_truth:
        return spaces.MultiBinary(shape)
    if feature.type.apart:
        return spaces.Box(-np.inf, np.inf, (*shape, 2), np.float32)
    most, kind = feature.limit(layout.nodes), np.dtype(feature.stored).type
    if most is None:
        return spaces.Box(-np.inf, np.inf, shape, kind)
    return spaces.Box(-1 if feature.unset else 0, most - 1, shape, kind)


def live_views(engine: Engine) -> Observation:
    """Arrays (slots, …) that show the engine's state as it changes."""
    batch = engine.batch
    views: Observation = {
        "n": batch.n[:, None],
        "phase": batch.phase[:, None],
        "last": batch.last,
        "edges": engine.ends,
    }
    if batch.layout.problem.may_skip:
        views["when"] = batch.picked.view(np.int8)
    for feature in batch.layout.stored():
        if feature.observed:
            values = batch.features[feature.name]
            values = values[:, None] if values.ndim == 1 else values
            if feature.type.apart:
                values = values.view(np.float32).reshape(*values.shape, 2)
            views[feature.name] = values.view(np.int8) if feature.is_truth else values
    return views


def copies_of(rows: Observation) -> Callable[[], Observation]:
    """A call that copies every row into a new observation.

    Its text has the names in it, as quoted strings only, whatever they are: looking them up at each
    call takes as long as what is copied.
    """
    parts = ", ".join(f"{str(name)!r}: copy_{place}()" for place, name in enumerate(rows))
    known = {f"copy_{place}": row.copy for place, row in enumerate(rows.values())}
    made: Callable[[], Observation] = eval(f"lambda: {{{parts}}}", known)
    return made


def steady_names(engine: Engine) -> tuple[str, ...]:
    """The parts of an observation that nothing but a reset changes."""
    layout, problem = engine.batch.layout, engine.problem
    inputs = [f.name for f in layout.stored() if f.observed and f.stage.steady]
    edges = () if problem.graph.mutable else ("edges",)
    phase = () if len(problem.phases) > 1 else ("phase",)
    return ("n", *edges, *phase, *inputs)

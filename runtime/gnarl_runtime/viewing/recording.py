"""An instance and a Chooser go in, the Recording of an episode in the interpreter comes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_compiler.graphs.streams import stream
from gnarl_compiler.interpret.episode import Interpreter
from gnarl_compiler.interpret.state import Change, Ending, State
from gnarl_compiler.interpret.trace import Step, Trace
from gnarl_dsl.model import Feature, Problem
from gnarl_dsl.model.kinds import EDGE
from gnarl_runtime.readers.raw import Imported
from gnarl_runtime.viewing.choosers import Chances, Chooser

Progress = Callable[[str, int, int], None]

MOST_STEPS = 5_000  # that anybody will look at; a page holds every one of them


@dataclass(frozen=True, eq=False)
class Decision:
    """The pick that was made in a state, and what it did."""

    pick: int
    chances: Chances  # (nodes,) of the one who picks
    changes: tuple[Change, ...]
    reward: float
    why_not: tuple[tuple[int, str], ...]  # illegal nodes, each with a reason


@dataclass(frozen=True, eq=False)
class Moment:
    """A state of the episode, and the decision in it; the last state has none."""

    round: int  # from 1; in the last state the number of rounds
    phase: int
    picks: tuple[int, ...]  # of this round, before this one
    features: Mapping[str, Array]  # all but oracles, as the interpreter has them
    adjacency: NDArray[np.bool_]  # (nodes, nodes)
    legal: NDArray[np.bool_]  # (nodes,)
    advice: Chances | None  # (nodes,) of the expert; None: nobody was asked
    total: float  # reward before the pick
    objectives: tuple[float, ...]  # as at the start of the round
    decision: Decision | None


def pointers_from(feature: Feature, moment: Moment) -> list[int]:
    """Of pointers that pairs or edges have, those from one node: the first of the round's picks.

    A picture has no room for all of them. Before there is a pick, and where there is no edge, a
    node points to itself.
    """
    values = moment.features[feature.name]
    nodes = np.arange(len(values))
    picks = (*moment.picks, moment.decision.pick) if moment.decision else moment.picks
    if not picks:
        return [int(node) for node in nodes]
    joined = moment.adjacency[picks[0]] if feature.place is EDGE else True
    return [int(node) for node in np.where(joined, values[picks[0]], nodes)]


@dataclass(frozen=True, eq=False)
class Recording:
    """An episode from its first state to its last."""

    problem: Problem
    instance: Instance
    player: str
    adviser: str | None  # the name of the expert that was asked
    reward: str | None  # the name of what is paid
    moments: tuple[Moment, ...]  # (picks + 1,)
    ended: Ending | None  # None: it was left
    stopped: str  # why it was left
    horizon: float  # in rounds
    valid: bool | None  # None: the spec does not say what is
    correct: bool | None

    @property
    def steps(self) -> int:
        return len(self.moments) - 1


@dataclass
class _Witness:
    """Stands between an episode and those who know about it, and writes down what they say."""

    game: Interpreter
    player: Chooser
    adviser: Chooser | None
    moments: list[Moment] = field(default_factory=list)
    chances: Chances = field(default_factory=lambda: np.zeros(0))

    def asked(self, state: State) -> Chances:
        """The policy of the Trace: look around, then ask the player."""
        self.chances = self.player.chances(state)
        self.look(state, self.advice(state))
        return self.player.odds(self.chances)

    def advice(self, state: State) -> Chances | None:
        if self.adviser is None or self.adviser is self.player:
            return None if self.adviser is None else self.chances
        return self.adviser.chances(state)

    def look(self, state: State, advice: Chances | None) -> None:
        self.moments.append(moment_of(self.game, state, self.latest, advice))

    @property
    def latest(self) -> Moment | None:
        return self.moments[-1] if self.moments else None

    def decided(self, step: Step) -> None:
        chances = self.chances[: len(self.moments[-1].legal)]  # of nodes
        decision = Decision(step.pick, chances, step.changes, step.reward, step.why)
        self.moments[-1] = replace(self.moments[-1], decision=decision)


def moment_of(
    game: Interpreter, state: State, before: Moment | None, advice: Chances | None
) -> Moment:
    """All that can be seen of a state; `before` is the moment that a pick led here from."""
    mutable = game.problem.graph.mutable
    paid = before.decision.reward if before and before.decision else 0.0
    return Moment(
        round=state.rounds + (state.ended is None),
        phase=state.phase,
        picks=state.picks,
        features={**game.observation(state), **state.features},
        adjacency=state.adjacency if mutable else state.episode.instance.graph.adjacency,
        legal=game.mask(state),
        advice=None if advice is None else advice[: state.n],
        total=paid + (before.total if before else 0.0),
        objectives=_objectives(game, state, before),
        decision=None,
    )


def _objectives(game: Interpreter, state: State, before: Moment | None) -> tuple[float, ...]:
    """What has been reached; inside a round it stands as at the round's start."""
    if before is not None and not state.opening:
        return before.objectives
    return tuple(game.objective(state, entry.name) for entry in game.problem.objectives)


def record(
    game: Interpreter,
    instance: Instance,
    player: Chooser,
    adviser: Chooser | None,
    seed: int,
    progress: Progress | None = None,
) -> Recording:
    """Play to the end, with an expert looking on if there is one; seed decides what is drawn."""
    witness = _Witness(game, player, adviser)
    start, draws = game.reset(instance), stream(seed, "picks")
    trace = Trace(game, start, witness.asked, draws, labels=labels_of(instance))
    most = expected_steps(trace.state)
    for step in trace.steps(explain=True):
        witness.decided(step)
        if progress is not None:
            progress("playing", min(step.number, most), most)
        if step.number == MOST_STEPS:
            trace.stopped = f"left after {MOST_STEPS:,} steps"
            break
    if trace.chosen:  # where it was ended it stands, and that is its end
        witness.moments.pop()
        trace.stopped = "by choice"
    if not witness.moments or witness.moments[-1].decision is not None:
        witness.look(trace.state, None)
    return _recording(witness, trace)


def labels_of(instance: Instance) -> tuple[str, ...]:
    """What the nodes are called: as in their file, or by number."""
    own = instance.labels if isinstance(instance, Imported) else range(instance.graph.n)
    return tuple(map(str, own))


def expected_steps(state: State) -> int:
    """At most so many picks; horizons can be far beyond what an episode needs, or infinite."""
    rounds = min(state.episode.horizon, state.episode.limit, float(MOST_STEPS))
    return max(1, min(MOST_STEPS, int(rounds) * len(state.episode.problem.phases)))


def _recording(witness: _Witness, trace: Trace) -> Recording:
    game, state = trace.game, trace.state
    problem = game.problem
    return Recording(
        problem=problem,
        instance=state.episode.instance,
        player=witness.player.label,
        adviser=witness.adviser.expert if witness.adviser else None,
        reward=game.reward.name if game.reward else None,
        moments=tuple(witness.moments),
        ended=state.ended,
        stopped=trace.stopped,
        horizon=state.episode.horizon,
        valid=None if problem.valid is None else game.valid(state),
        correct=None if problem.correct is None else game.correct(state),
    )

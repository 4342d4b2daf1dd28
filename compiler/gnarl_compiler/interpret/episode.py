"""The interpreter: a problem and an instance in, an episode played one pick at a time.

Slow and obvious on purpose: it is the definition of the language, and every fast path
is tested against it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from gnarl_compiler.graphs.instance import Array, Instance
from gnarl_compiler.interpret.evaluate import Bindings, Evaluator
from gnarl_compiler.interpret.execute import Executor
from gnarl_compiler.interpret.planned import Play, best_play, lowest_rank
from gnarl_compiler.interpret.state import (
    STOP,
    Change,
    Ending,
    Episode,
    IllegalPick,
    SpecRunError,
    State,
    unfit,
)
from gnarl_compiler.interpret.windows import messages_of, told_in, window_of
from gnarl_dsl import model
from gnarl_dsl.language.operators import OPERATORS, SNAP, nearly_equal
from gnarl_dsl.model import Problem, choose_reward
from gnarl_dsl.model.kinds import CATEGORICAL


@dataclass(frozen=True)
class Transition:
    """One pick: the state it led to, what it paid, and every write it made."""

    state: State
    reward: float
    changes: tuple[Change, ...]


class Interpreter:
    """Plays episodes of one problem; `reward` names an objective or a reward of the spec."""

    def __init__(self, problem: Problem, reward: str | None = None) -> None:
        self.problem = problem
        self.reward = choose_reward(problem, reward)

    # Episodes

    def reset(self, instance: Instance) -> State:
        """The first state of an episode; it may have ended already."""
        labels, plans = dict(instance.oracles), dict(instance.plans)
        episode = Episode(self.problem, instance, labels, math.inf, math.inf, plans)
        state = self.blank_state(episode)
        read = Evaluator(state)
        bounds = replace(
            episode,
            horizon=read.number(self.problem.horizon, {}),
            limit=read.number(self.problem.limit, {}) if self.problem.limit else math.inf,
        )
        state = replace(state, episode=bounds, features=self.initial_features(state))
        state = replace(state, potential=self.potential(state))
        state = self.opened(state)
        return replace(state, ended=self.ending(state))

    def blank_state(self, episode: Episode) -> State:
        unset = (-1,) * len(self.problem.phases)
        graph = episode.instance.graph
        return State(episode, {}, graph.adjacency.copy(), 0, unset, (), 0, 0.0, None)

    def initial_features(self, state: State) -> dict[str, Array]:
        read = Evaluator(state)
        own = [feature for feature in self.problem.features if feature.stage.written]
        return {feature.name: self.fitting(feature, read.filled(feature)) for feature in own}

    def fitting(self, feature: model.Feature, values: Array) -> Array:
        """The values of an observed feature, unless a policy could not read them."""
        for value in () if feature.type.apart else np.ravel(values):
            what = unfit(feature, float(value))
            if what:
                raise SpecRunError(self.problem, feature.span, f"`{feature.name}` is {what}")
        return values.astype(np.int64) if feature.type is CATEGORICAL else values

    def step(self, state: State, node: int) -> Transition:
        """Apply a legal pick, or end the episode with STOP; IllegalPick if that cannot be."""
        self.require_legal(state, node)
        return self.stopped(state) if node == STOP else self.apply(state, node)

    def apply(self, state: State, node: int) -> Transition:
        phase = self.problem.phases[state.phase]
        work = Executor(state)
        work.run(phase.update, self.bindings(state, node))
        last = (*state.last[: state.phase], node, *state.last[state.phase + 1 :])
        moved = replace(work.state, last=last, made=(*state.made, node))
        following = self.turned(replace(moved, picks=(*state.picks, node)))
        if following is not None:
            return Transition(following, 0.0, tuple(work.changes))
        ended = self.opened(replace(moved, rounds=state.rounds + 1))
        ended = replace(ended, ended=self.ending(ended))
        reward, potential = self.payment(state, ended)
        return Transition(replace(ended, potential=potential), reward, tuple(work.changes))

    def stopped(self, state: State) -> Transition:
        """The same state at its end: no round has passed, so only an end is paid for."""
        ended = replace(state, ended="terminated")
        pays = isinstance(self.reward, model.Reward) and self.reward.kind == "terminal"
        return Transition(ended, self.payment(state, ended)[0] if pays else 0.0, ())

    # Turns

    def opened(self, state: State) -> State:
        """A new round at its first phase; where all are skipped, nobody picks any more."""
        fresh = replace(state, phase=0, picks=())
        return self.turned(fresh) or fresh

    def turned(self, state: State) -> State | None:
        """The round at the next phase whose turn comes; None if it is over."""
        for number in range(len(state.picks), len(self.problem.phases)):
            skipped = (-1,) * (number - len(state.picks))
            there = replace(state, phase=number, picks=(*state.picks, *skipped))
            if self.comes(there):
                return there
        return None

    def comes(self, state: State) -> bool:
        """Whether the phase is not skipped."""
        when = self.problem.phases[state.phase].when
        return when is None or Evaluator(state).truth(when, self.bindings(state))

    def bindings(self, state: State, node: int | None = None) -> Bindings:
        """The picks of this round by the names of their phases' variables."""
        picks = state.picks if node is None else (*state.picks, node)
        names = [phase.variable for phase in self.problem.phases]
        made = (None if pick < 0 else pick for pick in picks)
        return dict(zip(names, made, strict=False))

    # Legality

    def mask(self, state: State) -> NDArray[np.bool_]:
        """Which nodes may be picked now: all false once the episode has ended."""
        if state.ended is not None:
            return np.zeros(state.n, np.bool_)
        return self.legal(state)

    def legal(self, state: State) -> NDArray[np.bool_]:
        allow = self.problem.phases[state.phase].allow
        if allow is None:
            return np.ones(state.n, np.bool_)
        read = Evaluator(state)
        return np.array([read.truth(allow, self.bindings(state, v)) for v in range(state.n)], bool)

    def may_stop(self, state: State) -> bool:
        """Whether the episode may be ended now: at the start of a round, where the spec says so."""
        stop = self.problem.stop
        if stop is None or state.ended is not None or not state.opening:
            return False
        return stop.when is None or Evaluator(state).truth(stop.when, {})

    def choices(self, state: State) -> list[int]:
        """The nodes that may be picked, and STOP if the episode may be ended."""
        return [*np.flatnonzero(self.mask(state)).tolist(), *[STOP] * self.may_stop(state)]

    def require_legal(self, state: State, node: int) -> None:
        phase = self.problem.phases[state.phase]
        if state.ended is not None:
            raise IllegalPick(f"the episode has {state.ended}; no node can be picked")
        if node == STOP and self.may_stop(state):
            return
        if node == STOP:
            raise IllegalPick(f"the episode cannot be ended here{self.stop_rule(state)}")
        if not 0 <= node < state.n:
            raise IllegalPick(f"there is no node {node} in a graph of {state.n} nodes")
        if phase.allow is not None and not self.mask(state)[node]:
            line = self.problem.line_of(phase.allow.span)
            raise IllegalPick(f"node {node} is not allowed in phase {phase.name} (line {line})")

    def stop_rule(self, state: State) -> str:
        """Why it cannot be ended, for a message."""
        stop = self.problem.stop
        if stop is None:
            return ": the spec does not say `may stop`"
        if not state.opening:
            return ": a round has begun"
        return f": `{self.problem.text_of(stop.span)}` (line {self.problem.line_of(stop.span)})"

    def is_dead_end(self, state: State) -> bool:
        """Whether the episode goes on but no node can be picked."""
        return state.ended is None and not self.mask(state).any()

    # Endings

    def ending(self, state: State) -> Ending | None:
        """At the start of a round: has the episode ended, and how?

        Where all phases are skipped, it stands at the first, whose turn does not come.
        """
        episode = state.episode
        if self.problem.terminate and Evaluator(state).truth(self.problem.terminate, {}):
            return "terminated"
        if state.rounds >= episode.horizon - SNAP:
            return "terminated"
        if state.rounds >= episode.limit - SNAP:
            return "truncated"
        return None if self.comes(state) and self.legal(state).any() else "terminated"

    def correct(self, state: State) -> bool:
        clause = self.problem.correct
        return clause is None or Evaluator(state).truth(clause, {})

    def valid(self, state: State) -> bool:
        clause = self.problem.valid
        return clause is None or Evaluator(state).truth(clause, {})

    # Rewards

    def objective(self, state: State, name: str | None = None) -> float:
        return Evaluator(state).number(self.problem.objective(name).value, {})

    def metric(self, state: State, name: str) -> float:
        metric = next(entry for entry in self.problem.metrics if entry.name == name)
        return Evaluator(state).number(metric.value, {})

    def potential(self, state: State) -> float:
        """The value whose gain per round is the reward; 0 for other kinds of reward."""
        if isinstance(self.reward, model.Objective) or (
            self.reward is not None and self.reward.kind == "potential"
        ):
            return Evaluator(state).number(self.reward.value, {})
        return 0.0

    def payment(self, before: State, after: State) -> tuple[float, float]:
        """The reward of a completed round, and the potential to measure the next one from."""
        reward = self.reward
        if reward is None:
            return 0.0, 0.0
        if isinstance(reward, model.Objective) or reward.kind == "potential":
            value = self.potential(after)
            return OPERATORS["-"].evaluate(value, before.potential), value
        if reward.kind == "terminal" and after.ended is None:
            return 0.0, 0.0
        return Evaluator(after).number(reward.value, {}), 0.0

    # Observations

    def observation(self, state: State) -> dict[str, Array]:
        """Every observed feature by name, derived ones computed now."""
        read = Evaluator(state)
        observed = [feature for feature in self.problem.features if feature.observed]
        return {f.name: self.fitting(f, read.stored(f.name)) for f in observed}

    def window(self, state: State) -> NDArray[np.bool_]:
        """Which nodes the network reads."""  # (n,)
        return window_of(self.problem, state, self.mask(state))

    def messages(self, state: State) -> NDArray[np.bool_]:
        """From whom to whom the network sends messages."""  # (n, n) sender, receiver
        return messages_of(self.problem, state, self.window(state))

    def heard(self, state: State) -> NDArray[np.bool_]:
        """Whom each node hears by the lines of `messages` alone."""  # (n, n) receiver, sender
        return told_in(self.problem, state, self.window(state)).T

    # Experts

    def expert(self, state: State, name: str | None = None) -> NDArray[np.float64]:
        """The expert's distribution over nodes; all zero where it has nothing to say."""
        expert = self.problem.expert(name)
        legal = [int(v) for v in np.flatnonzero(self.mask(state))]
        chosen = self.chosen(state, legal, expert)
        distribution = np.zeros(state.n)
        if chosen:
            distribution[chosen] = 1.0 / len(chosen)
        return distribution

    def done(self, state: State, name: str | None = None) -> bool:
        """Whether the expert ends the episode here: it may, and has nothing more to say."""
        if not self.may_stop(state) or self.expert(state, name).any():
            return False
        expert = self.problem.expert(name)
        if not isinstance(expert, model.SearchExpert):
            return True
        # Off the episode that was found it knows nothing.
        return bool(state.made) and state.made == tuple(_episode(state, expert))

    def answers(self, state: State, name: str | None = None) -> list[int]:
        """What the expert may pick, STOP among it."""
        nodes = np.flatnonzero(self.expert(state, name)).tolist()
        return [*nodes, *[STOP] * self.done(state, name)]

    def chosen(self, state: State, legal: list[int], expert: model.Expert) -> list[int]:
        match expert:
            case model.RuleExpert():
                return self.ruled(state, legal, expert)
            case model.GreedyExpert():
                return self.greediest(state, legal, expert.objective)
            case model.BestExpert():
                return self.chosen(state, legal, self.problem.expert(self.member(state, expert)))
            case model.SearchExpert():
                return self.planned(state, legal, expert)
            case _:
                assert_never(expert)

    def planned(self, state: State, legal: list[int], expert: model.SearchExpert) -> list[int]:
        """The next pick of the episode that was found, if the picks so far are its beginning."""
        episode = _episode(state, expert)
        if state.made != tuple(episode[: len(state.made)]):
            return []
        return [node for node in episode[len(state.made) :][:1] if node in legal]

    def member(self, state: State, expert: model.BestExpert) -> str:
        """Whom `best of` follows on this instance: found once, kept with the episode."""
        plans = state.episode.plans
        if expert.name not in plans:
            plays = [self.play(state.episode.instance, name) for name in expert.members]
            plans[expert.name] = np.array(best_play(plays))
        return expert.members[int(plans[expert.name])]

    def play(self, instance: Instance, expert: str) -> Play:
        """What comes of an instance if an expert plays it; ranks decide between its picks."""
        state, steps = self.reset(instance), 0
        while state.ended is None and not self.is_dead_end(state):
            answers = self.expert(state, expert)
            if not answers.any():
                if state.opening:
                    break
                answers = self.mask(state).astype(np.float64)
            nodes = np.flatnonzero(answers)
            state, steps = self.apply(state, lowest_rank(nodes, instance.tags)).state, steps + 1
        value = self.objective(state) if self.problem.objectives else 0.0
        return Play(self.valid(state) and self.correct(state), value, steps)

    def ruled(self, state: State, legal: list[int], expert: model.RuleExpert) -> list[int]:
        """The first alternative of the phase's rule that leaves a node."""
        phase = self.problem.phases[state.phase].name
        rule = next(rule for rule in expert.phases if rule.phase == phase)
        for alternative in rule.alternatives:
            chosen = self.alternative(state, legal, alternative)
            if chosen:
                return chosen
        return []

    def alternative(
        self, state: State, legal: list[int], alternative: model.Alternative
    ) -> list[int]:
        read, where = Evaluator(state), alternative.where
        chosen = [v for v in legal if where is None or read.truth(where, self.bindings(state, v))]
        for key in alternative.keys:
            sign = 1.0 if key.direction == "minimising" else -1.0
            scores = {v: sign * read.number(key.value, self.bindings(state, v)) for v in chosen}
            chosen = best_of(scores)
        return chosen

    def greediest(self, state: State, legal: list[int], objective: str) -> list[int]:
        """The picks from which the best objective at the end of the round can be reached."""
        return best_of({v: -self.reachable(state, v, objective) for v in legal})

    def reachable(self, state: State, node: int, objective: str) -> float:
        after = self.apply(state, node).state
        if after.rounds > state.rounds:
            return self.objective(after, objective)
        options = np.flatnonzero(self.legal(after))
        return max((self.reachable(after, int(v), objective) for v in options), default=-math.inf)


def _episode(state: State, expert: model.SearchExpert) -> list[int]:
    """The picks of the episode that was found for an expert, if there is one."""
    found: list[int] = state.episode.plans.get(expert.name, np.zeros(0, np.int64)).tolist()
    return [node for node in found if node >= 0]


def best_of(scores: dict[int, float]) -> list[int]:
    """The nodes whose score is smallest, within tolerance."""
    best = min(scores.values(), default=0.0)
    return [node for node, score in scores.items() if nearly_equal(score, best)]

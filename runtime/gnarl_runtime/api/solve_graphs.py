"""A policy and graphs of a user's own in, the best solution that it finds for each out."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnarl_compiler.graphs.instance import Instance
from gnarl_dsl.externs import Given, read_code
from gnarl_dsl.loading import Spec, problem_of
from gnarl_dsl.model import Code, Problem
from gnarl_dsl.report.failures import Failure, UsageError
from gnarl_runtime.api.asked import PYTHON, Spelling, Tell, chosen_search, verify_playing
from gnarl_runtime.api.given_graphs import notes_of, own_graphs
from gnarl_runtime.api.policies import (
    Params,
    PolicyLike,
    compiled_or_told,
    load_policy,
    torch_set_up,
)
from gnarl_runtime.api.verdict import read_verdict
from gnarl_runtime.checkpoints.checkpoint import TrainedPolicy
from gnarl_runtime.checkpoints.recipe_reading import read_by_level
from gnarl_runtime.checkpoints.targets import with_params
from gnarl_runtime.evaluation.scales import unusual_scales
from gnarl_runtime.evaluation.solution_text import (
    Names,
    rounds_of,
    solution_document,
    solution_text,
    state_document,
)
from gnarl_runtime.evaluation.solving import Attempts, BestEpisode
from gnarl_runtime.evaluation.solving import solve as play_graphs
from gnarl_runtime.evaluation.summary import plain
from gnarl_runtime.readers.raw import Imported
from gnarl_runtime.search.free_experts import free_experts
from gnarl_runtime.search.players import ReplayError
from gnarl_runtime.search.strategy import OPENING, Strategy
from gnarl_runtime.search.task import Improved


@dataclass(frozen=True, eq=False)
class Solution:
    """What a policy found for one graph; `str()` is the text of `gnarl-solve`.

    Nodes are called as the graph calls them.
    """

    problem: Problem
    title: str
    episode: BestEpisode  # the same in arrays and numbers of nodes
    notes: tuple[str, ...] = ()  # what a user should know before trusting it

    @property
    def objective(self) -> float | None:
        """None if the spec has none."""
        return self.episode.objective if math.isfinite(self.episode.objective) else None

    @property
    def valid(self) -> bool | None:
        """None if the spec does not say what is valid."""
        return self.episode.valid

    @property
    def correct(self) -> bool | None:
        """None if that is unknown without a reference, or the spec has no such clause."""
        return self.episode.correct

    @property
    def wrong(self) -> bool:
        """Whether it is known to be no solution."""
        return self.valid is False or self.correct is False

    @property
    def truncated(self) -> bool:
        """Whether the limit of rounds cut the episode off."""
        return self.episode.truncated

    @property
    def seconds(self) -> float:
        return self.episode.seconds

    @property
    def instance(self) -> Instance:
        return self.episode.instance

    @property
    def picks(self) -> list[tuple[Hashable, ...]]:
        """The nodes that were picked, round by round, one per phase."""
        names = Names(self.episode, exact=True)
        return [tuple(round_) for round_ in rounds_of(self.problem, self.episode, names)]

    @property
    def state(self) -> Mapping[str, Any]:
        """The features that the episode wrote: masks as nodes or pairs, others a value per node."""
        return state_document(self.problem, self.episode, Names(self.episode, exact=True))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        found: dict[str, Any] = plain(solution_document(self.problem, self.episode))
        return found

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False) + "\n"

    def __str__(self) -> str:
        return solution_text(self.problem, self.episode, self.title, "in .state")


def solve(
    policy: PolicyLike | None,
    graphs: Any,
    *,
    search: str | Strategy | None = None,
    samples: int | None = None,
    temperature: float | None = None,
    seed: int = 0,
    rescale: bool = False,
    rounded: bool = False,
    repair: bool = False,
    max_rounds: int | None = None,
    problem: Spec | None = None,
    params: Params | None = None,
    extern: Sequence[Given] = (),
    accept_extern: bool = False,
    threads: int = 1,
    progress: Tell | None = None,
) -> list[Solution]:
    """Run a policy on graphs of one's own and say what it finds, as `gnarl-solve` does.

    policy       as for `evaluate`; None: experts and chance search by themselves, on a `problem`
    graphs       one graph or a list of them: networkx, PyG `Data`, a matrix (n, n), an instance,
                 or the path of a file (docs/instances.md)
    search       how to look at more than one continuation, such as "work:2000" (docs/search.md)
    samples      short for search="sample:K", at a `temperature`
    temperature  draw picks; 0 takes the best, None what the recipe says
    seed         of drawn picks and of inputs that a graph does not give
    rescale      show the network numbers as large as in training
    rounded      round TSPLIB distances, as published optima do
    repair       remove loops, repeated edges, and small parts
    max_rounds   cut episodes off there, at the latest
    problem      another spec than the one that was trained on, or the spec if there is no policy
    params       other values for params of the spec
    extern       code for what the spec declares as `extern`: files, modules, functions
    accept_extern  also another file than the one of the training
    threads      of the network
    progress     is told (what is being done, done, total)
    """
    verify_playing(
        PYTHON, temperature, 1 if samples is None else samples, threads, seed, max_rounds
    )
    strategy = chosen_search(PYTHON, search, samples, temperature, policy is not None)
    with torch_set_up(threads):
        brought = read_code(extern) if extern else None
        subject = solving_subject(policy, problem, params, brought, accept_extern)
        given = own_graphs(subject.problem, graphs, seed=seed, rounded=rounded, repair=repair)
        notes = general_notes(subject, given, rescale, PYTHON)
        strategies = [strategy] * len(given)
        if search is None and samples is None and temperature is None:
            strategies, warned = preferred_searches(subject, given, strategy, PYTHON)
            notes = (*warned, *notes)
        drawn = subject.temperature(temperature)
        attempts = [Attempts(own, drawn, seed, rescale, max_rounds) for own in strategies]
        name = str(graphs) if isinstance(graphs, str | Path) else ""
        return run_solve(subject, given, attempts, name, notes, PYTHON, progress)


@dataclass(frozen=True, eq=False)
class Unaided:
    """A problem without any policy: what solving asks of a trained one."""

    problem: Problem
    policy: None = None

    def temperature(self, given: float | None = None) -> float | None:
        return None

    def provenance(self) -> dict[str, Any]:
        params = {param.name: param.value for param in self.problem.params}
        return {
            "problem": self.problem.name,
            "spec_hash": self.problem.hash,
            "params": params,
            "checkpoint": None,
        }


def solving_subject(
    policy: PolicyLike | None,
    problem: Spec | None,
    params: Params | None,
    extern: Code | None = None,
    accept: bool = False,
) -> TrainedPolicy | Unaided:
    """Who solves what."""
    if policy is not None:
        return load_policy(policy, problem, params, extern, accept)
    if problem is None:
        raise UsageError("without a policy nobody knows what to solve; expected problem=SPEC")
    return Unaided(problem_of(problem, params, extern or ()))


def preferred_searches(
    subject: TrainedPolicy | Unaided,
    graphs: Sequence[Imported],
    strategy: Strategy,
    spell: Spelling,
) -> tuple[list[Strategy], tuple[str, ...]]:
    """What to do with each graph where nobody says how.

    A policy that was behind an expert on graphs of about that size does not play alone.
    """
    path = None if isinstance(subject, Unaided) else subject.path
    verdict = read_verdict(path.parent) if path is not None else None
    if verdict is None:
        return [strategy] * len(graphs), ()
    experts = free_experts(subject.problem)
    ahead = [verdict.behind_at(graph.graph.n) for graph in graphs]
    lost = {graph.graph.n: name for graph, name in zip(graphs, ahead, strict=True) if name}
    if not set(lost.values()) & set(experts):
        return [strategy] * len(graphs), ()
    sizes = ", ".join(f"{n:,}" for n in sorted(lost))
    told = " and ".join(dict.fromkeys(lost.values()))
    note = (
        f"at the end of its training this policy was behind the expert {told} on graphs of about "
        f"that size ({sizes} nodes), so the experts play each of these, too, and the best is kept; "
        f"{spell.value('search', 'picks')} lets the policy play alone"
    )
    return [OPENING if name in experts else strategy for name in ahead], (note,)


def run_solve(
    subject: TrainedPolicy | Unaided,
    graphs: Sequence[Imported],
    attempts: Sequence[Attempts],
    name: str,
    notes: Sequence[str],
    spell: Spelling,
    progress: Tell | None = None,
    improved: Improved | None = None,
) -> list[Solution]:
    """Play, each graph in its own way.

    `name` is what the graphs are called together, `notes` hold for all of them.
    """
    problem = subject.problem
    episodes: dict[int, BestEpisode] = {}
    try:
        with compiled_or_told(problem):
            for own in dict.fromkeys(attempts):
                chosen = [k for k, other in enumerate(attempts) if other == own]
                some = [graphs[k] for k in chosen]
                told = None if improved is None else _numbered(improved, chosen)
                found = play_graphs(subject.policy, problem, some, own, progress, told)
                episodes |= dict(zip(chosen, found, strict=True))
    except ReplayError as error:
        raise Failure(
            f"{spell.name('rescale')}: {error}; what may be picked in {problem.name} depends on "
            "the size of numbers, so it cannot be solved in other units"
        ) from error
    return [
        Solution(
            problem,
            graph_title(name, number, len(graphs)),
            episodes[number],
            _once(*graph.notes, *notes),
        )
        for number, graph in enumerate(graphs)
    ]


def _numbered(improved: Improved, numbers: Sequence[int]) -> Improved:
    """Tells of graphs by their numbers among all."""
    return lambda place, moment: improved(numbers[place], moment)


def graph_title(name: str, number: int, count: int) -> str:
    """What a graph is called."""
    if count == 1:
        return name or "the graph"
    return f"{name}, graph {number}" if name else f"graph {number}"


def notes_about(
    subject: TrainedPolicy | Unaided, graphs: Sequence[Imported], rescale: bool, spell: Spelling
) -> tuple[str, ...]:
    """Everything that a user should know before trusting solutions."""
    return _once(*notes_of(graphs), *general_notes(subject, graphs, rescale, spell))


def _once(*notes: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))


def general_notes(
    subject: TrainedPolicy | Unaided, graphs: Sequence[Imported], rescale: bool, spell: Spelling
) -> tuple[str, ...]:
    """What holds for all graphs: how episodes end, and numbers unlike those of training."""
    problem, flag = subject.problem, spell.name("rescale")
    policy = None if isinstance(subject, Unaided) else subject.policy
    known = [] if policy is None else read_by_level(problem, policy.reading)
    notes = [] if problem.deployable else [reference_note(problem, spell)]
    if rescale and known:
        names = ", ".join(f"`{name}`" for name in known)
        notes.append(f"{flag} is not needed for {names}: the network reads all scales alike")
    # Without a policy nobody has seen any scale.
    scales = [] if rescale or policy is None else unusual_scales(problem, graphs, known)
    return (*notes, *(f"{scale}; {flag} shows the network the usual size" for scale in scales))


def reference_note(problem: Problem, spell: Spelling) -> str:
    """That the end of an episode is decided by a reference solution, and how to do without."""
    text = f"{problem.name} ends its episodes by comparing with a reference, which is solved first"
    for param in problem.params:
        for choice in param.choices:
            if choice != param.value and _is_deployable(problem, param.name, choice):
                return f"{text}; {spell.param(param.name, choice)} does without"
    return text


def _is_deployable(problem: Problem, param: str, choice: str) -> bool:
    try:
        return with_params(problem, {param: choice}).deployable
    except UsageError:
        return False
